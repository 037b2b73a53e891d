/**
 * Handles bytes that are not HTTP, and CONNECT. Valid requests before them on the same connection still get their
 * answers, because their data may be stored. A body with an error in the middle is refused like other invalid bodies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { malformedRequestAnswer } from './answer.ts';

export class MalformedRequests {
  /** The pending answers of each connection. */
  readonly #pending = new WeakMap<Socket, ServerResponse[]>();
  /** Connections that end after their last pending answer. */
  readonly #ending = new WeakSet<Socket>();
  readonly #broken = new WeakSet<IncomingMessage>();

  /** A request has begun. */
  begin(response: ServerResponse): void {
    const { socket } = response.req;
    let pending = this.#pending.get(socket);
    if (pending === undefined) this.#pending.set(socket, (pending = []));
    pending.push(response);
    response.once('close', () => pending.splice(pending.indexOf(response), 1));
  }

  /** Handles an error of the parser of node:http. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (this.#ending.has(socket)) return;
    const pending = this.#pending.get(socket) ?? [];
    const whole = pending.filter(({ req }) => req.complete);
    const torn = pending.find(({ req }) => !req.complete);
    if (whole.length > 0) this.#endAfter(whole, socket);
    else if (torn?.headersSent === true) return;
    // `readBody` refuses the body, now or when the request is admitted.
    else if (torn !== undefined) this.#breakBody(torn.req, error);
    else socket.end(malformedRequestAnswer(statusOf(error)), () => socket.destroy());
  }

  /** Handles a CONNECT request. node:http has ended its use of the connection. */
  refuseTunnel(socket: Socket): void {
    const pending = this.#pending.get(socket) ?? [];
    if (pending.length > 0) this.#endAfter(pending, socket);
    else socket.end(malformedRequestAnswer(404), () => socket.destroy());
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
