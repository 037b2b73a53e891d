/** Writes replies to the client, no faster than the client reads. */
import type { ServerResponse } from 'node:http';
import { endOfWhole } from '../../../pdata/text.ts';
import { ConsoleError } from '../errors.ts';
import { NO_STORE, SECURITY_HEADERS } from './headers.ts';
import type { Reply, ServerEvent } from './route.ts';
import { codingFor, type StaticFile } from './static-files.ts';

/** The connection of a client that reads nothing for this time is cut. */
const READING_TIMEOUT_MS = 30_000;
/** Longer texts are written in pieces, so that a slow client is distinguished from one that does not read. */
const PIECE_CHARACTERS = 64 * 1024;
const JSON_TYPE = 'application/json';

interface Body {
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
}

/** `head`: the request was HEAD, so only the headers are sent. */
export interface Sending {
  readonly head: boolean;
  readonly readingTimeoutMs?: number;
}

export async function send(response: ServerResponse, reply: Reply, sending: Sending): Promise<void> {
  if (reply.kind === 'empty') {
    response.writeHead(reply.status ?? 204, { ...NO_STORE, ...reply.headers, ...SECURITY_HEADERS });
    response.end();
    return;
  }
  const { type, headers, pieces } = bodyOf(reply);
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  const live = reply.kind === 'events';
  try {
    // An error before the first piece is answered as an error. A live stream begins before its first event.
    const first = sending.head || live ? null : await iterator.next();
    response.writeHead(reply.status ?? 200, {
      'Content-Type': type,
      ...NO_STORE,
      ...headers,
      ...reply.headers,
      ...SECURITY_HEADERS,
    });
    if (live) response.flushHeaders();
    if (!sending.head) {
      for (let next = first ?? (await iterator.next()); next.done !== true; next = await iterator.next())
        await write(response, next.value, sending.readingTimeoutMs ?? READING_TIMEOUT_MS);
    }
  } finally {
    await iterator.return?.();
  }
  response.end();
}

/** The whole body of a reply that is a text. */
export async function textOf(reply: Reply): Promise<string> {
  switch (reply.kind) {
    case 'json':
      return JSON.stringify(reply.value);
    case 'json_text':
    case 'text':
      return reply.text;
    case 'lines': {
      let text = '';
      for await (const piece of reply.pieces) text += piece;
      return text;
    }
    default:
      throw new Error(`a reply of the kind ${reply.kind} is no text`);
  }
}

export function sendFile(response: ServerResponse, file: StaticFile, { headers, head }: FileRequest): void {
  const coding = codingFor(file, headers['accept-encoding']);
  // A proxy that compresses makes the tag a weak one.
  const known = String(headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//u, ''));
  const fresh = known.includes(file.etag) || known.includes('*');
  const body = file.bodies.get(coding);
  response.writeHead(fresh ? 304 : 200, {
    'Content-Type': file.type,
    'Cache-Control': file.caching,
    ETag: file.etag,
    Vary: 'Accept-Encoding',
    ...(coding === '' || fresh ? {} : { 'Content-Encoding': coding }),
    ...(fresh || body === undefined ? {} : { 'Content-Length': String(body.length) }),
    ...SECURITY_HEADERS,
  });
  response.end(fresh || head ? undefined : body);
}

interface FileRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>> & {
    readonly 'accept-encoding'?: string | undefined;
  };
  readonly head: boolean;
}

export function sendError(response: ServerResponse, error: ConsoleError, { head }: Sending): void {
  response.writeHead(error.status, { 'Content-Type': JSON_TYPE, ...headersOf(error), ...SECURITY_HEADERS });
  response.end(head ? undefined : JSON.stringify(error));
}

/** The whole answer to a request that could not be parsed, as bytes of the connection. */
export function rawError(error: ConsoleError, reason: string): string {
  const body = JSON.stringify(error);
  const headers = {
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headersOf(error),
    ...SECURITY_HEADERS,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${reason}\r\n${lines.join('')}\r\n${body}`;
}

function headersOf({ allow, status }: ConsoleError): Readonly<Record<string, string>> {
  return {
    ...NO_STORE,
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(status === 405 ? { Allow: allow.join(', ') } : {}),
    ...(status === 503 || status === 429 ? { 'Retry-After': '1' } : {}),
    // The rest of the request is not read.
    ...(status === 413 || status === 408 ? { Connection: 'close' } : {}),
  };
}

function bodyOf(reply: Exclude<Reply, { readonly kind: 'empty' }>): Body {
  switch (reply.kind) {
    case 'json':
      return { type: JSON_TYPE, pieces: split(JSON.stringify(reply.value)) };
    case 'json_text':
      return { type: JSON_TYPE, pieces: split(reply.text) };
    case 'text':
      return { type: 'text/plain; charset=utf-8', pieces: split(reply.text) };
    case 'lines':
      return { type: 'application/x-ndjson', pieces: reply.pieces };
    case 'events':
      return { type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' }, pieces: formatEvents(reply.events) };
    case 'bytes':
      return { type: reply.type, pieces: [reply.bytes] };
    case 'download':
      return { type: reply.type, headers: { 'Content-Disposition': attachment(reply.name) }, pieces: reply.pieces };
  }
}

/** Half of a surrogate pair would be written as a faulty character. */
function* split(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = endOfWhole(text, Math.min(at + PIECE_CHARACTERS, text.length));
    yield text.slice(at, end);
    at = end;
  }
}

async function* formatEvents(events: AsyncIterable<ServerEvent>): AsyncGenerator<string> {
  for await (const { event, id, data } of events) {
    yield `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
  }
}

function attachment(name: string): string {
  const safe = name.toLowerCase().replaceAll(/[^a-z0-9.-]/gu, '') || 'download';
  return `attachment; filename="${safe}"`;
}

function write(response: ServerResponse, piece: string | Uint8Array, timeoutMs: number): Promise<void> {
  if (response.destroyed) return Promise.reject(new Error('the client has disconnected'));
  if (response.write(piece)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null): void => {
      clearTimeout(timer);
      response.off('drain', drained).off('close', closed);
      if (error === null) resolve();
      else reject(error);
    };
    const drained = (): void => settle(null);
    const closed = (): void => settle(new Error('the client has disconnected'));
    const timer = setTimeout(() => response.destroy(), timeoutMs);
    response.on('drain', drained).on('close', closed);
  });
}
