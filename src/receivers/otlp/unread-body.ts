/**
 * What becomes of a body that nobody will use. No byte of it may be taken for the next request, so the connection goes with it,
 * unless the rest is short: then it is thrown away and the connection stays. Under load that is cheaper for both sides than a new
 * connection for each attempt, and a server that is short of time accepts new ones slowest of all.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A longer body, or one of unknown length, is not worth reading to be thrown away. */
const SHORT_BYTES = 256 * 1024;
/** A refused sender that keeps sending, or does not go on, is cut off after this. */
const LINGER_MS = 500;

export function isExpectingContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
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

/** Who waits for leave to send its body would wait for this, and this for the body. */
function isShort(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) <= SHORT_BYTES && !isExpectingContinue(request);
}

/**
 * Closes a connection whose request was not read to its end. What the sender still has in flight is thrown away for a moment
 * first: closing at once would reset the connection, and the reset can overtake the answer.
 */
export function closeAfterAnswer(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  response.on('finish', () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });
  request.resume();
}
