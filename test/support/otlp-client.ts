/** Sends one OTLP request over a real socket, with full control of the request and the whole answer. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { gzipSync } from 'node:zlib';
import { KEY } from './daemon.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface Sending {
  readonly path?: string;
  readonly method?: string;
  /** Left out: the test key. Null: no Authorization header. */
  readonly authorization?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Certificates, a socket's path, an agent. */
  readonly connection?: RequestOptions;
}

/** JSON by default, to /v1/traces, with the test key. */
export function send(url: string, sending: Sending): Promise<Answer> {
  const { authorization = `Bearer ${KEY}`, body = '' } = sending;
  const headers: Record<string, string | number> = {
    ...(authorization === null ? {} : { authorization }),
    ...(sending.headers?.['transfer-encoding'] === undefined ? { 'content-length': Buffer.byteLength(body) } : {}),
    ...(sending.headers ?? { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const outgoing = request(
      `${url}${sending.path ?? '/v1/traces'}`,
      { method: sending.method ?? 'POST', headers, agent: false, ...sending.connection },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: Buffer.concat(chunks),
          });
        });
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export const gzip = (body: Buffer | string): Buffer => gzipSync(body);

/** The message of a google.rpc.Status in protobuf: field 2, and nothing else. */
export function statusMessage(body: Buffer): string {
  if (body[0] !== 0x12) throw new Error(`not a Status with only a message: ${body.toString('hex')}`);
  let length = 0;
  let position = 1;
  for (let shift = 0; ; shift += 7) {
    const byte = body[position++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (position + length !== body.length) throw new Error('something follows the message');
  return body.toString('utf8', position);
}
