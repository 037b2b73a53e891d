/** A remote that receives OTLP over HTTP and answers as a test configures it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decodeProtobuf, loadProtos, type Message } from './protos.ts';

export interface RemoteRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The names of the headers as sent, in lower case. */
  readonly names: readonly string[];
  /** Expanded. */
  readonly body: Buffer;
}

/** Answers a request. A remote that never answers hangs. */
export type Answer = (request: RemoteRequest, response: ServerResponse) => void;

export interface FakeRemote {
  readonly url: string;
  readonly port: number;
  /** Every request, with any answer. */
  readonly requests: readonly RemoteRequest[];
  /** The requests that were answered 200. */
  readonly accepted: readonly RemoteRequest[];
  answer: Answer;
  /** Clears the requests, and accepts everything again. */
  reset(): void;
  close(): Promise<void>;
}

export const accept: Answer = (_request, response) => void response.writeHead(200).end();

export const refuse =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

/** Breaks the connection, as a crash of the remote does. */
export const reset: Answer = (_request, response) => void response.socket?.resetAndDestroy();

export async function startRemote(t: { teardown(task: () => Promise<void>): unknown }, port = 0): Promise<FakeRemote> {
  const requests: RemoteRequest[] = [];
  const accepted: RemoteRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const raw = Buffer.concat(chunks);
      const body = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      const names = incoming.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      const request = { path: incoming.url ?? '', headers: incoming.headers, names, body };
      requests.push(request);
      response.on('finish', () => {
        if (response.statusCode === 200) accepted.push(request);
      });
      remote.answer(request, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  const forget = (): void => {
    requests.length = 0;
    accepted.length = 0;
    remote.answer = accept;
  };
  const url = `http://127.0.0.1:${bound}`;
  const remote: FakeRemote = { url, port: bound, requests, accepted, answer: accept, reset: forget, close };
  t.teardown(close);
  return remote;
}

const protos = loadProtos();
const SIGNAL_OF: Readonly<Record<string, 0 | 1 | 2>> = { '/v1/traces': 0, '/v1/logs': 1, '/v1/metrics': 2 };

/** A request as protobufjs reads it. */
export function messageOf({ path, body }: RemoteRequest): Message {
  const signal = SIGNAL_OF[path];
  if (signal === undefined) throw new Error(`unexpected path ${path}`);
  return decodeProtobuf(protos.requests[signal], body);
}

/** The names of the spans of requests, in order of arrival. */
export function spanNames(requests: readonly RemoteRequest[]): readonly string[] {
  const all = (message: Message, name: string): readonly Message[] => (message[name] ?? []) as readonly Message[];
  return requests
    .filter(({ path }) => path === '/v1/traces')
    .flatMap((request) => all(messageOf(request), 'resourceSpans'))
    .flatMap((resource) => all(resource, 'scopeSpans'))
    .flatMap((scope) => all(scope, 'spans'))
    .map(({ name }) => String(name));
}
