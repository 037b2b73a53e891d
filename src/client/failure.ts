/** Why records were not stored. */
export interface FailureDetails {
  /** A short name of the cause; each cause is reported once. */
  readonly reason: string;
  /** The same bytes may be sent again. */
  readonly retryable?: boolean;
  /** Milliseconds of the `Retry-After` header. */
  readonly retryAfterMs?: number | undefined;
  /** The records that were lost, when the others of the batch were stored. */
  readonly lost?: number;
}

export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly lost: number | undefined;

  constructor(message: string, details: FailureDetails) {
    super(message);
    this.reason = details.reason;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.lost = details.lost;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
