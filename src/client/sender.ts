/** Serializes, compresses and sends the records of one signal. The exporters of all signals share it. */
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { diag } from '@opentelemetry/api';
import { type Remainder } from './blocking-send.ts';
import { type Clock } from './clock.ts';
import { type Connection, urlOf } from './connection.ts';
import { asError, ExportFailure } from './failure.ts';
import { Transport } from './transport.ts';

/** The contract's limits of a request (Limits), in bytes. */
const MAX_COMPRESSED_BYTES = 4 * 1024 * 1024;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** The result of an export: the values of `ExportResultCode`. */
const SUCCESS = 0;
const FAILED = 1;

export type Compression = 'gzip' | 'none';
export type Signal = 'traces' | 'logs' | 'metrics';
export interface Result {
  readonly code: 0 | 1;
  readonly error?: Error;
}
export type Done = (result: Result) => void;

export interface SenderOptions<T> {
  readonly signal: Signal;
  readonly connection: Connection | undefined;
  readonly compression: Compression;
  /** For one export with all its attempts, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly serialize: (records: readonly T[]) => Uint8Array | undefined;
}

const compress = promisify(gzip);

export class Sender<T> {
  readonly #options: SenderOptions<T>;
  readonly #transport: Transport | undefined;
  readonly #running = new Set<Promise<void>>();
  #isOpen = true;

  constructor(options: SenderOptions<T>) {
    this.#options = options;
    const { connection, signal, clock } = options;
    // Metrics are sent once a minute. An idle connection would be closed by then, and a closed connection is found by a
    // failed attempt, which DELTA batches cannot repeat.
    const keepAlive = signal !== 'metrics';
    this.#transport =
      connection && new Transport({ url: urlOf(connection, signal), key: connection.key, clock, keepAlive });
  }

  /** Never throws. `repeatable` is false for what would count twice. */
  export(records: readonly T[], done: Done, repeatable = true): void {
    const task = this.#send(records, repeatable).then(
      () => done({ code: SUCCESS }),
      (error: unknown) => done({ code: FAILED, error: asError(error) }),
    );
    const running = task.catch((error: unknown) => diag.error('sluice: the callback of an export failed', error));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Waits for the exports that have begun. */
  async flush(): Promise<void> {
    await Promise.all(this.#running);
  }

  async shutdown(): Promise<void> {
    this.#isOpen = false;
    await this.flush();
    this.#transport?.close();
  }

  /** The requests for the batches, for another thread. What is too large for a request is left out. */
  remainderOf(batches: readonly (readonly T[])[]): Remainder | undefined {
    const { connection, signal } = this.#options;
    if (connection === undefined || batches.length === 0) return undefined;
    return {
      url: urlOf(connection, signal).href,
      key: connection.key,
      bodies: batches.flatMap((batch) => this.#bodiesOf(batch)),
    };
  }

  #bodiesOf(records: readonly T[]): Remainder['bodies'] {
    const plain = this.#options.serialize(records);
    if (plain !== undefined && plain.length <= MAX_BODY_BYTES) {
      const body = this.#encoding === 'gzip' ? gzipSync(plain) : plain;
      if (body.length <= MAX_COMPRESSED_BYTES) return [{ body, encoding: this.#encoding }];
    }
    return records.length < 2 ? [] : halvesOf(records).flatMap((half) => this.#bodiesOf(half));
  }

  get #encoding(): 'gzip' | 'identity' {
    return this.#options.compression === 'gzip' ? 'gzip' : 'identity';
  }

  async #send(records: readonly T[], repeatable: boolean): Promise<void> {
    if (!this.#isOpen) throw new ExportFailure('the exporter is shut down', { reason: 'shut down' });
    if (this.#transport === undefined)
      throw new ExportFailure('there is no usable key or endpoint', { reason: 'no key' });
    // The server refuses a request without records.
    if (records.length === 0) return;
    const deadline = this.#options.clock.monotonicMs() + this.#options.timeoutMs;
    await this.#sendWithin(this.#transport, records, { repeatable, deadline });
  }

  async #sendWithin(
    transport: Transport,
    records: readonly T[],
    limits: { readonly repeatable: boolean; readonly deadline: number },
  ): Promise<void> {
    const plain = this.#options.serialize(records);
    if (plain === undefined) throw new ExportFailure('the records cannot be serialized', { reason: 'serialization' });
    const encoding = this.#encoding;
    if (plain.length <= MAX_BODY_BYTES) {
      // Compressed once, because every attempt must send the same bytes: the server recognizes a repetition by them.
      const body = encoding === 'gzip' ? await compress(plain) : plain;
      if (body.length <= MAX_COMPRESSED_BYTES) return transport.send({ body, encoding, ...limits });
    }
    if (records.length === 1) throw new ExportFailure('one record is larger than a request may be', { reason: 'size' });
    let failure: unknown;
    let lost = 0;
    for (const half of halvesOf(records)) {
      try {
        await this.#sendWithin(transport, half, limits);
      } catch (error) {
        failure = error;
        lost += (error instanceof ExportFailure ? error.lost : undefined) ?? half.length;
      }
    }
    if (failure !== undefined) throw partOf(failure, lost);
  }
}

function halvesOf<T>(records: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(records.length / 2);
  return [records.slice(0, middle), records.slice(middle)];
}

/** The failure of a part of a batch. */
function partOf(failure: unknown, lost: number): ExportFailure {
  const error = asError(failure);
  return new ExportFailure(error.message, { reason: error instanceof ExportFailure ? error.reason : 'error', lost });
}
