/**
 * Handles a body that is not read to its end. Its bytes must not be read as the next request, so the connection closes,
 * unless the rest is short: then it is discarded and the connection stays. Under load that is cheaper for both sides
 * than a new connection for each attempt.
 */
import type { IncomingMessage } from 'node:http';

/** Longer bodies, and those of unknown length, are not discarded. */
const SHORT_BYTES = 256 * 1024;
/** The time limit to discard a body. */
const LINGER_MS = 500;

/** A client of HTTP/1.0 would read 100 as the answer (RFC 9110, section 10.1.1). */
export function isExpectingContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect?.toLowerCase() === '100-continue' && httpVersion !== '1.0';
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** Resolves when a short body is discarded, or after the time limit: then a part stays unread, as of a long body. */
export async function discardIfShort(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed || !isShort(request)) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    request.once('end', done).once('close', done).once('error', done);
    request.resume();
  });
}

/** With `Expect: 100-continue` the client waits for the answer before it sends, so there is nothing to discard. */
function isShort(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) <= SHORT_BYTES && !isExpectingContinue(request);
}
