/** Stored rows as OTLP, in a thread when they are long. */
import { otlpJson } from '../../../pdata/otlp-json.ts';
import { tracesProtobuf } from '../../../pdata/otlp-protobuf.ts';
import type { StoredText } from '../../../pdata/stored-text.ts';
import type { Conversion } from '../server/row-thread.ts';

export const spansAsJson = (rows: readonly StoredText[]): string => otlpJson('traces', rows);
export const logsAsJson = (rows: readonly StoredText[]): string => otlpJson('logs', rows);
export const spansAsProtobuf = (rows: readonly StoredText[]): Uint8Array => tracesProtobuf(otlpJson('traces', rows));

const module = import.meta.url;

/** `Export…ServiceRequest` messages. */
export const OTLP_JSON: Readonly<Record<'traces' | 'logs', Conversion<string>>> = {
  traces: { module, convert: spansAsJson },
  logs: { module, convert: logsAsJson },
};
export const SPANS_PROTOBUF: Conversion<Uint8Array> = { module, convert: spansAsProtobuf };

const [HEAD, TAIL] = ['{"resourceSpans":[', ']}'];

/** The members of `resourceSpans` of a request from `OTLP_JSON`: requests are joined by them. */
export const membersOf = (request: string): string => request.slice(HEAD.length, -TAIL.length);
