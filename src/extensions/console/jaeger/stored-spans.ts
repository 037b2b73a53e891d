/** The stored spans of a trace as OTLP/JSON, without what the caller may not see. */
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import { otlpJson } from '../../../pdata/otlp-json.ts';
import { type StoredText, storedTextQuery } from '../../../pdata/stored-text.ts';
import { IN_TRACE, type StoredTrace, valuesOf } from '../api/stored-trace.ts';
import type { RequestContext } from '../server/route.ts';
import { JaegerTrace, type OtlpRequest } from './span-json.ts';

/** Columns that need the right to content beside the content columns. */
const PRIVATE_COLUMNS = ['status_message', 'events', 'attributes'];

export interface SpanLimits {
  readonly spans: number;
  /** Of OTLP/JSON. */
  readonly characters: number;
  /** Whether prompts, answers and payloads are read too. */
  readonly withContent: boolean;
}

/** OTLP/JSON of some spans at a time, in order of start; it ends with the limits. */
export async function* requestsOf(
  { caller, reader }: RequestContext,
  trace: StoredTrace,
  { spans, characters, withContent }: SpanLimits,
): AsyncGenerator<{ readonly text: string; readonly spans: number }> {
  const hidden = [
    ...(caller.seesContent && withContent ? [] : CONTENT_COLUMNS),
    ...(caller.seesContent ? [] : PRIVATE_COLUMNS),
  ];
  const { list, from } = storedTextQuery('traces', new Set(hidden));
  const text = `SELECT ${list} FROM ${from} WHERE ${IN_TRACE} ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${spans}`;
  let left = characters;
  for await (const rows of reader.stream(text, valuesOf(trace))) {
    const stored = rows.map(
      (row): StoredText =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
    );
    const request = otlpJson('traces', stored);
    yield { text: request, spans: rows.length };
    left -= request.length;
    if (left < 0) return;
  }
}

/** The JSON text of a trace in Jaeger's shape, with a warning when spans are left out. */
export async function traceText(context: RequestContext, trace: StoredTrace, limits: SpanLimits): Promise<string> {
  const written = new JaegerTrace(trace.hex);
  let count = 0;
  for await (const { text, spans } of requestsOf(context, trace, limits)) {
    written.add(JSON.parse(text) as OtlpRequest);
    count += spans;
  }
  const [row] = await context.reader.prepared(
    `SELECT count(*)::int4 AS spans FROM sluice.spans s WHERE ${IN_TRACE}`,
    valuesOf(trace),
  );
  const all = Number(row?.['spans'] ?? 0);
  if (all > count) written.warn(`The first ${count} of ${all} spans are shown.`);
  return written.text();
}
