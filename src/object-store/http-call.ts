/** One HTTP request of an object store: idle timeouts, bounded answers, and failures without secrets. */
import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface HttpCall {
  readonly method: string;
  readonly url: URL;
  /** With `content-length` when there is a body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable | undefined;
  readonly agent?: HttpAgent | HttpsAgent | undefined;
  /** No byte in either direction for this time ends the call. */
  readonly idleMs: number;
}

/** The limit of answers that are read as text. A list of 1,000 keys has at most 2 MiB. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Resolves with the head of the answer, and rejects when there is none. The caller reads or destroys the body. */
export function send(call: HttpCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method, url, headers, body, agent, idleMs } = call;
    const open = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = open(url, { method, headers, agent, timeout: idleMs });
    let answer: IncomingMessage | null = null;
    request.on('timeout', () => {
      // While the reader has not taken what arrived, the server is not the slow side.
      if (answer === null || answer.readableLength === 0) request.destroy(new Error(`no data for ${idleMs / 1000} s`));
    });
    request.once('response', (response) => {
      answer = response;
      resolve(response);
    });
    request.once('error', reject);
    if (body instanceof Readable) pipeline(body, request).catch(reject);
    else request.end(body);
  });
}

/** The body of an answer. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_TEXT_BYTES) throw new Error(`an answer has more than ${MAX_TEXT_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/**
 * The texts of all elements of a name. The answers of S3 and STS have no attributes on these elements, no CDATA and no
 * nesting of equal names, so that no XML parser is needed.
 */
export function elementsOf(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, 'gu'))].map(([, text = '']) => text);
}

/** The text of the first element of a name. */
export function elementOf(xml: string, name: string): string | undefined {
  const text = elementsOf(xml, name)[0];
  return text?.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/giu, (whole, decimal, hex, entity: string | undefined) => {
    if (entity !== undefined) return ENTITIES[entity] ?? whole;
    return String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10));
  });
}
