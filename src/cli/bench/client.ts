/**
 * The client for all servers: OTLP/HTTP over persistent connections, in a closed loop or at a fixed rate (open loop).
 * At a rate it does not wait for the server: the time of an answer counts from the time its request was due, which
 * avoids coordinated omission.
 */
import { setImmediate as otherWork, setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Requests } from './requests.ts';

/** Enough for twice the peak for a second. */
const MOST_CONNECTIONS = 4096;
/** Requests that wait for a connection. At a rate beyond all capacity they would otherwise fill the memory. */
const MOST_WAITING = 10_000;
/** After a load, waiting requests are still sent for this part of its time: a short delay at the end loses none. */
const DRAIN_SHARE = 0.05;
/** A generator that is behind its rate handles answers and signals after so many requests. */
const REQUESTS_AT_ONCE = 1000;
/** A sender in a closed loop waits after a failure, so that it does not send failing requests as fast as it can. */
const FAILURE_PAUSE_MS = 50;
/** The status of a request without an answer. */
export const NO_ANSWER = 0;
/** The status of a request that found no connection until the load and its drain were over. */
export const NOT_SENT = -1;
/** After an early refusal a part of the request may still be in transit, for less than this time. */
const REFUSED_BODY_MS = 1000;
const ANSWER_TIMEOUT_MS = 30_000;

export interface Outcome {
  /** The HTTP status, `NO_ANSWER` or `NOT_SENT`. */
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
  /** Ends the load early. */
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** The most open connections. */
  readonly connections?: number;
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export class Client {
  readonly #agent: Agent;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #freeConnections: number;
  readonly #waiting: (() => void)[] = [];

  /** `endpoint` is that of OTLP/HTTP, which may have a path. */
  constructor(endpoint: string, key: string, { connections = MOST_CONNECTIONS, headers = {} }: ClientOptions = {}) {
    this.#agent = new Agent({
      connections,
      pipelining: 1,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    this.#url = new URL(`${endpoint}/v1/traces`);
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-protobuf', ...headers };
    this.#freeConnections = connections;
  }

  /** As fast as `connections` can, one request after the other, until it is enough. */
  async closedLoop(requests: Requests, connections: number, isEnough: () => boolean): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    const loop = async (): Promise<void> => {
      while (!isEnough()) {
        const outcome = await this.one(requests);
        outcomes.push(outcome);
        if (outcome.status !== 200 && outcome.status !== 503) await pause(FAILURE_PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: connections }, loop));
    return outcomes;
  }

  /** Stored requests a second in a closed loop. */
  async peak(requests: Requests, connections: number, milliseconds: number): Promise<number> {
    const started = performance.now();
    const outcomes = await this.closedLoop(requests, connections, () => performance.now() - started >= milliseconds);
    const failed = outcomes.find(({ status }) => status !== 200 && status !== 503);
    if (failed !== undefined) throw new Error(`status ${failed.status} under load`);
    const stored = outcomes.filter(({ status }) => status === 200).length;
    return (stored * 1000) / (performance.now() - started);
  }

  /**
   * An open loop of as many requests as the rate has in this time, at random times, and until its end. A request that
   * finds no free connection waits for one, and is not sent when `DRAIN_SHARE` of the time after the end is over. At
   * most `MOST_WAITING` wait.
   */
  async atRate(requests: Requests, rate: Rate): Promise<readonly Outcome[]> {
    const { perSecond, milliseconds, isEven = false, signal } = rate;
    const pending: Promise<Outcome>[] = [];
    const started = performance.now();
    const end = started + milliseconds;
    const isAborted = (): boolean => signal?.aborted === true;
    const isOver = (): boolean => performance.now() >= end || isAborted();
    const drained = end + milliseconds * DRAIN_SHARE;
    const isDrained = (): boolean => performance.now() >= drained || isAborted();
    const until = (time: number): Promise<void> =>
      pause(Math.max(0, time - performance.now()), undefined, { ...(signal && { signal }) }).catch(() => undefined);
    const count = Math.max(1, Math.round((perSecond * milliseconds) / 1000));
    let due = started;
    let late = 0;
    for (let sent = 0; sent < count; sent += 1) {
      // The next of the remaining times, each of which is equally likely in the remaining time.
      if (isEven) due = started + (sent * 1000) / perSecond;
      else due += (end - due) * (1 - Math.random() ** (1 / (count - sent)));
      if (due - performance.now() > 1) await until(due);
      else if (sent % REQUESTS_AT_ONCE === 0) await otherWork();
      while (this.#waiting.length >= MOST_WAITING && !isOver()) await pause(1);
      // A generator that is behind makes a part of its last requests after the end.
      if (isOver()) late += 1;
      if (isAborted() || late > MOST_WAITING) break;
      pending.push(this.#sendWhenFree(requests, due, isDrained));
    }
    // A timer counts from the start of the iteration of the event loop that sets it, so it can end early.
    while (!isOver()) await until(end);
    return Promise.all(pending);
  }

  /** Sends one request at once. */
  one(requests: Requests): Promise<Outcome> {
    return this.#send(requests, performance.now());
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #sendWhenFree(requests: Requests, due: number, isDrained: () => boolean): Promise<Outcome> {
    const isFree = this.#freeConnections > 0;
    if (isFree) this.#freeConnections--;
    else await new Promise<void>((wake) => void this.#waiting.push(wake));
    try {
      if (isFree || !isDrained()) return await this.#send(requests, due);
      return { status: NOT_SENT, due, ms: performance.now() - due, hasRetryAfter: false };
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#freeConnections++;
      else next();
    }
  }

  async #send(requests: Requests, due: number): Promise<Outcome> {
    const body = requests.next();
    try {
      const answer = await this.#agent.request({
        origin: this.#url.origin,
        path: this.#url.pathname,
        method: 'POST',
        headers: { ...this.#headers, 'content-encoding': requests.contentEncoding },
        body,
      });
      await answer.body.dump();
      const ms = performance.now() - due;
      if (answer.statusCode === 200) requests.done(body);
      else setTimeout(() => requests.done(body), REFUSED_BODY_MS).unref();
      return { status: answer.statusCode, due, ms, hasRetryAfter: answer.headers['retry-after'] !== undefined };
    } catch {
      return { status: NO_ANSWER, due, ms: performance.now() - due, hasRetryAfter: false };
    }
  }
}
