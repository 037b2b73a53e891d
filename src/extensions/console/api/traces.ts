/** `GET …/traces`: the list of traces, newest first. */
import { Parameters } from '../filter/parameters.ts';
import { jsonText, PROJECT, type Reply, type RequestContext, readRoute } from '../server/route.ts';
import { type Completeness, hasFilter, reachOf, wholeFrom } from './completeness.ts';
import { isStoredTime, isTraceId, readCursor, writeCursor } from './cursor.ts';
import { conditionsOf, environmentCondition, limitOf, rangeOf } from './question.ts';
import { type FoundTraces, searchTraces } from './search-traces.ts';

const DEFAULT_LIMIT = 50;
const HIGHEST_LIMIT = 200;

export const listTraces = readRoute(
  `${PROJECT}/traces`,
  ['q', 'env', 'from', 'to', 'cursor', 'limit', 'archived'],
  async (context): Promise<Reply> => {
    const { query, project, reader } = context;
    const parameters = new Parameters();
    const conditions = conditionsOf(context, 'span', parameters);
    const trace = [...conditions.trace, ...environmentCondition(context, 't.environment', parameters)];
    const question = questionOf(context);
    const [ns, id] = readCursor(query.get('cursor'), question, [isStoredTime, isTraceId]) ?? [];
    const asked = rangeOf(context);
    const found = await searchTraces(reader, {
      project,
      range: wholeFrom(context, asked),
      conditions: { ...conditions, trace },
      parameters,
      after: ns === undefined || id === undefined ? null : { ns, id },
      limit: limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT),
    });
    const { reply, completeness } = await reachOf(context, {
      ...{ of: 'traces', ...asked, isDetailed: hasFilter(context) },
      isEnough: (completeFrom) => found.next !== null && BigInt(found.next.ns) >= completeFrom,
    });
    return reply ?? jsonText(pageText(found, completeness, ({ ns, id }) => writeCursor(question, [ns, id])));
  },
);

/** What a cursor of the list belongs to. */
const questionOf = ({ project, query }: RequestContext): readonly string[] => [
  'traces',
  project,
  query.get('q') ?? '',
  query.get('env') ?? '',
];

function pageText(
  { items, next, examined, reached }: FoundTraces,
  completeness: Completeness,
  cursorOf: (position: NonNullable<FoundTraces['next']>) => string,
): string {
  const end = { next: next === null ? null : cursorOf(next), examined, reached, more: next !== null, ...completeness };
  return `{"items":[${items.join(',')}],${JSON.stringify(end).slice(1)}`;
}
