/**
 * What becomes of a body that is not used. No byte of it may be taken for the next request, so the connection closes with it,
 * unless the rest is short: then it is thrown away and the connection stays. Under load that is cheaper for both sides than a new
 * connection for each attempt.
 */
import type { IncomingMessage } from 'node:http';

/** A longer body, or one of unknown length, is not worth reading to be thrown away. */
const SHORT_BYTES = 256 * 1024;
/** A refused sender that does not go on is cut off after this. */
const LINGER_MS = 500;

export function isExpectingContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** Resolves once a short body has been thrown away, or has not come in time: then, as of any other body, a part stays unread. */
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

/** A client that waits for leave to send its body waits for the answer, and the server would wait for the body. */
function isShort(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) <= SHORT_BYTES && !isExpectingContinue(request);
}
