/** The requests of one permutation of a story: shuffled, with some spans sent again and some bodies sent twice. */
import type { Random } from '../../support/generators-random.ts';
import type { StoryRecord, StorySignal } from './story.ts';
import { aLogRequest, aMetricRequest, aTraceRequest } from '../../support/payloads.ts';

export interface Delivery {
  readonly signal: StorySignal;
  readonly body: string;
}

const SIGNALS: readonly StorySignal[] = ['traces', 'logs', 'metrics'];
const REQUESTS = { traces: aTraceRequest, logs: aLogRequest, metrics: aMetricRequest } as const;
/** One in this many spans is sent again in other bytes, one in this many requests in the same bytes. */
const REPEATED_SPANS = 4;
const REPEATED_BODIES = 5;

/**
 * The requests in the order to send them. Log records and data points have no identity, so they are not sent again in
 * other bytes.
 */
export function deliver(records: readonly StoryRecord[], random: Random): readonly Delivery[] {
  const deliveries: Delivery[] = [];
  for (const signal of SIGNALS) {
    const own = records.filter((record) => record.signal === signal).map(({ json }) => json);
    const again = signal === 'traces' ? own.filter(() => random.once(REPEATED_SPANS)) : [];
    const bodies = [...cut(own, random), ...cut(again, random)].map((part) => bodyOf(signal, part, random));
    const repeated = bodies.filter(() => random.once(REPEATED_BODIES));
    deliveries.push(...[...bodies, ...repeated].map((body) => ({ signal, body })));
  }
  return random.shuffle(deliveries);
}

function cut(records: readonly object[], random: Random): (readonly object[])[] {
  const parts: (readonly object[])[] = [];
  const shuffled = random.shuffle(records);
  while (shuffled.length > 0) parts.push(shuffled.splice(0, 1 + random.below(4)));
  return parts;
}

/**
 * No two bodies are equal by chance, which would be a replay: two equal log records in two requests are two records.
 */
function bodyOf(signal: StorySignal, records: readonly object[], random: Random): string {
  return JSON.stringify({ nonce: random.next(), ...REQUESTS[signal](records) });
}
