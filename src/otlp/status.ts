/** Answer bodies in both encodings: the empty export response, and google.rpc.Status with nothing but its message. */
import type { Encoding } from '../model/context.ts';

const STATUS_MESSAGE_TAG = 0x12; // field 2, length-delimited
const NOTHING = Buffer.alloc(0);
const EMPTY_OBJECT = Buffer.from('{}');

export const MEDIA_TYPES = { protobuf: 'application/x-protobuf', json: 'application/json' } as const satisfies Record<
  Encoding,
  string
>;

/** The body of a 200: an empty response message. `partial_success` is never set. */
export function successBody(encoding: Encoding): Buffer {
  return encoding === 'protobuf' ? NOTHING : EMPTY_OBJECT;
}

/** A refusal's body. `Status.code` stays 0: the HTTP status carries the class of error. */
export function statusBody(encoding: Encoding, message: string): Buffer {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ message }));
  const text = Buffer.from(message);
  return Buffer.concat([Buffer.from([STATUS_MESSAGE_TAG, ...varint(text.length)]), text]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  bytes.push(value);
  return bytes;
}
