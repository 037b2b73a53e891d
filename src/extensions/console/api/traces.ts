/** `GET …/traces`: the list of traces, newest first. */
import { Parameters } from '../filter/parameters.ts';
import { type ArchivedDays, jsonText, PROJECT, type Reply, type RequestContext, readRoute } from '../server/route.ts';
import { completenessOf } from './completeness.ts';
import { isStoredTime, isTraceId, readCursor, writeCursor } from './cursor.ts';
import { conditionsOf, environmentCondition, limitOf, type Range, rangeOf, wordOf } from './question.ts';
import { type FoundTraces, searchTraces } from './search-traces.ts';

const DEFAULT_LIMIT = 50;
const HIGHEST_LIMIT = 200;
/** Clocks may be ahead. */
const AHEAD_NS = 86_400_000_000_000n;

export const listTraces = readRoute(`${PROJECT}/traces`, async (context): Promise<Reply> => {
  const { query, project, reader } = context;
  const parameters = new Parameters();
  const conditions = conditionsOf(context, 'span', parameters);
  const trace = [...conditions.trace, ...environmentCondition(context, 't.environment', parameters)];
  const question = questionOf(context);
  const [ns, id] = readCursor(query.get('cursor'), question, [isStoredTime, isTraceId]) ?? [];
  const asked = rangeOf(context);
  const completeness = await completenessOf(context, asked.from);
  if (wordOf(context, 'archived', ['false', 'true']) === 'true' && completeness.complete_from !== undefined) {
    const reply = await context.archivedDays(daysOf(context, asked));
    if (reply !== null) return reply;
  }
  const found = await searchTraces(reader, {
    project,
    range: loadedOf(context, asked),
    conditions: { ...conditions, trace },
    parameters,
    after: ns === undefined || id === undefined ? null : { ns, id },
    limit: limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT),
    now: () => context.now(),
  });
  return jsonText(pageText(found, completeness, ({ ns, id }) => writeCursor(question, [ns, id])));
});

function daysOf({ project, query, now }: RequestContext, { from, until }: Range): ArchivedDays {
  const latest = BigInt(now()) * 1_000_000n + AHEAD_NS;
  const isDetailed = (query.get('q') ?? '') !== '';
  return { of: 'traces', project, from, until: until < latest ? until : latest, isDetailed };
}

/** Earlier traces may be there with a part of their records. */
function loadedOf({ archivedFrom }: RequestContext, { from, until }: Range): Range {
  return { from: archivedFrom !== null && archivedFrom > from ? archivedFrom : from, until };
}

/** What a cursor of the list belongs to. */
const questionOf = ({ project, query }: RequestContext): readonly string[] => [
  'traces',
  project,
  query.get('q') ?? '',
  query.get('env') ?? '',
];

function pageText(
  { items, next, examined, reached }: FoundTraces,
  completeness: Awaited<ReturnType<typeof completenessOf>>,
  cursorOf: (position: NonNullable<FoundTraces['next']>) => string,
): string {
  const end = { next: next === null ? null : cursorOf(next), examined, reached, more: next !== null, ...completeness };
  return `{"items":[${items.join(',')}],${JSON.stringify(end).slice(1)}`;
}
