/** Reads the answer of a remote: the rejected part of a 200, and the message of a refusal. Neither is trusted. */
import type { Encoding } from '../../pdata/context.ts';
import { fieldsOf, type WireField } from '../../pdata/protobuf-fields.ts';

/** A request that the remote accepted in part. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

const NOTHING: PartialSuccess = { rejected: 0, message: '' };
const MAX_MESSAGE = 500;

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
  const partial = lastField(body, 1)?.content ?? null;
  if (partial === null) return NOTHING;
  return {
    rejected: countOf(lastField(partial, 1)?.value ?? 0),
    message: textOf(lastField(partial, 2)).slice(0, MAX_MESSAGE),
  };
}

const countOf = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);

function statusMessage(body: Buffer): string {
  try {
    return textOf(lastField(body, 2));
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

/** The last of the fields with this number counts, as in protobuf. Throws for bytes that are no message. */
const lastField = (message: Buffer, number: number): WireField | undefined =>
  [...fieldsOf(message)].findLast((field) => field.number === number);

const textOf = (field: WireField | undefined): string => field?.content?.toString() ?? '';
