/** Reads the answer of a remote: the rejected part of a 200, and the message of a refusal. Neither is trusted. */
import type { Encoding } from '../../pdata/context.ts';

/** A request that the remote accepted in part. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

const NOTHING: PartialSuccess = { rejected: 0, message: '' };
const MAX_MESSAGE = 500;
/** Ten bytes of seven bits each. */
const VARINT_BITS = 70n;

/**
 * The `partial_success` of an export response. An unreadable body counts as no rejection, because the request arrived.
 */
export function partialSuccessOf(encoding: Encoding, body: Buffer): PartialSuccess {
  try {
    return encoding === 'json' ? partialOfJson(body) : partialOfProtobuf(body);
  } catch {
    return NOTHING;
  }
}

/** The message of a google.rpc.Status or of a JSON error, else the text itself; cut to a few hundred characters. */
export function messageOf(contentType: string | undefined, body: Buffer): string {
  const text = contentType?.startsWith('application/x-protobuf') ? statusMessage(body) : jsonMessage(body);
  // The text is untrusted and is printed in logs and terminals.
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, MAX_MESSAGE);
}

function partialOfJson(body: Buffer): PartialSuccess {
  const answer = JSON.parse(body.toString()) as { partialSuccess?: Record<string, unknown> } | null;
  const partial = answer?.partialSuccess ?? {};
  const rejected = partial['rejectedSpans'] ?? partial['rejectedLogRecords'] ?? partial['rejectedDataPoints'] ?? 0;
  return { rejected: countOf(Number(rejected)), message: String(partial['errorMessage'] ?? '').slice(0, MAX_MESSAGE) };
}

/** ExportPartialSuccess { int64 rejected = 1; string error_message = 2 } is field 1 of each response. */
function partialOfProtobuf(body: Buffer): PartialSuccess {
  const partial = fieldsOf(body).get(1);
  if (!Buffer.isBuffer(partial)) return NOTHING;
  const fields = fieldsOf(partial);
  const message = fields.get(2);
  return {
    rejected: countOf(Number(fields.get(1) ?? 0)),
    message: Buffer.isBuffer(message) ? message.toString().slice(0, MAX_MESSAGE) : '',
  };
}

const countOf = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);

function statusMessage(body: Buffer): string {
  try {
    const message = fieldsOf(body).get(2);
    return Buffer.isBuffer(message) ? message.toString() : '';
  } catch {
    return '';
  }
}

function jsonMessage(body: Buffer): string {
  try {
    const { message } = JSON.parse(body.toString()) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Probably the page of a proxy.
  }
  return body.toString();
}

/** The last value of each varint and length-delimited field. Throws a RangeError when the bytes are not a message. */
function fieldsOf(message: Buffer): ReadonlyMap<number, Buffer | bigint> {
  const fields = new Map<number, Buffer | bigint>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < VARINT_BITS; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError('the number is too long');
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) fields.set(tag >>> 3, varint());
    else if (wire === 2) {
      const length = Number(varint());
      if (at + length > message.length) throw new RangeError('the field is cut off');
      fields.set(tag >>> 3, message.subarray(at, at + length));
      at += length;
    } else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else throw new RangeError('an unknown wire type');
  }
  return fields;
}
