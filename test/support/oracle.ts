/**
 * The oracle: the expected rows of a body, or the class of rule that refuses it. It shares no code with the module
 * under test: descriptors from `proto/`, a slow strict reader for each encoding, the checks below, and the rows of
 * oracle-rows.ts.
 */
import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs';
import { ENCODING_JSON } from '../../src/pdata/layout.ts';
import { parseStrictJson, readJson } from './oracle-json.ts';
import { readProtobuf } from './oracle-protobuf.ts';
import { OracleRefusal, type Rule } from './oracle-refusal.ts';
import { countRecords, expectedRows, type Row } from './oracle-rows.ts';
import { fieldsOf, type Message, type Protos, type Signal, submessageOf } from './protos.ts';

export const DEFAULT_MAX_DEPTH = 32;
const MAX_TIME = 2n ** 63n - 1n;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

export interface Accepted {
  readonly accepted: true;
  readonly message: Message;
  /** The number of spans, log records or metrics. Zero is refused elsewhere. */
  readonly records: number;
}
export interface Refused {
  readonly accepted: false;
  readonly rule: Rule;
  readonly reason: string;
}
export type Verdict = Accepted | Refused;

function checkId(message: Message, name: string, length: number, required: boolean): void {
  const id = (message[name] as Uint8Array | undefined) ?? new Uint8Array(0);
  if (id.length === 0 && !required) return;
  if (id.length !== length) throw new OracleRefusal('id', `${name} has ${id.length} bytes`);
  if (id.every((byte) => byte === 0)) throw new OracleRefusal('id', `${name} is all zero`);
}

function checkIds(type: protobuf.Type, message: Message): void {
  const required = type.name === 'Span';
  checkId(message, 'traceId', TRACE_ID_BYTES, required);
  checkId(message, 'spanId', SPAN_ID_BYTES, required);
  checkId(message, 'parentSpanId', SPAN_ID_BYTES, false);
}

/** The rules for ids, times and nesting. `depth` is that of the enclosing AnyValue, 0 outside. */
function check(type: protobuf.Type, message: Message, maxDepth: number, depth = 0): void {
  checkIds(type, message);
  if (type.name === 'Span' && (message['startTimeUnixNano'] ?? 0n) === 0n) {
    throw new OracleRefusal('payload', 'a span does not say when it began');
  }
  const inner = type.name === 'AnyValue' ? depth + 1 : depth;
  if (inner > maxDepth) throw new OracleRefusal('payload', 'values nest too deep');
  for (const field of fieldsOf(type)) {
    const value = message[field.name];
    if (value === undefined) continue;
    if (field.name.endsWith('UnixNano') && (value as bigint) > MAX_TIME) {
      throw new OracleRefusal('payload', `${field.name} is beyond 63 bits`);
    }
    const submessage = submessageOf(field);
    if (submessage === null) continue;
    for (const element of (field.repeated ? value : [value]) as readonly Message[])
      check(submessage, element, maxDepth, inner);
  }
}

export class Oracle {
  readonly #protos: Protos;
  readonly #maxDepth: number;

  constructor(protos: Protos, maxDepth = DEFAULT_MAX_DEPTH) {
    this.#protos = protos;
    this.#maxDepth = maxDepth;
  }

  /** Reads a body and applies every rule to it. */
  judge(signal: Signal, encoding: number, body: Buffer): Verdict {
    const type = this.#protos.requests[signal];
    try {
      const message = encoding === ENCODING_JSON ? this.#json(type, body) : readProtobuf(type, body);
      check(type, message, this.#maxDepth);
      return { accepted: true, message, records: countRecords(signal, message) };
    } catch (error) {
      if (error instanceof OracleRefusal) return { accepted: false, rule: error.rule, reason: error.message };
      throw error;
    }
  }

  rows(signal: Signal, message: Message, common: Row = new Map()): Row[] {
    return expectedRows(signal, message, common);
  }

  #json(type: protobuf.Type, body: Buffer): Message {
    if (!isUtf8(body)) throw new OracleRefusal('json', 'the body is not UTF-8');
    return readJson(type, parseStrictJson(body.toString('utf8')));
  }
}
