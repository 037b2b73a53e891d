/** One permutation of a story on its way: shuffled, cut into requests, with spans that come again and bodies sent twice. */
import type { Random } from '../../support/generators-random.ts';
import type { StoryRecord, StorySignal } from './story.ts';
import { aLogRequest, aMetricRequest, aTraceRequest } from '../../support/payloads.ts';

export interface Delivery {
  readonly signal: StorySignal;
  readonly body: string;
}

const SIGNALS: readonly StorySignal[] = ['traces', 'logs', 'metrics'];
const REQUESTS = { traces: aTraceRequest, logs: aLogRequest, metrics: aMetricRequest } as const;
/** One span in so many comes again in other bytes, one request in so many in the same. */
const REPEATED_SPANS = 4;
const REPEATED_BODIES = 5;

/** In the order in which they are to be sent. A log record or a data point never comes again in other bytes: it has no identity. */
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

/** Never twice the same by chance, which would be a replay: two equal log records in two requests are two records. */
function bodyOf(signal: StorySignal, records: readonly object[], random: Random): string {
  return JSON.stringify({ nonce: random.next(), ...REQUESTS[signal](records) });
}
