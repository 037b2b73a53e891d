/** An OTLP request in protobuf without the spans or log records of one trace. Everything else keeps its bytes. */
const VARINT = 0;
const BITS_64 = 1;
const LENGTH = 2;
const BITS_32 = 5;
const MOST_VARINT_BYTES = 10;

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
    pieces.push(...(part === content ? [whole] : [varint(number * 8 + LENGTH), varint(part.length), part]));
  }
  return had && !has ? null : Buffer.concat(pieces);
}

interface WireField {
  readonly number: number;
  /** Of a field with a length; null: of others. */
  readonly content: Buffer | null;
  readonly whole: Buffer;
}

function* fieldsOf(message: Buffer): Generator<WireField> {
  for (let at = 0; at < message.length; ) {
    const start = at;
    const [tag, afterTag] = readVarint(message, at);
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    let content: Buffer | null = null;
    at = afterTag;
    if (type === VARINT) [, at] = readVarint(message, at);
    else if (type === BITS_64) at += 8;
    else if (type === BITS_32) at += 4;
    else if (type === LENGTH) {
      const [length, afterLength] = readVarint(message, at);
      at = afterLength + length;
      content = message.subarray(afterLength, at);
    } else throw new Error(`a field has the wire type ${type}`);
    if (at > message.length) throw new Error('a field is longer than its message');
    yield { number, content, whole: message.subarray(start, at) };
  }
}

/** The value, exact below 2^53, and the place after it. */
function readVarint(bytes: Buffer, start: number): readonly [value: number, after: number] {
  let value = 0;
  for (let at = 0; at < MOST_VARINT_BYTES; at++) {
    const byte = bytes[start + at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return [value, start + at + 1];
  }
  throw new Error('a number does not end');
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
