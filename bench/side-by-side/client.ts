/** The one client all servers get: gzip OTLP/HTTP over kept connections, in a closed loop or at a fixed rate. */
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';

const CONNECTIONS = 16;
/** Field 1000 of the request, which no message has: receivers skip it. */
const UNKNOWN_FIELD = Buffer.from([0xc2, 0x3e]);
const STAMP_BYTES = 8;

export interface Load {
  readonly name: string;
  readonly path: string;
  /** Compressed. */
  readonly bodies: readonly Buffer[];
  /** In each of the bodies. */
  readonly spans: number;
}

export interface Run {
  readonly requests: number;
  readonly spans: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

let stamps = 0n;

/** No two requests are the same bytes, or a server that recognises what it has stored would have nothing to do. */
function stamped(body: Buffer): Buffer {
  const stamp = Buffer.alloc(UNKNOWN_FIELD.length + 1 + STAMP_BYTES);
  UNKNOWN_FIELD.copy(stamp);
  stamp[UNKNOWN_FIELD.length] = STAMP_BYTES;
  stamp.writeBigUInt64BE(stamps++, UNKNOWN_FIELD.length + 1);
  // A gzip body may have several members, and a protobuf message may be put together from pieces.
  return Buffer.concat([gzipSync(stamp), body]);
}

export class Client {
  readonly #pool: Pool;
  readonly #key: string;
  #turn = 0;

  constructor(origin: string, key: string) {
    this.#pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
    this.#key = key;
  }

  /** As many as the server answers, until it is enough. */
  async saturate(load: Load, isEnough: () => boolean): Promise<Run> {
    const started = performance.now();
    const latenciesMs: number[] = [];
    const loop = async (): Promise<void> => {
      while (!isEnough()) latenciesMs.push(await this.#send(load));
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, loop));
    return runOf(load, latenciesMs, started);
  }

  /** Every body once. */
  async once(load: Load): Promise<Run> {
    const started = performance.now();
    const latenciesMs: number[] = [];
    let next = 0;
    const loop = async (): Promise<void> => {
      for (let index = next++; index < load.bodies.length; index = next++) {
        latenciesMs.push(await this.#post(load.path, load.bodies[index] as Buffer));
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, loop));
    return runOf(load, latenciesMs, started);
  }

  /** At a rate of its own; an answer's time counts from when the request was due. */
  async pace(load: Load, { perSecond, milliseconds }: { readonly perSecond: number; readonly milliseconds: number }) {
    const started = performance.now();
    const pending: Promise<number>[] = [];
    for (let due = started; due < started + milliseconds; due += 1000 / perSecond) {
      const wait = due - performance.now();
      if (wait > 0) await pause(wait);
      const late = Math.max(0, performance.now() - due);
      pending.push(this.#send(load).then((elapsed) => elapsed + late));
    }
    return runOf(load, await Promise.all(pending), started);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #send(load: Load): Promise<number> {
    return this.#post(load.path, load.bodies[this.#turn++ % load.bodies.length] as Buffer);
  }

  async #post(path: string, body: Buffer): Promise<number> {
    const started = performance.now();
    const headers = {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      authorization: `Bearer ${this.#key}`,
    };
    const answer = await this.#pool.request({ method: 'POST', path, headers, body: stamped(body) });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text}`);
    return performance.now() - started;
  }
}

function runOf(load: Load, latenciesMs: readonly number[], started: number): Run {
  const seconds = (performance.now() - started) / 1000;
  return { requests: latenciesMs.length, spans: latenciesMs.length * load.spans, seconds, latenciesMs };
}
