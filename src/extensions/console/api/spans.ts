/**
 * `GET …/traces/{trace}/spans`: the spans of a trace as slim rows, NDJSON. The database writes the rows; this code only
 * numbers words in the dictionaries, and parents by their rows.
 */
import type { Statement } from '../../../component/capabilities/postgres.ts';
import { ConsoleError } from '../errors.ts';
import { Parameters } from '../filter/parameters.ts';
import { IN_TRACE, IS_FAILED, MODEL } from '../filter/trace-spans.ts';
import { lines, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import type { ReaderRow } from '../../../component/capabilities/postgres-reader.ts';
import { readSpanPlace } from './cursor.ts';
import { allOf, idOf, integerOf, limitOf, wordOf } from './question.ts';
import { SPAN_COLUMNS, type SpansEnd } from './shapes/spans.ts';
import { findTrace, type StoredTrace, valuesOf } from './stored-trace.ts';
import { nameText } from './texts.ts';

const DEFAULT_LIMIT = 20_000;
const HIGHEST_LIMIT = 20_000;
const DEEPEST = 1000;

/** What `only` can name. */
const ONLY: Readonly<Record<string, string>> = {
  model: "s.category = 'model_call'",
  tool: "s.category = 'tool_step'",
  error: IS_FAILED,
};

export const listSpans = readRoute(
  `${PROJECT}/traces/{trace}/spans`,
  ['after', 'limit', 'under', 'depth', 'only', 'order'],
  async (context) => {
    const trace = await findTrace(context);
    const limit = limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT);
    const counted = await context.reader.prepared(COUNTED_IDS(context.reader.views), [trace.project, trace.id]);
    const { text, values } = statementOf(context, trace, { limit, counted: counted[0]?.['ids'] });
    const [count] = await context.reader.query(SPAN_COUNT, valuesOf(trace));
    return lines(writeSpans(context.reader.stream(text, values), { limit, of: Number(count?.['spans']) }));
  },
);

/** How many spans the trace of the parameters has. */
export const SPAN_COUNT = `SELECT count(*)::int4 AS spans FROM sluice.spans s WHERE ${IN_TRACE}`;

/** Computes once for the trace which usage counts. */
export const COUNTED = (views: string): string =>
  `counted AS MATERIALIZED (
    SELECT DISTINCT c.signal, c.span_id FROM ${views}.trace_usage_of($1::text, ARRAY[$2::bytea]) c WHERE c.signal = 'span')`;
export const COUNTED_IDS = (views: string): string =>
  `WITH ${COUNTED(views)} SELECT ARRAY(SELECT span_id FROM counted) AS ids`;
export const COUNTS = `(s.usage_scope IS NOT NULL AND s.span_id IN (SELECT c.span_id FROM counted c WHERE c.signal = 'span'))`;
export const NOTE = `CASE WHEN s.usage_scope IS NULL OR ${COUNTS} THEN NULL WHEN s.usage_scope = 'rollup' THEN 'sum' ELSE 'repeated' END`;

function statementOf(
  context: RequestContext,
  trace: StoredTrace,
  { limit, counted }: { readonly limit: number; readonly counted: unknown },
): Statement {
  const parameters = new Parameters();
  for (const value of valuesOf(trace)) parameters.add(value);
  const under = underOf(context, parameters);
  const isNewestFirst = wordOf(context, 'order', ['oldest', 'newest']) === 'newest';
  const direction = isNewestFirst ? 'DESC' : 'ASC';
  const conditions = [
    IN_TRACE,
    ...afterOf(context, parameters, isNewestFirst ? '<' : '>'),
    ...onlyOf(context),
    ...(under === null ? [] : ['s.span_id IN (SELECT b.id FROM below b)']),
  ];
  const text = `WITH RECURSIVE ${under ?? ''} counted AS MATERIALIZED (SELECT 'span' AS signal, unnest(${parameters.add(counted)}::bytea[]) AS span_id)
  SELECT encode(s.span_id, 'hex') AS id, encode(s.parent_span_id, 'hex') AS parent, ${nameText('s.name')} AS name, ${nameText('s.service_name')} AS service,
    ${nameText(MODEL)} AS model, ${nameText('s.tool_name')} AS tool, s.start_time_unix_nano AS ns,
    json_build_array(s.category, (s.start_time_unix_nano - $3::int8)::text, s.duration_ns::text,
      (s.status = 'error' OR s.is_error IS TRUE)::int4)::text AS before,
    json_build_array(s.input_tokens, s.output_tokens, s.cache_read_tokens, s.time_to_first_token_ms, s.total_cost::text,
      ${COUNTS}::int4, CASE WHEN jsonb_typeof(s.events) = 'array' THEN jsonb_array_length(s.events) ELSE 0 END, ${NOTE})::text AS after
  FROM sluice.spans s WHERE ${allOf(conditions)}
  ORDER BY s.start_time_unix_nano ${direction}, s.span_id ${direction} LIMIT ${parameters.add(limit + 1)}::int4`;
  return { text, values: parameters.values };
}

