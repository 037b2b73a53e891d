/** Reads the JSON body of a request that changes something. */
import type { IncomingMessage } from 'node:http';
import { ConsoleError } from '../errors.ts';

const MAX_BODY_BYTES = 64 * 1024;
/** Far more than any request needs. A value that is nested thousands of levels deep cannot be sent to a thread. */
const MAX_DEPTH = 100;
const JSON_TYPE = /^application\/json\s*(?:;|$)/iu;

/** An empty body gives an empty object. */
export async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const { 'content-length': length, 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw new ConsoleError('body_too_large');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new ConsoleError('body_too_large');
    chunks.push(chunk);
  }
  if (size === 0) return {};
  if (encoding !== undefined) throw new ConsoleError('body_invalid', { message: 'The body must not be compressed.' });
  if (!JSON_TYPE.test(type ?? ''))
    throw new ConsoleError('body_invalid', { message: 'The body must be application/json.' });
  return parse(Buffer.concat(chunks).toString('utf8'));
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConsoleError('body_invalid', { message: 'The body is not JSON.' });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConsoleError('body_invalid', { message: 'The body must be a JSON object.' });
  if (depthOf(text) > MAX_DEPTH)
    throw new ConsoleError('body_invalid', { message: `The body is nested more than ${MAX_DEPTH} levels deep.` });
  return value as Readonly<Record<string, unknown>>;
}

/** The most lists and objects of a JSON text that are open at once. */
function depthOf(text: string): number {
  let [open, most] = [0, 0];
  for (const [mark] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/gsu)) {
    if (mark === '[' || mark === '{') open += 1;
    else if (mark === ']' || mark === '}') open -= 1;
    if (open > most) most = open;
  }
  return most;
}
