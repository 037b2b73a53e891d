/**
 * The telemetry of `sluice demo --scale`: some services with users, conversations, errors, tools, logs and metrics over
 * a time. It is cut into slots of five minutes of the clock. A slot has the same content, ids and bytes in every run
 * with the same seed, so a repeated run stores its spans once. One slot is made at a time.
 */
import { Dice } from './dice.ts';
import { type Attributes, attributesOf, type DemoRequest, INTERNAL, spanOf } from './otlp.ts';
import { CASE_MS, CASE_SPANS, makeCase, makeStory, type Story, type StoryStep, type Visitor } from './stories.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, MS_NS } from '../../pdata/time-units.ts';

const SLOT_MS = 5 * MINUTE_MS;

export const SCALES: ReadonlyMap<string, number> = new Map([
  ['hour', HOUR_MS],
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
]);

/** The evaluation of each night: one trace of 10,000 spans, in requests of ten cases. */
const EVALUATION_AT_MS = 2 * HOUR_MS;
const CASES = 101;
const CASES_OF_A_REQUEST = 10;
export const LARGE_TRACE_SPANS = 1 + CASES * CASE_SPANS;

/** Cases overlap. */
const LONGEST_CASE_MS = 15_000;

/** Traces of a slot: the least at night, the most in the afternoon. */
const [QUIETEST, BUSIEST] = [2, 8];
/** A trace ends within its slot. */
const LONGEST_TRACE_MS = MINUTE_MS;
const USERS: readonly [string, ...string[]] = [
  ...(['ada', 'alan', 'barbara', 'donald', 'edsger', 'frances', 'grace', 'hedy', 'john', 'katherine'] as const),
  ...(['ken', 'leslie', 'margaret', 'mary', 'niklaus', 'radia', 'shafi', 'sophie', 'tony', 'whitfield'] as const),
];
/** A user stays in a conversation for this long. */
const CONVERSATION_MS = 2 * HOUR_MS;

export interface DayOptions {
  readonly nowMs: number;
  readonly lengthMs: number;
  readonly environment: string;
  readonly seed: string;
}

export interface DayPart {
  readonly request: DemoRequest;
  readonly spans: number;
  readonly logs: number;
  readonly points: number;
  readonly traces: readonly string[];
  /** The trace of 10,000 spans, in its first request. */
  readonly largeTrace: string | null;
  /** Begin of the slot, and the share of the time that is sent with it. */
  readonly atMs: number;
  readonly share: number;
}

export function* makeDay(options: DayOptions): Generator<DayPart> {
  const until = Math.floor(options.nowMs / SLOT_MS) * SLOT_MS;
  const from = until - options.lengthMs;
  for (let atMs = from; atMs < until; atMs += SLOT_MS) {
    const place = { atMs, share: (atMs + SLOT_MS - from) / options.lengthMs };
    for (const part of makeSlot(options, atMs)) yield { ...NOTHING, ...place, ...part };
  }
}

const NOTHING = { spans: 0, logs: 0, points: 0, traces: [], largeTrace: null };
type SlotPart = Partial<DayPart> & Pick<DayPart, 'request'>;

function* makeSlot({ seed, environment }: DayOptions, atMs: number): Generator<SlotPart> {
  const dice = new Dice(`${seed} ${environment} ${atMs}`);
  const day = (atMs % DAY_MS) / DAY_MS;
  const wave = (1 - Math.cos(2 * Math.PI * (day - 4 / 24))) / 2;
  const count = Math.round(QUIETEST + (BUSIEST - QUIETEST) * wave) + dice.between(-1, 1);
  const stories = Array.from({ length: count }, () =>
    makeStory(dice, dice.between(0, SLOT_MS - LONGEST_TRACE_MS), visitorAt(dice, atMs)),
  );
  const slot: Slot = { atMs, environment };
  yield tracesOf(slot, stories);
  yield logsOf(slot, stories);
  yield metricsOf(slot, stories);
  if (atMs % DAY_MS === EVALUATION_AT_MS) yield* evaluate(slot, dice);
}

function visitorAt(dice: Dice, atMs: number): Visitor {
  const user = dice.pick(USERS);
  return { user, conversation: `${user}-${Math.floor(atMs / CONVERSATION_MS)}` };
}

interface Slot {
  readonly atMs: number;
  readonly environment: string;
}

const clockOf =
  (slot: Slot, fromMs: number) =>
  (ms: number): string =>
    String(BigInt(slot.atMs + fromMs + ms) * MS_NS);

const resourceOf = ({ environment }: Slot, service: string): object => ({
  attributes: attributesOf({
    'service.name': service,
    'deployment.environment.name': environment,
    'host.name': `${service}-1`,
  }),
});

const SCOPE = { name: 'sluice.demo', version: '1' };

/** The items by their service, each service with its resource. */
function byService<Item>(
  slot: Slot,
  items: readonly (readonly [service: string, Item])[],
  wrap: (resource: object, items: readonly Item[]) => object,
): readonly object[] {
  const services = new Map<string, Item[]>();
  for (const [service, item] of items) services.set(service, [...(services.get(service) ?? []), item]);
  return [...services].map(([service, list]) => wrap(resourceOf(slot, service), list));
}