/** The ids of one span and of those below it, at most as deep as asked for; null: all spans. */
function underOf({ query }: RequestContext, parameters: Parameters): string | null {
  const text = query.get('under') ?? '';
  if (text === '') return null;
  const root = parameters.add(idOf(text, 8));
  const rule = { name: 'depth', byDefault: DEEPEST, lowest: 1, highest: DEEPEST };
  const depth = parameters.add(integerOf(query.get('depth'), rule));
  // UNION removes repeated rows, so a circle of parents ends at the depth.
  return `below (id, depth) AS (
    SELECT ${root}::bytea, 0 UNION
    SELECT s.span_id, b.depth + 1 FROM below b JOIN sluice.spans s ON s.parent_span_id = b.id
    WHERE ${IN_TRACE} AND b.depth < ${depth}::int4), `;
}

/** The end of the previous part: start and id of its last row. */
function afterOf({ query }: RequestContext, parameters: Parameters, follows: '<' | '>'): readonly string[] {
  const place = readSpanPlace(query.get('after'));
  if (place === null) return [];
  const position = `(${parameters.add(place.ns)}::int8, ${parameters.add(place.id)}::bytea)`;
  return [`(s.start_time_unix_nano, s.span_id) ${follows} ${position}`];
}

function onlyOf({ query }: RequestContext): readonly string[] {
  const text = query.get('only') ?? '';
  if (text === '') return [];
  const conditions = text.split(',').map((name) => {
    const condition = Object.hasOwn(ONLY, name) ? ONLY[name] : undefined;
    if (condition !== undefined) return condition;
    throw new ConsoleError('request_invalid', { message: `\`only\` takes: ${Object.keys(ONLY).join(', ')}.` });
  });
  return [`(${conditions.join(' OR ')})`];
}

interface Extent {
  readonly limit: number;
  /** Spans of the trace. */
  readonly of: number;
}

async function* writeSpans(batches: AsyncIterable<readonly ReaderRow[]>, { limit, of }: Extent): AsyncIterable<string> {
  const writer = new SpanWriter();
  let written = `${JSON.stringify({ columns: SPAN_COLUMNS })}\n`;
  let last: ReaderRow | null = null;
  let next: string | null = null;
  let count = 0;
  for await (const rows of batches) {
    for (const row of rows) {
      if (count === limit) next = `${String(last?.['ns'])}.${String(last?.['id'])}`;
      else {
        written += writer.write(row);
        count += 1;
        last = row;
      }
    }
    yield written;
    written = '';
  }
  const end: SpansEnd = { end: true, spans: count, of, next };
  yield `${written}${JSON.stringify(end)}\n`;
}

/** Writes rows, and before them the words that they use for the first time. */
class SpanWriter {
  readonly #names = new Dictionary('names+');
  readonly #services = new Dictionary('services+');
  readonly #models = new Dictionary('models+');
  readonly #tools = new Dictionary('tools+');
  readonly #rows = new Map<string, number>();
  #count = 0;

  write(row: ReaderRow): string {
    const id = String(row['id']);
    const name = this.#names.numberOf(row['name']);
    const service = this.#services.numberOf(row['service']);
    const model = this.#models.numberOf(row['model']);
    const tool = this.#tools.numberOf(row['tool']);
    const parent = this.#parentOf(row['parent'], id);
    // Of two spans with the same id, the first is the parent.
    if (!this.#rows.has(id)) this.#rows.set(id, this.#count);
    this.#count += 1;
    const before = String(row['before']).slice(1, -1);
    const after = String(row['after']).slice(1);
    return `${this.#words()}["${id}",${parent},${name},${service},${before},${model},${tool},${after}\n`;
  }

  /** JSON: null, the number of an earlier row, or the id. */
  #parentOf(parent: unknown, id: string): string {
    if (parent === null) return 'null';
    const row = this.#rows.get(String(parent));
    return row === undefined || parent === id ? JSON.stringify(parent) : String(row);
  }

  #words(): string {
    const added = [this.#names, this.#services, this.#models, this.#tools].flatMap((words) => words.added());
    return added.length === 0 ? '' : `{${added.join(',')}}\n`;
  }
}

class Dictionary {
  readonly #member: string;
  readonly #numbers = new Map<unknown, number>();
  #fresh: unknown[] = [];

  constructor(member: string) {
    this.#member = member;
  }

  numberOf(word: unknown): number | null {
    if (word === null) return null;
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    this.#fresh.push(word);
    this.#numbers.set(word, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** The member with the words since the last call. */
  added(): readonly string[] {
    if (this.#fresh.length === 0) return [];
    const member = `"${this.#member}":${JSON.stringify(this.#fresh)}`;
    this.#fresh = [];
    return [member];
  }
}
