/** An OTLP request in protobuf without the spans or log records of one trace. Everything else keeps its bytes. */
import { fieldsOf, lengthField } from './protobuf-fields.ts';

/** Fields of a request: resources, their scopes, their records. */
const PATH = [1, 2, 2] as const;
/** The trace id in a record. Metric points belong to no trace. */
const ID_FIELDS = { traces: 1, logs: 9 } as const;

export interface Shortened {
  /** Null: no record is left. */
  readonly body: Buffer | null;
  /** Records that are left. */
  readonly records: number;
  /** Records that were left out. */
  readonly removed: number;
}

/** Throws for bytes that are no such message. */
export function withoutTrace(body: Buffer, signal: keyof typeof ID_FIELDS, traceId: Buffer): Shortened {
  const counts = { records: 0, removed: 0 };
  const isOfTrace = (record: Buffer): boolean =>
    [...fieldsOf(record)].some(({ number, content }) => number === ID_FIELDS[signal] && content?.equals(traceId));
  const kept = shortened(body, 0, (record) => {
    counts[isOfTrace(record) ? 'removed' : 'records']++;
    return isOfTrace(record) ? null : record;
  });
  return { body: kept, ...counts };
}

/** Null when it had records and has none any more. */
function shortened(message: Buffer, depth: number, keep: (record: Buffer) => Buffer | null): Buffer | null {
  const wanted = PATH[depth];
  if (wanted === undefined) return keep(message);
  const pieces: Buffer[] = [];
  let [had, has] = [false, false];
  for (const { number, content, whole } of fieldsOf(message)) {
    if (number !== wanted || content === null) {
      pieces.push(whole);
      continue;
    }
    had = true;
    const part = shortened(content, depth + 1, keep);
    if (part === null) continue;
    has = true;
    pieces.push(...(part === content ? [whole] : lengthField(number, part)));
  }
  return had && !has ? null : Buffer.concat(pieces);
}
