/**
 * Small stories of an AI application: some spans, log records and data points with every relation in which the order of
 * arrival could matter. Values are from small sets, so that ties are frequent.
 */
import { aSpan, attributes } from '../../support/payloads.ts';
import type { Random } from '../../support/generators-random.ts';
import { DAY_NS } from '../../../src/pdata/time-units.ts';

type Values = Readonly<Record<string, string | number>>;

export type StorySignal = 'traces' | 'logs' | 'metrics';

/** One span, log record or metric of a request. */
export interface StoryRecord {
  readonly signal: StorySignal;
  readonly json: object;
}

/** The last digit of a trace id. The first eight digits are the permutation. */
const TRACES = ['a', 'b', 'c'] as const;
const MODELS = ['gpt-5-mini', 'claude-sonnet-4-5', 'a-model-without-a-price'] as const;
const RESPONSES = ['resp-1', 'resp-2'] as const;
const CONVERSATIONS = ['talk-1', 'talk-2'] as const;
const USERS = ['ada', 'bob'] as const;
const TOKENS = [0, 10, 10, 250] as const;
const MAX_SPANS = 6;

export class Story {
  readonly #random: Random;
  readonly #nowNs: bigint;

  /** `nowMs` places most spans into the days that have partitions. */
  constructor(random: Random, nowMs: number) {
    this.#random = random;
    this.#nowNs = BigInt(nowMs) * 1_000_000n;
  }

  /** Returns a function that makes the records with the trace ids of one permutation. */
  tell(): (prefix: string) => readonly StoryRecord[] {
    const random = this.#random;
    const parts: ((prefix: string) => StoryRecord)[] = [];
    for (const trace of TRACES.slice(0, 1 + random.below(TRACES.length))) {
      parts.push(...this.#spans(trace), ...this.#logs(trace));
    }
    for (let count = random.below(3); count > 0; count--) parts.push(this.#log(null));
    for (let index = random.below(3); index > 0; index--) parts.push(this.#metric(index));
    return (prefix) => parts.map((part) => part(prefix));
  }

  /** Usually a tree; sometimes with two roots, without a root, or with a parent that is never sent. */
  #spans(trace: string): ((prefix: string) => StoryRecord)[] {
    const random = this.#random;
    const count = random.once(4) ? 0 : 1 + random.below(MAX_SPANS);
    // Some senders use one id for two spans that begin at different times.
    const ids = Array.from({ length: count }, (_, index) => spanIdOf(random.once(10) ? random.below(count) : index));
    return ids.map((spanId, index) => {
      const parent = this.#parentOf(index, ids);
      // Spans with the same id and start are the same span, of which the first is kept, so the starts differ.
      const start = this.#time() + BigInt(ids.indexOf(spanId) === index ? 0 : index);
      const sketch = {
        spanId,
        ...(parent === null ? {} : { parentSpanId: parent }),
        name: `${trace} ${index % 2}`,
        start,
        end: start + BigInt(random.below(3)) * 1_000_000n,
        attributes: this.#span(),
      };
      const status = random.once(4) ? { status: { code: 2, message: 'broken' } } : {};
      return (prefix) => ({
        signal: 'traces',
        json: { ...aSpan({ ...sketch, traceId: traceIdOf(prefix, trace) }), ...status },
      });
    });
  }

  #parentOf(index: number, ids: readonly string[]): string | null {
    if (index === 0 || this.#random.once(5)) return null;
    return this.#random.once(6) ? spanIdOf(MAX_SPANS) : (ids[this.#random.below(index)] ?? null);
  }

  #span(): Values {
    const random = this.#random;
    if (random.once(4)) return this.#identity();
    const operation = random.pick(['chat', 'chat', 'invoke_agent', 'execute_tool', 'embeddings'] as const);
    const usage = operation === 'execute_tool' ? { 'gen_ai.tool.name': 'search' } : this.#usage();
    return { 'gen_ai.operation.name': operation, ...usage, ...this.#identity() };
  }

  #usage(): Values {
    const random = this.#random;
    return {
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': random.pick(MODELS),
      'gen_ai.usage.input_tokens': random.pick(TOKENS),
      ...(random.once(3) ? {} : { 'gen_ai.usage.output_tokens': random.pick(TOKENS) }),
      ...(random.once(2) ? { 'gen_ai.response.id': random.pick(RESPONSES) } : {}),
    };
  }

  #identity(): Values {
    const random = this.#random;
    return {
      ...(random.once(2) ? { 'gen_ai.conversation.id': random.pick(CONVERSATIONS) } : {}),
      ...(random.once(3) ? { 'user.id': random.pick(USERS) } : {}),
    };
  }

  #logs(trace: string): ((prefix: string) => StoryRecord)[] {
    return Array.from({ length: this.#random.below(4) }, () => this.#log(trace));
  }

  /** Some log records report usage, as some senders do in addition to the span or instead of it. */
  #log(trace: string | null): (prefix: string) => StoryRecord {
    const random = this.#random;
    const time = this.#time();
    const usage = random.once(3) ? {} : { 'gen_ai.operation.name': 'chat', ...this.#usage(), ...this.#identity() };
    const json = {
      ...(random.once(6) ? {} : { timeUnixNano: String(time) }),
      observedTimeUnixNano: String(time),
      ...('gen_ai.operation.name' in usage ? { eventName: 'gen_ai.client.inference.operation.details' } : {}),
      body: { stringValue: random.pick(['hello', 'world']) },
      attributes: attributes(usage),
      ...(trace !== null && random.once(2) ? { spanId: spanIdOf(random.below(MAX_SPANS)) } : {}),
    };
    return (prefix) => ({
      signal: 'logs',
      json: trace === null ? json : { ...json, traceId: traceIdOf(prefix, trace) },
    });
  }

  #metric(index: number): (prefix: string) => StoryRecord {
    const time = String(this.#time());
    const value = this.#random.below(5);
    const json = { name: `queue ${index}`, gauge: { dataPoints: [{ timeUnixNano: time, asInt: String(value) }] } };
    return () => ({ signal: 'metrics', json });
  }

  /** Often the same time, usually today; sometimes from a clock that is years wrong. */
  #time(): bigint {
    const random = this.#random;
    if (random.once(12)) return random.pick([1n, 86_400_000_000_001n, 4_102_444_800_000_000_000n] as const);
    return this.#nowNs - BigInt(random.below(3)) * DAY_NS - BigInt(random.below(2)) * 1_000_000n;
  }
}

const spanIdOf = (index: number): string => `00000000000000${(index + 1).toString(16).padStart(2, '0')}`;

export const PREFIX_DIGITS = 8;
const traceIdOf = (prefix: string, trace: string): string => prefix + trace.padStart(32 - PREFIX_DIGITS, '0');
