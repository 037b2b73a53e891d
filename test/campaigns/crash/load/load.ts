/**
 * Concurrent senders until `stop`: each sends the next body and retries it on 503 or without an answer. Some of these
 * bodies are given up, to test the rule for requests without a final answer as well.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../../support/generators-random.ts';
import type { Body } from './body.ts';
import type { BodyMaker } from './body-maker.ts';
import type { Status } from './journal.ts';
import type { Sender, Target } from './sender.ts';

export interface LoadOptions {
  readonly senders: number;
  readonly seed: number;
  /** Pause between two bodies of one sender. */
  readonly pauseMs: number;
  /** Percentage of retries that are given up. */
  readonly abandonPercent: number;
}

const RETRY_PAUSE_MS = 100;
/** A body that must be retried is given up after this time: the service does not recover. */
const RETRY_LIMIT_MS = 300000;
/** One body in this many is sent twice at the same time. */
const SENT_TWICE_ONE_IN = 8;

export class Load {
  readonly #maker: BodyMaker;
  readonly #sender: Sender;
  readonly #targets: readonly Target[];
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #loops: Promise<void>[] = [];
  #stopping = false;

  constructor(
    parts: { readonly maker: BodyMaker; readonly sender: Sender },
    targets: readonly Target[],
    options: LoadOptions,
  ) {
    this.#maker = parts.maker;
    this.#sender = parts.sender;
    this.#targets = targets;
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  start(): this {
    for (let index = 0; index < this.#options.senders; index++) this.#loops.push(this.#run());
    return this;
  }

  /** Resolves when every body has an answer or was given up. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const body = this.#maker.next();
      const copies = this.#random.once(SENT_TWICE_ONE_IN) ? 2 : 1;
      await Promise.all(Array.from({ length: copies }, () => this.deliver(body)));
      await pause(this.#options.pauseMs);
    }
  }

  /** Sends until the answer is final or the body is given up. */
  async deliver(body: Body): Promise<Status> {
    const end = Date.now() + RETRY_LIMIT_MS;
    for (;;) {
      const status = await this.#sender.send(body, this.#random.pick(this.#targets));
      if (status !== 'unknown' && status < 500) return status;
      if (this.#random.below(100) < this.#options.abandonPercent || Date.now() > end) return status;
      await pause(RETRY_PAUSE_MS);
    }
  }
}
