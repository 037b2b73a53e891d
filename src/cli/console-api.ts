/** The query API of a running console, with a read token. */
import { maskUrls } from '../component/masked-url.ts';
import { ApiFault, type Api } from '../extensions/console/mcp/tool.ts';

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export class ConsoleApi implements Api {
  readonly #url: string;
  readonly #token: string;

  /** `url` without a final slash. */
  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async get(path: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.#token}` };
    let answer: Response;
    let text: string;
    try {
      // Another server must not get the token.
      answer = await fetch(`${this.#url}${path}`, {
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await limitedText(answer);
    } catch (error) {
      const { cause, message } = error as Error;
      throw new ApiFault(
        'unreachable',
        maskUrls(`the console at ${this.#url} does not answer: ${cause instanceof Error ? cause.message : message}`),
      );
    }
    if (answer.ok) return text;
    throw faultOf(answer.status, text);
  }
}

async function limitedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function faultOf(status: number, text: string): ApiFault {
  try {
    const { error } = JSON.parse(text) as {
      readonly error: { readonly code: string; readonly message: string; readonly hint?: string; readonly at?: number };
    };
    return new ApiFault(error.code, error.message, { hint: error.hint ?? null, at: error.at ?? null });
  } catch {
    return new ApiFault('unreachable', `the server answers ${status} and is no console of Sluice`);
  }
}
