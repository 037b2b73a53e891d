/** `GET …/usage`: what model calls used, by a group and over time, each call counted once. */
import { ReaderFailure } from '../../../component/capabilities/postgres-reader.ts';
import { ConsoleError } from '../errors.ts';
import { nanosecondsOf } from '../filter/values.ts';
import { jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { type Completeness, reachOf } from './completeness.ts';
import { boundedRangeOf, intervalOf, type Range, wordOf } from './question.ts';
import type { UsageGroup } from './shapes/usage.ts';
import { linesOf } from './trace-rows.ts';
import { sharedStateOf } from './shared-state.ts';
import { figuresStatements, type Statements } from './usage-statement.ts';
import { DAY_MS, HOUR_MS } from '../../../pdata/time-units.ts';

const MAX_DAYS = 366;
/** How long a project with repetitions gets sorted statements only. */
const REPEATS_MS = HOUR_MS;
const INTERVALS = ['1m', '5m', '15m', '1h', '6h', '1d', '7d'] as const;

const KEYS: Readonly<Record<UsageGroup, readonly string[]>> = {
  none: [],
  provider: ['provider'],
  model: ['provider', 'model'],
  user: ['user_id'],
  service: ['service_name'],
  agent: ['agent_name'],
  conversation: ['conversation_id'],
  environment: ['environment'],
};

export const showUsage = readRoute(
  `${PROJECT}/usage`,
  ['q', 'env', 'from', 'to', 'group', 'interval', 'archived'],
  async (context) => {
    const group = wordOf(context, 'group', [
      'model',
      'none',
      'provider',
      'user',
      'service',
      'agent',
      'conversation',
      'environment',
    ]);
    const range = boundedRangeOf(context, { days: MAX_DAYS, defaultMs: DAY_MS });
    const interval = intervalOf(context, range, INTERVALS);
    const before = { from: range.from - (range.until - range.from), until: range.from };
    const now = figuresStatements(context, { keys: KEYS[group], range, interval: String(nanosecondsOf(interval)) });
    const earlier = figuresStatements(context, { keys: KEYS[group], range: before, interval: null });
    const reading = { of: 'usage', from: before.from, until: range.until, isDetailed: now.hasOwners } as const;
    const { reply, completeness } = await reachOf(context, reading);
    if (reply !== null) return reply;
    const [found, past] = await askBoth(
      () => askOne(context, now),
      () => askOne(context, earlier),
    );
    return jsonText(answerText({ group, range, interval, completeness }, found, past));
  },
);

/** At the same time if there is a connection for each, else one after the other. */
async function askBoth(one: () => Promise<Found>, other: () => Promise<Found>): Promise<readonly [Found, Found]> {
  const first = one();
  const second = other().catch(async (error: unknown) => {
    if (!isCrowded(error)) throw error;
    await first;
    return other();
  });
  return Promise.all([first, second]);
}

/** A project with repetitions probably has more of them. */
async function askOne(context: RequestContext, { unsorted, sorted }: Statements): Promise<Found> {
  const { people, project, reader } = context;
  const { repeats } = sharedStateOf(people);
  if (unsorted !== null && (repeats.get(project) ?? 0) < performance.now()) {
    const [found = {}] = await reader.query(unsorted.text, unsorted.values);
    if (found['repeated'] === false) return found;
    repeats.set(project, performance.now() + REPEATS_MS);
  }
  const [found = {}] = await reader.query(sorted.text, sorted.values);
  return found;
}

const isCrowded = (error: unknown): boolean =>
  error instanceof ReaderFailure ? error.reason === 'busy' : error instanceof ConsoleError && error.code === 'too_many';

/** JSON texts: a number of JavaScript does not keep every digit of a sum. */
interface Series {
  readonly key: string;
  readonly points: string[];
  total: string;
}

type Found = Readonly<Record<string, unknown>>;

interface Answered {
  readonly group: UsageGroup;
  readonly range: Range;
  readonly interval: string;
  readonly completeness: Completeness;
}

/** The rows are small: at most 101 groups with their points. */
function answerText({ group, range, interval, completeness }: Answered, found: Found, past: Found): string {
  const earlier = new Map(seriesOf(past).map(({ key, total }) => [key, total]));
  const series = seriesOf(found).map(
    ({ key, total, points }) =>
      `{"key":${key},"total":${total},"before":${earlier.get(key) ?? null},"points":[${points.join(',')}]}`,
  );
  const head = {
    as_of: found['as_of'],
    from: String(range.from),
    to: String(range.until),
    group,
    interval,
    calls_examined: found['examined'],
    ...completeness,
  };
  return `${JSON.stringify(head).slice(0, -1)},"series":[${series.join(',')}],"total":${String(found['total'])},"before":${String(past['total'])}}`;
}

/** Lines with the key of a group, figures, and the time of a point; without a time the figures are of the group. */
function seriesOf(found: Found): readonly Series[] {
  const series = new Map<string, Series>();
  for (const line of linesOf(found['series'])) {
    const [key = '', figures = '', point] = line.split('\t');
    const one = series.get(key) ?? { key, points: [], total: 'null' };
    series.set(key, one);
    if (point === undefined) one.total = figures;
    else one.points.push(`["${point}",${figures}]`);
  }
  return [...series.values()];
}
