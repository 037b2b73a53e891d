/** Answer bodies in both encodings: the empty export response, and google.rpc.Status with only a message. */
import type { Encoding } from '../../pdata/context.ts';

// Field number and wire type as one byte.
const STATUS_CODE_TAG = 0x08;
const STATUS_MESSAGE_TAG = 0x12;
const STATUS_DETAILS_TAG = 0x1a;
const TYPE_URL_TAG = 0x0a;
const ANY_VALUE_TAG = 0x12;
const RETRY_DELAY_TAG = 0x0a;
const SECONDS_TAG = 0x08;
const RETRY_INFO_TYPE = 'type.googleapis.com/google.rpc.RetryInfo';

/**
 * The body of a 200: an empty response message. `partial_success` is never set. It is a string because node:http sends
 * strings together with the headers, and a buffer in a packet of its own.
 */
export function successBody(encoding: Encoding): string {
  return encoding === 'protobuf' ? '' : '{}';
}

/** A refusal's body. `Status.code` stays 0: the HTTP status carries the class of error. */
export function statusBody(encoding: Encoding, message: string): Buffer {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ message }));
  return lengthDelimited(STATUS_MESSAGE_TAG, Buffer.from(message));
}

/**
 * google.rpc.Status for gRPC's `grpc-status-details-bin`: code, message and RetryInfo. An OTLP client retries
 * RESOURCE_EXHAUSTED only when there is a RetryInfo.
 */
export function statusDetails(code: number, message: string, retryAfterSeconds: number): Buffer {
  const delay = lengthDelimited(RETRY_DELAY_TAG, Buffer.from([SECONDS_TAG, ...varint(retryAfterSeconds)]));
  const retryInfo = Buffer.concat([
    lengthDelimited(TYPE_URL_TAG, Buffer.from(RETRY_INFO_TYPE)),
    lengthDelimited(ANY_VALUE_TAG, delay),
  ]);
  return Buffer.concat([
    Buffer.from([STATUS_CODE_TAG, ...varint(code)]),
    lengthDelimited(STATUS_MESSAGE_TAG, Buffer.from(message)),
    lengthDelimited(STATUS_DETAILS_TAG, retryInfo),
  ]);
}

function lengthDelimited(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...varint(content.length)]), content]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  bytes.push(value);
  return bytes;
}
