/** One HTTP request with a body, and its answer. */
import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type Clock } from './clock.ts';
import { untraced } from './untraced.ts';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly agent: Agent;
  readonly timeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The beginning of the body. */
  readonly body: Buffer;
}

/** What is kept of an answer's body; it is needed for the message of an error only. */
const MAX_ANSWER_BYTES = 16_384;

/** Rejects when no answer arrived: the network failed, or the time ran out. */
export function post(clock: Clock, { url, headers, body, agent, timeoutMs }: Post): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = untraced(() => open(url, { method: 'POST', agent, headers: { ...headers } }));
    const cancel = clock.after(timeoutMs, () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    let answered = false;
    // A server that refuses early closes the connection during the upload, which is an error after the answer.
    outgoing.on('error', (error) => {
      if (answered) return;
      cancel();
      reject(error);
    });
    outgoing.on('response', async (incoming) => {
      answered = true;
      const answer = await answerOf(incoming);
      cancel();
      resolve(answer);
    });
    outgoing.end(body);
  });
}

/** The status is the answer: a connection that breaks after it changes nothing. */
function answerOf(incoming: IncomingMessage): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      if (size < MAX_ANSWER_BYTES) chunks.push(chunk);
      size += chunk.length;
    });
    incoming.on('error', () => undefined);
    incoming.on('close', () =>
      resolve({
        status: incoming.statusCode ?? 0,
        retryAfter: incoming.headers['retry-after'],
        body: Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES),
      }),
    );
  });
}
