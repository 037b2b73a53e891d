/**
 * Conversions of stored rows into other formats. A row can have megabytes, and its conversion would block the event
 * loop of the daemon for a second. Long rows are converted in a thread, one part after the other, so that they take the
 * memory of one part.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { valuesIn } from '../../../pdata/exact-json.ts';
import { lengthOf, type StoredText } from '../../../pdata/stored-text.ts';
import { ConsoleError } from '../errors.ts';

/** Characters that are converted within some 20 ms on the event loop. */
const MAX_LENGTH = 524_288;
/**
 * Values of all rows of a part. This many take up to 250 MiB. A limit on the thread's heap does not help: the engine
 * ends the whole process when one large allocation exceeds it.
 */
const MAX_VALUES = 300_000;

/** A function without state, which a thread can load. */
export interface Conversion<Result> {
  /** The URL of the module that exports `convert` under its own name. */
  readonly module: string;
  readonly convert: (rows: readonly StoredText[]) => Result;
}

interface Work {
  readonly module: string;
  readonly name: string;
  readonly rows: readonly StoredText[];
}

/** Null: the rows have too many values. */
type Message<Result> = { readonly result: Result } | null;

export class RowThread {
  /** Settles when the last conversion has ended. It has no value: a result can have megabytes. */
  #last: Promise<void> = Promise.resolve();
  #worker: Worker | null = null;
  #isStopped = false;

  /** Rejects with `request_invalid` when the rows have too many values. */
  async convert<Result>({ module, convert }: Conversion<Result>, rows: readonly StoredText[]): Promise<Result> {
    if (lengthOf(rows) <= MAX_LENGTH) return convert(rows);
    const result = this.#last.then(() => this.#inThread<Result>({ module, name: convert.name, rows }));
    this.#last = result.then(nothing, nothing);
    return result;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#worker?.terminate();
  }

  #inThread<Result>(work: Work): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isStopped) throw new ConsoleError('internal', { message: 'The console stops.' });
      const source = `import(${JSON.stringify(import.meta.url)}).then(({ convertInThread }) => convertInThread())`;
      const worker = new Worker(source, {
        eval: true,
        execArgv: [],
        env: {},
        workerData: work,
      });
      this.#worker = worker;
      worker.once('message', (message: Message<Result>) =>
        message === null ? reject(tooLong()) : resolve(message.result),
      );
      worker.once('error', reject);
      worker.once('exit', () => reject(new ConsoleError('internal', { message: 'The console stops.' })));
    });
  }
}

const nothing = (): void => undefined;

const tooLong = (): ConsoleError =>
  new ConsoleError('request_invalid', {
    message: `A record has more than ${MAX_VALUES} values, which is too many for this format.`,
    hint: 'Ask for NDJSON, or use `sluice export`.',
  });

/** Runs in the thread. */
export async function convertInThread(): Promise<void> {
  const { module, name, rows } = workerData as Work;
  const values = rows
    .flatMap(Object.values)
    .reduce((sum: number, text: string | null) => sum + valuesIn(text ?? ''), 0);
  if (values > MAX_VALUES) {
    parentPort?.postMessage(null satisfies Message<unknown>);
    return;
  }
  const exported = (await import(module)) as Readonly<Record<string, Conversion<unknown>['convert']>>;
  parentPort?.postMessage({ result: exported[name]?.(rows) } satisfies Message<unknown>);
}
