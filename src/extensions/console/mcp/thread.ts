/**
 * The thread that serves the Model Context Protocol for the console. Loading the SDK and writing answers would block
 * the event loop of the daemon, so the thread does both. It gets the answers of the query API from the main thread.
 */
import { parentPort, Worker } from 'node:worker_threads';
import { ConsoleError } from '../errors.ts';
import type { McpAnswer, McpRequest } from './http-exchange.ts';
import { type Api, ApiFault } from './tool.ts';

const IDLE_MS = 60_000;
const MAX_HEAP_MB = 192;

/** The parts of an error that a tool reports. */
interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly at: number | null;
}

type ToThread =
  | { readonly kind: 'request'; readonly id: number; readonly request: McpRequest }
  | { readonly kind: 'answer'; readonly question: number; readonly text: string }
  | { readonly kind: 'fault'; readonly question: number; readonly fault: Fault };

type FromThread =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: McpAnswer }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
  | { readonly kind: 'failure'; readonly reason: string }
  | { readonly kind: 'question'; readonly id: number; readonly question: number; readonly path: string };

interface Exchange {
  readonly ask: (path: string) => Promise<string>;
  resolve(answer: McpAnswer): void;
  reject(error: Error): void;
}

/** The side of the console. The thread starts with the first request and ends when it is idle. */
export class McpThread {
  readonly #failed: (error: unknown) => void;
  readonly #exchanges = new Map<number, Exchange>();
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;
  #last = 0;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** `ask` answers a GET of the query API for the caller of the request. */
  answer(request: McpRequest, ask: Exchange['ask'], signal: AbortSignal): Promise<McpAnswer> {
    const worker = this.#running();
    this.#last += 1;
    const id = this.#last;
    return new Promise<McpAnswer>((resolve, reject) => {
      this.#exchanges.set(id, { ask, resolve, reject });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.postMessage({ kind: 'request', id, request } satisfies ToThread);
    }).finally(() => this.#end(id));
  }

  async stop(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #running(): Worker {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    if (this.#worker !== null) return this.#worker;
    const source = `import(${JSON.stringify(import.meta.url)}).then(({ serveInThread }) => serveInThread())`;
    const worker = new Worker(source, {
      eval: true,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    worker.unref();
    worker.on('message', (message: FromThread) => this.#receive(worker, message));
    worker.on('error', (error) => this.#failed(error));
    worker.on('exit', () => this.#ended(worker));
    this.#worker = worker;
    return worker;
  }

  #receive(worker: Worker, message: FromThread): void {
    const exchange = message.kind === 'failure' ? undefined : this.#exchanges.get(message.id);
    if (message.kind === 'failure') this.#failed(new Error(message.reason));
    else if (message.kind === 'answer') exchange?.resolve(message.answer);
    else if (message.kind === 'failed') exchange?.reject(new Error(message.reason));
    else void this.#ask(worker, message, exchange);
  }

  async #ask(
    worker: Worker,
    { question, path }: Extract<FromThread, { readonly kind: 'question' }>,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const answer = (message: ToThread): void => worker.postMessage(message);
    try {
      if (exchange === undefined) throw new ConsoleError('request_timeout');
      answer({ kind: 'answer', question, text: await exchange.ask(path) });
    } catch (error) {
      if (!(error instanceof ConsoleError)) this.#failed(error);
      const { code, message, hint, at } = error instanceof ConsoleError ? error : new ConsoleError('internal');
      answer({ kind: 'fault', question, fault: { code, message, hint, at } });
    }
  }

  #end(id: number): void {
    this.#exchanges.delete(id);
    if (this.#exchanges.size > 0 || this.#worker === null) return;
    this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
  }

  #ended(worker: Worker): void {
    if (this.#worker === worker) this.#worker = null;
    else if (this.#worker !== null) return;
    for (const exchange of this.#exchanges.values()) exchange.reject(new ConsoleError('internal'));
  }
}

/** Runs in the thread. */
export async function serveInThread(): Promise<void> {
  const { exchange } = await import('./http-exchange.ts');
  const send = (message: FromThread): void => parentPort?.postMessage(message);
  const questions = new Map<number, { resolve(text: string): void; reject(error: Error): void }>();
  let last = 0;
  const apiOf = (id: number): Api => ({
    get: (path) =>
      new Promise<string>((resolve, reject) => {
        last += 1;
        questions.set(last, { resolve, reject });
        send({ kind: 'question', id, question: last, path });
      }),
  });
  const answer = async ({ id, request }: Extract<ToThread, { readonly kind: 'request' }>): Promise<void> => {
    const failed = (error: unknown): void => send({ kind: 'failure', reason: reasonOf(error) });
    try {
      const scene = { api: apiOf(id), explain: null, sql: null };
      send({ kind: 'answer', id, answer: await exchange(request, { scene, version: request.version, failed }) });
    } catch (error) {
      send({ kind: 'failed', id, reason: reasonOf(error) });
    }
  };
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'request') {
      void answer(message);
      return;
    }
    const question = questions.get(message.question);
    questions.delete(message.question);
    if (message.kind === 'answer') question?.resolve(message.text);
    else question?.reject(new ApiFault(message.fault.code, message.fault.message, message.fault));
  });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
