/**
 * Handles bytes that are not HTTP, CONNECT, and methods that node:http does not accept. Valid requests before them on
 * the same connection still get their answers, because their data may be stored. A body with an error in the middle is
 * refused like other invalid bodies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Rejection } from '../../errors.ts';
import { malformedRequestAnswer, type MalformedStatus } from './answer.ts';

export class MalformedRequests {
  /** The pending answers of each connection. */
  readonly #pending = new WeakMap<Socket, ServerResponse[]>();
  /** Connections that end after their last pending answer. */
  readonly #ending = new WeakSet<Socket>();
  readonly #broken = new WeakSet<IncomingMessage>();
  readonly #note: (rejection: Rejection, socket: Socket) => void;

  /** `note` is called before an answer that the catalogue of refusals has. */
  constructor(note: (rejection: Rejection, socket: Socket) => void) {
    this.#note = note;
  }

  /** A request has begun. */
  begin(response: ServerResponse): void {
    const { socket } = response.req;
    let pending = this.#pending.get(socket);
    if (pending === undefined) this.#pending.set(socket, (pending = []));
    pending.push(response);
    response.once('close', () => pending.splice(pending.indexOf(response), 1));
  }

  /** Handles an error of the parser of node:http. */
  refuse(error: ParserError, socket: Socket): void {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (this.#ending.has(socket)) return;
    const pending = this.#pending.get(socket) ?? [];
    const whole = pending.filter(({ req }) => req.complete);
    const torn = pending.find(({ req }) => !req.complete);
    // `readBody` refuses the body, now or when the request is admitted. The refusal closes the connection, after the
    // answers before it.
    if (torn?.headersSent === false) this.#breakBody(torn.req, error);
    else if (whole.length > 0) this.#endAfter(whole, socket);
    else if (torn === undefined) this.#answer(socket, rejectionOf(error) ?? statusOf(error));
  }

  /** Handles a CONNECT request. node:http has ended its use of the connection. */
  refuseTunnel(socket: Socket): void {
    const pending = this.#pending.get(socket) ?? [];
    if (pending.length > 0) this.#endAfter(pending, socket);
    else this.#answer(socket, new Rejection('not_found'));
  }

  /** Whether the body of the request broke off before it was read. */
  isBroken(request: IncomingMessage): boolean {
    return this.#broken.has(request);
  }

  #answer(socket: Socket, fault: Rejection | MalformedStatus): void {
    if (fault instanceof Rejection) this.#note(fault, socket);
    socket.end(malformedRequestAnswer(fault), () => socket.destroy());
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

/** An error of the parser of node:http, with the piece that it read and the position in the piece. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

function statusOf({ code }: ParserError): MalformedStatus {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

/** Null when the catalogue of refusals has no code for the fault. */
function rejectionOf(error: ParserError): Rejection | null {
  const { code = '' } = error;
  if (LENGTH_FAULTS.has(code)) return new Rejection('invalid_body', { cause: code });
  return isUnknownMethod(error) ? new Rejection('not_found') : null;
}

/** The end of the body is not certain, for example with two lengths. */
const LENGTH_FAULTS: ReadonlySet<string> = new Set([
  'HPE_UNEXPECTED_CONTENT_LENGTH',
  'HPE_INVALID_CONTENT_LENGTH',
  'HPE_INVALID_TRANSFER_ENCODING',
]);

/** Whether the parser stopped in a request line that is valid except that its method is not known, or not of HTTP. */
function isUnknownMethod({ code, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (rawPacket === undefined || (code !== 'HPE_INVALID_METHOD' && code !== 'HPE_INVALID_CONSTANT')) return false;
  const begin = rawPacket.lastIndexOf('\n', Math.max(bytesParsed - 1, 0)) + 1;
  const end = rawPacket.indexOf('\n', begin) + 1;
  return REQUEST_LINE.test(rawPacket.toString('latin1', begin, end));
}

const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ [!-~]+ HTTP\/1\.[01]\r\n$/u;
