/**
 * The client for all servers: OTLP/HTTP over persistent connections, in a closed loop or at a fixed rate (open loop).
 * At a rate it does not wait for the server: the time of an answer counts from the time its request was due, which
 * avoids coordinated omission.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Requests } from './requests.ts';

/** Enough connections for twice the peak for a second. A request that waits for a connection counts as late. */
const MOST_CONNECTIONS = 4096;
/** After an early refusal a part of the request may still be in transit, for less than this time. */
const REFUSED_BODY_MS = 1000;
const ANSWER_TIMEOUT_MS = 30_000;

export interface Outcome {
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The time at which the request was due, by `performance.now`. */
  readonly due: number;
  /** Milliseconds since the request was due. */
  readonly ms: number;
  readonly hasRetryAfter: boolean;
}

export interface Rate {
  readonly perSecond: number;
  readonly milliseconds: number;
  /** At fixed intervals instead of random ones. */
  readonly isEven?: boolean;
}

export class Client {
  readonly #agent = new Agent({
    connections: MOST_CONNECTIONS,
    pipelining: 1,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  readonly #origin: string;
  readonly #key: string;

  constructor(origin: string, key: string) {
    this.#origin = origin;
    this.#key = key;
  }

  /** As fast as `connections` can, one after the other, until it is enough. Who is refused for load tries the next. */
  async closedLoop(requests: Requests, connections: number, isEnough: () => boolean): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    const loop = async (): Promise<void> => {
      while (!isEnough()) {
        const outcome = await this.one(requests);
        if (outcome.status !== 200 && outcome.status !== 503) throw new Error(`status ${outcome.status} under load`);
        outcomes.push(outcome);
      }
    };
    await Promise.all(Array.from({ length: connections }, loop));
    return outcomes;
  }

  /** Stored requests a second in a closed loop. */
  async peak(requests: Requests, connections: number, milliseconds: number): Promise<number> {
    const started = performance.now();
    const outcomes = await this.closedLoop(requests, connections, () => performance.now() - started >= milliseconds);
    const stored = outcomes.filter(({ status }) => status === 200).length;
    return (stored * 1000) / (performance.now() - started);
  }

  /** An open loop with this average rate. */
  async atRate(requests: Requests, { perSecond, milliseconds, isEven = false }: Rate): Promise<readonly Outcome[]> {
    const pending: Promise<Outcome>[] = [];
    const started = performance.now();
    const gap = (): number => (isEven ? 1 : -Math.log(1 - Math.random())) * (1000 / perSecond);
    for (let due = started; due < started + milliseconds; due += gap()) {
      const wait = due - performance.now();
      if (wait > 1) await pause(wait);
      pending.push(this.#send(requests, due));
    }
    return Promise.all(pending);
  }

  /** Sends one request at once. */
  one(requests: Requests): Promise<Outcome> {
    return this.#send(requests, performance.now());
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #send(requests: Requests, due: number): Promise<Outcome> {
    const body = requests.next();
    try {
      const answer = await this.#agent.request({
        origin: this.#origin,
        path: '/v1/traces',
        method: 'POST',
        headers: {
          'content-type': 'application/x-protobuf',
          'content-encoding': requests.contentEncoding,
          authorization: `Bearer ${this.#key}`,
        },
        body,
      });
      await answer.body.dump();
      const ms = performance.now() - due;
      if (answer.statusCode === 200) requests.done(body);
      else setTimeout(() => requests.done(body), REFUSED_BODY_MS).unref();
      return { status: answer.statusCode, due, ms, hasRetryAfter: answer.headers['retry-after'] !== undefined };
    } catch {
      return { status: 0, due, ms: performance.now() - due, hasRetryAfter: false };
    }
  }
}
