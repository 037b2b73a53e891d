/**
 * A subset of Jaeger's API below `/jaeger`: the requests of Grafana's data source and of Jaeger UI. The older API
 * returns whole traces; version 3 returns summaries and OTLP.
 */
import { parseExact } from '../../../pdata/exact-json.ts';
import { neededReach, wholeFrom } from '../api/completeness.ts';
import { END_NS } from '../api/question.ts';
import { membersOf, OTLP_JSON } from '../api/otlp-conversions.ts';
import { findTrace, type StoredTrace } from '../api/stored-trace.ts';
import { type FoundTraces, searchTraces, type TracePosition } from '../api/search-traces.ts';
import type { TraceRow } from '../api/shapes/traces.ts';
import { ConsoleError } from '../errors.ts';
import { Parameters } from '../filter/parameters.ts';
import { json, jsonText, type Reply, type RequestContext, type Route } from '../server/route.ts';
import { answer, oldRoute, refuse, v3Route } from './jaeger-route.ts';
import { conditionsOf, readOldQuestion, readV3Question, type SearchQuestion } from './search-question.ts';
import { operationsOf, servicesOf, summariesOf } from './summaries.ts';
import { spansWithin, type SpanLimits, traceText } from './stored-spans.ts';

/** The older search gives whole traces. */
const SEARCH_TRACES = 20;
const SEARCH_LIMITS: SpanLimits = { spans: 1000, characters: 4 * 1024 * 1024, withContent: false };
/** The limit of the texts of all traces. Further traces are left out. */
const SEARCH_CHARACTERS = 32 * 1024 * 1024;
const TRACE_LIMITS: SpanLimits = { spans: 20_000, characters: 32 * 1024 * 1024, withContent: true };
const SUMMARIES = 200;
/** The clients wait for 10 seconds and cannot continue a search. */
const SEARCH_MS = 6000;
const DIGITS = 32;

/** The newest first; or the whole answer of a process that reads archived days. */
async function search(context: RequestContext, question: SearchQuestion): Promise<readonly TraceRow[] | Reply> {
  const { project, reader } = context;
  const parameters = new Parameters();
  const conditions = conditionsOf(context, question, parameters);
  const range = wholeFrom(context, question.range);
  const common = { project, conditions, parameters, range, now: () => context.now() };
  const start = context.now();
  const found: TraceRow[] = [];
  let after: TracePosition | null = null;
  do {
    const page: FoundTraces = await searchTraces(reader, { ...common, after, limit: question.limit - found.length });
    found.push(...page.items.map((item) => parseExact(item) as TraceRow));
    after = page.next;
  } while (after !== null && found.length < question.limit && context.now() - start < SEARCH_MS);
  const { reply } = await neededReach(context, {
    ...{ of: 'traces', ...question.range, isDetailed: true },
    isEnough: (completeFrom) => after !== null && BigInt(after.ns) >= completeFrom,
  });
  return reply ?? found;
}

/** Ids may be written without their leading zeros. */
function idIn(text: string): Buffer {
  if (!/^[0-9a-f]{1,32}$/iu.test(text)) throw refuse('a trace id has up to 32 hexadecimal digits');
  return Buffer.from(text.padStart(DIGITS, '0'), 'hex');
}

async function foundTrace(context: RequestContext, text: string): Promise<StoredTrace> {
  try {
    const trace = await findTrace(context, idIn(text));
    if (trace.firstNs !== null) return trace;
  } catch (error) {
    if (!(error instanceof ConsoleError) || error.code !== 'not_found') throw error;
  }
  throw new ConsoleError('not_found', { message: 'trace not found' });
}

/** The parameter `traceID` names traces in place of a search. */
async function searchedTraces(context: RequestContext): Promise<readonly string[] | Reply> {
  const ids = context.query.getAll('traceID');
  if (ids.length > SEARCH_TRACES) throw refuse(`a search can name at most ${SEARCH_TRACES} traces`);
  if (ids.length > 0) return ids;
  const found = await search(context, readOldQuestion(context, SEARCH_TRACES));
  return isReply(found) ? found : found.map(({ trace_id }) => trace_id);
}

async function listTraces(context: RequestContext): Promise<Reply> {
  const ids = await searchedTraces(context);
  if (isReply(ids)) return ids;
  const texts: string[] = [];
  let left = SEARCH_CHARACTERS;
  for (const id of ids) {
    if (left <= 0) break;
    try {
      const limits = { ...SEARCH_LIMITS, characters: Math.min(SEARCH_LIMITS.characters, left) };
      const text = await traceText(context, await foundTrace(context, id), limits);
      left -= text.length;
      texts.push(text);
    } catch (error) {
      // It was deleted after the search, or is not known.
      if (!(error instanceof ConsoleError) || error.code !== 'not_found') throw error;
    }
  }
  return traces(texts);
}

const isReply = (found: readonly unknown[] | Reply): found is Reply => !Array.isArray(found);

/** The names of services and operations are those of the newest spans. */
const nameRoute = (route: typeof oldRoute, path: string, handle: (context: RequestContext) => Promise<Reply>): Route =>
  route(path, async (context) => {
    const reading = { of: 'traces', from: 0n, until: END_NS, isDetailed: false } as const;
    return (await neededReach(context, reading)).reply ?? handle(context);
  });

const traces = (texts: readonly string[]) =>
  jsonText(`{"data":[${texts.join(',')}],"total":${texts.length},"limit":0,"offset":0,"errors":null}`);

export const JAEGER_ROUTES: readonly Route[] = [
  nameRoute(oldRoute, '/services', async (context) => answer(await servicesOf(context))),
  nameRoute(oldRoute, '/services/{service}/operations', async (context) => {
    const operations = await operationsOf(context, context.parameter('service'));
    return answer([...new Set(operations.map(({ name }) => name))]);
  }),
  oldRoute('/traces', listTraces),
  oldRoute('/traces/{trace}', async (context) => {
    const trace = await foundTrace(context, context.parameter('trace'));
    return traces([await traceText(context, trace, TRACE_LIMITS)]);
  }),
  // Sluice does not compute a graph of services.
  oldRoute('/dependencies', () => answer([])),
  nameRoute(v3Route, '/services', async (context) => json({ services: await servicesOf(context) })),
  nameRoute(v3Route, '/operations', async (context) => {
    const service = context.query.get('service') ?? '';
    if (service === '') throw refuse('the parameter service is required');
    const kind = context.query.get('span_kind') ?? context.query.get('spanKind') ?? '';
    const operations = await operationsOf(context, service);
    return json({ operations: operations.filter(({ spanKind }) => kind === '' || spanKind === kind.toLowerCase()) });
  }),
  v3Route('/trace-summaries', async (context) => {
    const found = await search(context, readV3Question(context, SUMMARIES));
    return isReply(found) ? found : json({ summaries: await summariesOf(context, found) });
  }),
  v3Route('/traces/{trace}', async (context) => {
    const trace = await foundTrace(context, context.parameter('trace'));
    const parts: string[] = [];
    for await (const rows of spansWithin(context, trace, TRACE_LIMITS)) {
      parts.push(membersOf(await context.rowThread.convert(OTLP_JSON.traces, rows)));
    }
    return jsonText(`{"result":{"resourceSpans":[${parts.filter((part) => part !== '').join(',')}]}}`);
  }),
];
