/** Reading a request's raw body: into one buffer, counted while it arrives, and never more than the limit. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Rejection } from '../../errors.ts';
import type { Reservation } from './byte-budget.ts';

/** What is reserved and allocated at first when the length is not declared. */
const FIRST_CHUNK_BYTES = 65536;

/** The declared length; null when the body is chunked. Throws `body_too_large`. */
export function declaredLength(request: IncomingMessage, limitBytes: number): number | null {
  const header = request.headers['content-length'];
  if (header === undefined) return request.headers['transfer-encoding'] === undefined ? 0 : null;
  const length = Number(header);
  if (length > limitBytes) throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: length });
  return length;
}

const NOTHING = Buffer.alloc(0);

/**
 * Resolves with the whole raw body, which is the reservation's: nobody may use it once that is closed. Rejects with `body_too_large`, `overloaded`, or `invalid_body` when the stream ends early,
 * breaks, or takes longer than `timeoutMs`.
 */
export function readBody(
  request: Readable,
  declared: number | null,
  limits: { readonly bytes: number; readonly timeoutMs: number },
  reservation: Reservation,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let buffer: Buffer = NOTHING;
    let length = 0;

    const finish = (error: Rejection | null): void => {
      clearTimeout(timer);
      request.off('data', take).off('end', end).off('aborted', broken).off('error', broken).off('close', broken);
      if (error !== null) request.pause();
      if (error === null) resolve(buffer.subarray(0, length));
      else reject(error);
    };
    const grow = (needed: number): void => {
      const size = Math.min(Math.max(needed, buffer.length * 2), Math.max(limits.bytes, needed));
      buffer = reservation.grow(size, length);
    };
    const take = (chunk: Buffer): void => {
      if (length + chunk.length > limits.bytes) {
        finish(new Rejection('body_too_large', { limit_bytes: limits.bytes, received_bytes: length + chunk.length }));
        return;
      }
      try {
        if (length + chunk.length > buffer.length) grow(length + chunk.length);
      } catch (error) {
        finish(error as Rejection);
        return;
      }
      chunk.copy(buffer, length);
      length += chunk.length;
    };
    const end = (): void => finish(null);
    const broken = (): void => finish(new Rejection('invalid_body', { cause: 'the stream broke off' }));
    const timer = setTimeout(
      () => finish(new Rejection('invalid_body', { cause: 'the body took too long' })),
      limits.timeoutMs,
    );

    try {
      grow(declared ?? FIRST_CHUNK_BYTES);
    } catch (error) {
      finish(error as Rejection);
      return;
    }
    request.on('data', take).on('end', end).on('aborted', broken).on('error', broken).on('close', broken);
  });
}
