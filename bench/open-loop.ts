/**
 * A client that does not wait: requests are due at random instants of a given rate, whatever the server is doing. The time of an
 * answer counts from when its request was due, so a server that falls behind can not hide it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import type { Requests } from './requests.ts';

/** Enough that a connection is nearly always free; what waits for one is late, and counts as late. */
const MOST_CONNECTIONS = 1024;
const ANSWER_TIMEOUT_MS = 30_000;
export interface Outcome {
  readonly status: number;
  /** From the instant the request was due. */
  readonly ms: number;
  readonly hasRetryAfter: boolean;
}

export interface Target {
  readonly url: string;
  readonly key: string;
  readonly requests: Requests;
}

export class OpenLoop {
  readonly #agent = new Agent({
    connections: MOST_CONNECTIONS,
    pipelining: 1,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  /** As fast as `connections` can, one after the other; stored requests a second. Who is refused for load tries the next. */
  async peak(connections: number, milliseconds: number): Promise<number> {
    const started = performance.now();
    let answered = 0;
    const loop = async (): Promise<void> => {
      while (performance.now() - started < milliseconds) {
        const { status } = await this.#send(performance.now());
        if (status === 200) answered++;
        else if (status !== 503) throw new Error(`status ${status} while looking for the peak`);
      }
    };
    await Promise.all(Array.from({ length: connections }, loop));
    return (answered * 1000) / (performance.now() - started);
  }

  /** At random instants, so many a second on average. */
  async at(perSecond: number, milliseconds: number): Promise<readonly Outcome[]> {
    const pending: Promise<Outcome>[] = [];
    const started = performance.now();
    for (let due = started; due < started + milliseconds; due += (-Math.log(1 - Math.random()) * 1000) / perSecond) {
      const wait = due - performance.now();
      if (wait > 1) await pause(wait);
      pending.push(this.#send(due));
    }
    return Promise.all(pending);
  }

  /** One request, now. */
  one(): Promise<Outcome> {
    return this.#send(performance.now());
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #send(due: number): Promise<Outcome> {
    const { url, key, requests } = this.#target;
    const request: Dispatcher.RequestOptions = {
      origin: url,
      path: '/v1/traces',
      method: 'POST',
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': requests.contentEncoding,
        authorization: `Bearer ${key}`,
      },
      body: requests.next(),
    };
    try {
      const answer = await this.#agent.request(request);
      await answer.body.dump();
      const ms = performance.now() - due;
      return { status: answer.statusCode, ms, hasRetryAfter: answer.headers['retry-after'] !== undefined };
    } catch {
      return { status: 0, ms: performance.now() - due, hasRetryAfter: false };
    }
  }
}