function tracesOf(slot: Slot, stories: readonly Story[]): SlotPart {
  const spans = stories.flatMap(({ traceId, from, steps }) =>
    steps.map((step) => [step.service, spanOf(step, traceId, clockOf(slot, from))] as const),
  );
  const resourceSpans = byService(slot, spans, (resource, list) => ({
    resource,
    scopeSpans: [{ scope: SCOPE, spans: list }],
  }));
  const traces = stories.map(({ traceId }) => traceId);
  return { request: { path: '/v1/traces', body: { resourceSpans } }, spans: spans.length, traces };
}

/** One record for each request of a user, and one for each failure. */
function logsOf(slot: Slot, stories: readonly Story[]): SlotPart {
  const records = stories.flatMap((story) =>
    story.steps.flatMap((step) => {
      if (step.failure !== undefined) return [[step.service, logOf(slot, story, step, step.failure)] as const];
      return step.parent === null ? [[step.service, logOf(slot, story, step, null)] as const] : [];
    }),
  );
  const resourceLogs = byService(slot, records, (resource, logRecords) => ({
    resource,
    scopeLogs: [{ scope: SCOPE, logRecords }],
  }));
  return { request: { path: '/v1/logs', body: { resourceLogs } }, logs: records.length };
}

function logOf(slot: Slot, { traceId, from }: Story, step: StoryStep, failure: string | null): object {
  const time = clockOf(slot, from)(step.to);
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: failure === null ? 9 : 17,
    severityText: failure === null ? 'INFO' : 'ERROR',
    body: { stringValue: `${step.name}: ${failure ?? `done in ${step.to - step.from} ms`}` },
    traceId,
    spanId: step.id,
    attributes: attributesOf({ 'app.step': step.name }),
  };
}

const BOUNDS = [0.1, 0.5, 1, 2, 5, 10];

/** Durations of the calls of each service in the slot, and a gauge of its memory. */
function metricsOf(slot: Slot, stories: readonly Story[]): SlotPart {
  const steps = stories.flatMap((story) => story.steps);
  const services = [...new Set(steps.map(({ service }) => service))];
  const at = clockOf(slot, 0);
  const metrics = services.flatMap((service) => {
    const of = steps.filter((step) => step.service === service && 'gen_ai.request.model' in step.attributes);
    const seconds = of.map(({ from, to }) => (to - from) / 1000);
    const memory = 180 + ((Math.floor(slot.atMs / SLOT_MS) * 7 + service.length * 31) % 90);
    return [
      [service, gauge('process.memory.usage', memory * 1_048_576, at)] as const,
      ...(seconds.length === 0 ? [] : [[service, durations(seconds, at)] as const]),
    ];
  });
  const resourceMetrics = byService(slot, metrics, (resource, list) => ({
    resource,
    scopeMetrics: [{ scope: SCOPE, metrics: list }],
  }));
  return { request: { path: '/v1/metrics', body: { resourceMetrics } }, points: metrics.length };
}

const gauge = (name: string, value: number, at: (ms: number) => string): object => ({
  ...{ name, unit: 'By' },
  gauge: { dataPoints: [{ timeUnixNano: at(SLOT_MS), asInt: String(value) }] },
});

function durations(seconds: readonly number[], at: (ms: number) => string): object {
  const buckets = [...BOUNDS, Number.POSITIVE_INFINITY].map((bound, place) => {
    const above = BOUNDS[place - 1] ?? 0;
    return String(seconds.filter((value) => value > above && value <= bound).length);
  });
  const attributes: Attributes = { 'gen_ai.operation.name': 'chat' };
  const point = {
    ...{ attributes: attributesOf(attributes), startTimeUnixNano: at(0), timeUnixNano: at(SLOT_MS) },
    ...{ count: String(seconds.length), sum: seconds.reduce((sum, value) => sum + value, 0) },
    ...{ min: Math.min(...seconds), max: Math.max(...seconds), explicitBounds: BOUNDS, bucketCounts: buckets },
  };
  return {
    ...{ name: 'gen_ai.client.operation.duration', unit: 's' },
    histogram: { aggregationTemporality: 1, dataPoints: [point] },
  };
}

function* evaluate(slot: Slot, dice: Dice): Generator<SlotPart> {
  const visitor = { user: 'ada', conversation: `evaluation-${Math.floor(slot.atMs / DAY_MS)}` };
  const traceId = dice.id(16);
  const root: StoryStep = {
    ...{ id: dice.id(8), parent: null, service: 'evaluation', name: 'invoke_agent nightly-evaluation', kind: INTERNAL },
    ...{ from: 0, to: CASES * CASE_MS + LONGEST_CASE_MS },
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'nightly-evaluation' },
  };
  for (let first = 0; first < CASES; first += CASES_OF_A_REQUEST) {
    const numbers = Array.from({ length: Math.min(CASES_OF_A_REQUEST, CASES - first) }, (_, place) => first + place);
    const steps = numbers.flatMap((number) => makeCase(dice, visitor, root.id, number));
    const story = { traceId, from: 0, steps: first === 0 ? [root, ...steps] : steps };
    const part = tracesOf(slot, [story]);
    yield { ...part, traces: first === 0 ? [traceId] : [], largeTrace: first === 0 ? traceId : null };
  }
}
