/**
 * The one client that all servers get: OTLP/HTTP over kept connections, in a closed loop or at a rate of its own. At a rate it does
 * not wait for the server: the time of an answer counts from when its request was due, so a server that falls behind can not hide it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Requests } from './requests.ts';

/** Enough that a connection is always free, at twice the peak for a second too: what waits for one is late, and counts as late. */
const MOST_CONNECTIONS = 4096;
/** Of a request that was refused early a part may still be on its way, for less than this. */
const REFUSED_BODY_MS = 1000;
const ANSWER_TIMEOUT_MS = 30_000;

export interface Outcome {
  /** Of HTTP; 0 when there was no answer. */
  readonly status: number;
  /** When the request was due, by `performance.now`. */
  readonly due: number;
  /** From the instant the request was due. */
  readonly ms: number;
  readonly hasRetryAfter: boolean;
}

export interface Rate {
  readonly perSecond: number;
  readonly milliseconds: number;
  /** Every so often, rather than at random instants. */
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

  /** So many a second on average, whatever the server is doing. */
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

  /** One request, now. */
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
