/**
 * Sends requests while the calling thread is blocked. A process that a signal ends works while its telemetry is sent,
 * and what it records during the last request would be lost. A blocked thread records nothing.
 */
import { Worker, workerData } from 'node:worker_threads';
import { SYSTEM_CLOCK } from './clock.ts';
import { Transport } from './transport.ts';

/** The requests of one signal. */
export interface Remainder {
  readonly url: string;
  readonly key: string;
  readonly bodies: readonly { readonly body: Uint8Array; readonly encoding: 'gzip' | 'identity' }[];
}

interface Order {
  readonly remainders: readonly Remainder[];
  readonly limitMs: number;
  /** One integer: a `STATE_…`. */
  readonly state: Int32Array;
}

const STATE_WAITING = 0;
const STATE_SENT = 1;
const STATE_FAILED = 2;

/** True when everything was stored within the limit. The calling thread waits meanwhile. */
export function sendBlocking(remainders: readonly Remainder[], limitMs: number): boolean {
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const order: Order = { remainders, limitMs, state };
  const source = `import(${JSON.stringify(import.meta.url)}).then(({ sendInWorker }) => sendInWorker())`;
  // Without the arguments and the variables of the application, which may load its instrumentation.
  const worker = new Worker(source, { eval: true, workerData: order, execArgv: [], env: {} });
  worker.on('error', () => undefined);
  Atomics.wait(state, 0, STATE_WAITING, limitMs);
  return Atomics.load(state, 0) === STATE_SENT;
}

/** Runs in the worker of `sendBlocking`. It stops at the first failure, because the server is probably unavailable. */
export async function sendInWorker(): Promise<void> {
  const { remainders, limitMs, state }: Order = workerData;
  const deadline = SYSTEM_CLOCK.monotonicMs() + limitMs;
  const send = async ({ url, key, bodies }: Remainder): Promise<void> => {
    const transport = new Transport({ url: new URL(url), key, clock: SYSTEM_CLOCK, keepAlive: true });
    for (const body of bodies) await transport.send({ ...body, repeatable: true, deadline });
  };
  const results = await Promise.allSettled(remainders.map(send));
  Atomics.store(state, 0, results.every(({ status }) => status === 'fulfilled') ? STATE_SENT : STATE_FAILED);
  Atomics.notify(state, 0);
}
