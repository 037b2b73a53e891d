/**
 * What becomes of bytes that are not HTTP. Sound requests before them on the same connection get their answers: what is being
 * stored must not be told to have failed. A body that breaks in the middle is refused like any other.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { malformedRequestAnswer } from './answer.ts';

export class MalformedRequests {
  /** The answers that are due on each connection. */
  readonly #due = new WeakMap<Socket, Set<ServerResponse>>();
  /** Connections that end after the last of them. */
  readonly #ending = new WeakSet<Socket>();
  readonly #broken = new WeakSet<IncomingMessage>();

  /** A request has begun. */
  begin(response: ServerResponse): void {
    const { socket } = response.req;
    const due = this.#due.get(socket) ?? new Set();
    this.#due.set(socket, due.add(response));
    response.once('close', () => due.delete(response));
  }

  /** As node:http reports them. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (this.#ending.has(socket)) return;
    const due = [...(this.#due.get(socket) ?? [])];
    const whole = due.filter(({ req }) => req.complete);
    const torn = due.find(({ req }) => !req.complete);
    if (whole.length > 0) this.#endAfter(whole, socket);
    else if (torn?.headersSent === true) return;
    // The reader of the body refuses it, now or once the request is admitted.
    else if (torn !== undefined) this.#breakBody(torn.req, error);
    else socket.end(malformedRequestAnswer(statusOf(error)), () => socket.destroy());
  }

  /** Whether the body of the request broke off before it was read. */
  isBroken(request: IncomingMessage): boolean {
    return this.#broken.has(request);
  }

  #breakBody(request: IncomingMessage, error: Error): void {
    this.#broken.add(request);
    if (request.listenerCount('error') > 0) request.emit('error', error);
  }

  #endAfter(responses: readonly ServerResponse[], socket: Socket): void {
    this.#ending.add(socket);
    let left = responses.length;
    for (const response of responses)
      response.once('close', () => {
        left--;
        if (left === 0) socket.end(() => socket.destroy());
      });
  }
}

function statusOf({ code }: NodeJS.ErrnoException): 400 | 408 | 431 {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}
