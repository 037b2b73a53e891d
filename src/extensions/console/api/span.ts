/** `GET …/traces/{trace}/spans/{span}`: everything about one span; `…/content/{field}`: a long text in pieces. */
import { ConsoleError } from '../errors.ts';
import { IN_TRACE } from '../filter/trace-spans.ts';
import { json, jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { isStoredTime } from './cursor.ts';
import { integerOf, spanIdOf } from './question.ts';
import type { ContentPiece, TextField } from './shapes/content.ts';
import { COUNTED, COUNTS, NOTE } from './spans.ts';
import { BARE_LINKS } from './stored-rows.ts';
import { findTrace, type StoredTrace, valuesOf } from './stored-trace.ts';
import { type Column, SOURCE_COLUMNS, SPAN_COLUMNS } from '../../../pdata/columns.ts';
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import { contentJson, textJson } from './texts.ts';

const SHOWN_CHARACTERS = 256 * 1024;
/** Characters of one attribute that are shown. */
const SHOWN_ATTRIBUTE = 32 * 1024;
const PIECE_CHARACTERS = 1024 * 1024;
const LONGEST_TEXT = 2 ** 30;

const RESOURCE = 'coalesce(s.resource, (SELECT r.body FROM sluice.resources r WHERE r.id = s.resource_id))';
const ofScope = (column: string): string =>
  `coalesce(s.scope_${column}, (SELECT c.${column} FROM sluice.scopes c WHERE c.id = s.scope_id))`;

/** Columns that an answer has in another form, or not at all. */
const OTHERS: ReadonlySet<string> = new Set([
  ...CONTENT_COLUMNS,
  ...SOURCE_COLUMNS.map(({ name }) => name),
  ...['trace_id', 'span_id', 'parent_span_id', 'status_message', 'events', 'links'],
]);
const OWN: readonly Column[] = SPAN_COLUMNS.filter(({ name }) => !OTHERS.has(name));
const isText = ({ type }: Column): boolean => type === 'nanos' || type === 'money';
const COLUMNS = [
  ...OWN.filter((column) => !isText(column)).map(({ name }) => `s.${name}`),
  ...OWN.filter(isText).map(({ name }) => `s.${name}::text`),
];

/** `row_to_json` of a subquery: an object of any number of members. */
const detail = (views: string, seesContent: boolean): string => `WITH ${COUNTED(views)}
  SELECT row_to_json(d)::text AS detail FROM (
    SELECT ${COLUMNS.join(', ')},
      encode(s.trace_id, 'hex') AS trace_id, encode(s.span_id, 'hex') AS span_id, encode(s.parent_span_id, 'hex') AS parent_span_id,
      ${ofScope('name')} AS scope_name, ${ofScope('version')} AS scope_version,
      to_char(s.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS received_at,
      ${COUNTS} AS counts, ${NOTE} AS note, ${RESOURCE} AS resource, ${seesContent ? `s.links, ${CONTENT}` : `${BARE_LINKS} AS links`}
    FROM sluice.spans s WHERE ${IN_TRACE} AND s.span_id = $5::bytea AND s.start_time_unix_nano >= $6::int8
    ORDER BY s.start_time_unix_nano LIMIT 1) d`;

const isLong = (value: string): string => `length(${value}::text) > ${SHOWN_ATTRIBUTE}`;

const CONTENT = `${contentJson('s', SHOWN_CHARACTERS)} AS content,
      ${textJson('s.status_message', SHOWN_CHARACTERS)} AS status_message,
      (SELECT coalesce(json_object_agg(a.key, a.value), '{}') FROM jsonb_each(s.attributes) a WHERE NOT ${isLong('a.value')}) AS attributes,
      (SELECT coalesce(json_object_agg(a.key, ${textJson('a.value', SHOWN_ATTRIBUTE)}), '{}') FROM jsonb_each_text(s.attributes) a
        WHERE ${isLong('(s.attributes -> a.key)')}) AS long_attributes,
      CASE WHEN length(s.events::text) <= ${SHOWN_CHARACTERS} THEN s.events END AS events`;

/** The parameter `start`: of spans with the same id, the first that does not begin before. */
function placeOf(context: RequestContext, trace: StoredTrace): readonly unknown[] {
  const start = context.query.get('start') || '0';
  if (!isStoredTime(start))
    throw new ConsoleError('range_invalid', { message: '`start` is a time in nanoseconds since 1970.' });
  return [...valuesOf(trace), spanIdOf(context), start];
}

export const showSpan = readRoute(`${PROJECT}/traces/{trace}/spans/{span}`, ['start'], async (context) => {
  const { caller, reader } = context;
  const trace = await findTrace(context);
  const [row] = await reader.query(detail(reader.views, caller.seesContent), placeOf(context, trace));
  if (row === undefined) throw new ConsoleError('not_found');
  return jsonText(String(row['detail']));
});

interface Field {
  readonly sql: string;
  /** What callers without the right to content read; null: nothing. */
  readonly bare: string | null;
}

/** The columns that can be read in pieces, as text. */
const TEXT_FIELDS: ReadonlyMap<string, Field> = new Map<TextField, Field>([
  ...CONTENT_COLUMNS.map((field) => [field, { sql: `s.${field}`, bare: null }] as const),
  ['status_message', { sql: 's.status_message', bare: null }],
  ['attributes', { sql: 's.attributes::text', bare: null }],
  ['events', { sql: 's.events::text', bare: null }],
  ['links', { sql: 's.links::text', bare: `(${BARE_LINKS})::text` }],
  ['resource', { sql: `${RESOURCE}::text`, bare: `${RESOURCE}::text` }],
]);

export const showContent = readRoute(
  `${PROJECT}/traces/{trace}/spans/{span}/content/{field}`,
  ['start', 'offset'],
  async (context) => {
    const { caller, query, reader } = context;
    const name = context.parameter('field');
    const field = TEXT_FIELDS.get(name);
    if (field === undefined) throw new ConsoleError('not_found');
    const column = caller.seesContent ? field.sql : field.bare;
    if (column === null) throw new ConsoleError('forbidden', { hint: 'Ask an admin for the right to content.' });
    const offset = integerOf(query.get('offset'), { name: 'offset', byDefault: 0, lowest: 0, highest: LONGEST_TEXT });
    const trace = await findTrace(context);
    const [row] = await reader.query(
      `SELECT length(p.field) AS length, substr(p.field, $7::int4 + 1, ${PIECE_CHARACTERS}) AS text FROM (
       SELECT ${column} AS field FROM sluice.spans s
       WHERE ${IN_TRACE} AND s.span_id = $5::bytea AND s.start_time_unix_nano >= $6::int8
       ORDER BY s.start_time_unix_nano LIMIT 1) p`,
      [...placeOf(context, trace), offset],
    );
    if (row === undefined || row['length'] === null) throw new ConsoleError('not_found');
    const length = Number(row['length']);
    const end = offset + PIECE_CHARACTERS;
    const piece: ContentPiece = {
      field: name as TextField,
      offset,
      length,
      text: String(row['text']),
      next: end < length ? end : null,
    };
    return json(piece);
  },
);
