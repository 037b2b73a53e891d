/**
 * The closed catalogue of refusals. The code decides HTTP status, gRPC code, whether a client may retry, and the public
 * message. `docs/errors.md` lists the same facts and a test compares both. Details are logged and never sent to a
 * client.
 */

export interface Refusal {
  /** HTTP status of the answer. */
  readonly status: number;
  /** google.rpc.Code for OTLP/gRPC. */
  readonly grpc: number;
  /** Whether an OTLP client may send the same bytes again. */
  readonly retryable: boolean;
  /** The public message: names the broken rule. */
  readonly message: string;
}

const refusal = (status: number, grpc: number, retryable: boolean, message: string): Refusal => ({
  status,
  grpc,
  retryable,
  message,
});

export const REFUSALS = {
  invalid_body: refusal(400, 3, false, 'The request body could not be read.'),
  decompression_failed: refusal(400, 3, false, 'The request body is not valid gzip.'),
  invalid_protobuf: refusal(400, 3, false, 'The request body is not a valid OTLP protobuf message.'),
  invalid_json: refusal(400, 3, false, 'The request body is not valid OTLP JSON.'),
  invalid_id: refusal(400, 3, false, 'A trace or span id has the wrong length or is all zero.'),
  invalid_payload: refusal(
    400,
    3,
    false,
    'The payload breaks a rule: timestamps are unsigned nanoseconds, JSON keys are lowerCamelCase and unique, and nesting is limited.',
  ),
  empty_payload: refusal(400, 3, false, 'The request holds no records.'),
  invalid_api_key: refusal(
    401,
    16,
    false,
    'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  ),
  environment_mismatch: refusal(
    403,
    7,
    false,
    'The environment of the payload differs from the one the API key or the stored trace belongs to.',
  ),
  trace_conflict: refusal(409, 6, false, 'A trace id of the request belongs to another project.'),
  body_too_large: refusal(413, 8, false, 'The request is too large. Send smaller batches.'),
  unsupported_media_type: refusal(415, 3, false, 'Content-Type must be application/x-protobuf or application/json.'),
  unsupported_encoding: refusal(415, 12, false, 'Content-Encoding must be gzip or identity.'),
  quota_exceeded: refusal(429, 8, true, 'The monthly quota of the free plan is used up.'),
  authentication_failed: refusal(500, 13, false, 'The API key could not be checked.'),
  privacy_configuration_invalid: refusal(500, 13, false, "The project's privacy settings cannot be read."),
  /** The contract's other `ingestion_failed`: a fault of the server while decoding. A retry would fail again. */
  decode_failed: refusal(500, 13, false, 'The request could not be processed.'),
  ingestion_failed: refusal(503, 14, true, 'The request could not be stored. It can safely be sent again.'),
  overloaded: refusal(503, 14, true, 'The server is busy. The request can safely be sent again.'),
  shutting_down: refusal(503, 14, true, 'The server is shutting down. The request can safely be sent again.'),
  not_found: refusal(404, 12, false, 'Route not found'),
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof REFUSALS;

/** The diagnostic code in logs and metric labels; the contract knows both 500 and 503 as `ingestion_failed`. */
export function diagnosticOf(code: RefusalCode): string {
  return code === 'decode_failed' ? 'ingestion_failed' : code;
}

/** Diagnostic facts for the log line; never sent to the client. */
export interface RefusalDetails {
  readonly cause?: string;
  /** The length of a refused id as sent: bytes of protobuf, characters of JSON. */
  readonly length?: number;
  readonly limit_bytes?: number;
  readonly received_bytes?: number;
  readonly hint?: string;
  readonly expected?: string;
  readonly received?: string;
}

/** The sender of a request, as far as it is known. Only for the log. */
export interface Sender {
  readonly project: string | null;
  /** The public id of the key, or `static:<n>`; never the key itself. */
  readonly key: string | null;
}

/** The Retry-After of refusals that have one. */
export interface RetryAfter {
  readonly retryAfterSeconds?: number;
  readonly quota?: { readonly limit: number; readonly resetSeconds: number };
}

/** A request is refused. The only error that may cross component boundaries. */
export class Rejection extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;
  /** Seconds for the Retry-After header, if the refusal has one. */
  readonly retryAfterSeconds: number | null;

  /** The free plan's headers, on `quota_exceeded` for traces. */
  readonly quota: { readonly limit: number; readonly resetSeconds: number } | null;
  /** Set while the request is admitted; null when nothing is known about the sender. */
  sender: Sender | null = null;

  constructor(code: RefusalCode, details: RefusalDetails = {}, after: RetryAfter = {}) {
    // No stack trace: a refusal is an answer, not a fault, and the stack takes a tenth of the time of a refusal.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(REFUSALS[code].message);
    Error.stackTraceLimit = limit;
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = after.retryAfterSeconds ?? (REFUSALS[code].status === 503 ? RETRY_AFTER_SECONDS : null);
    this.quota = after.quota ?? null;
  }

  get refusal(): Refusal {
    return REFUSALS[this.code];
  }
}

/** Retry-After of a 503 (contract: `Retry-After: 1`). */
const RETRY_AFTER_SECONDS = 1;

/** The code of an error of the system, of Node.js or of PostgreSQL, such as ENOENT or 42P01; empty without one. */
export function errorCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** `exists`: the name is taken. `unknown`: there is nothing of this name. */
export type UserErrorReason = 'invalid' | 'exists' | 'unknown';

/** A mistake of the operator: printed without a stack trace, exit code 1. */
export class UserError extends Error {
  /** The next step for the operator, in one sentence. */
  readonly hint: string | null;
  readonly reason: UserErrorReason;

  constructor(message: string, hint: string | null = null, reason: UserErrorReason = 'invalid') {
    super(message);
    this.hint = hint;
    this.reason = reason;
  }
}
