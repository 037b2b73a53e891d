/** Stored rows with all columns as texts, without what the caller may not see. */
import type { Statement } from '../../../component/capabilities/postgres.ts';
import { setImmediate } from 'node:timers/promises';
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import { lengthOf, type StoredText, storedTextQuery } from '../../../pdata/stored-text.ts';
import type { ReaderRow } from '../../../component/capabilities/postgres-reader.ts';
import { IN_TRACE } from '../filter/trace-spans.ts';
import type { RequestContext } from '../server/route.ts';
import { type StoredTrace, valuesOf } from './stored-trace.ts';

/** Columns that need the right to content, without it. */
export const HIDDEN: StoredText = {
  ...Object.fromEntries(CONTENT_COLUMNS.map((name) => [name, null])),
  status_message: null,
  events: null,
  body: null,
  attributes: null,
  scope_attributes: null,
};

/** The links of the span `s` without their attributes, as JSON. */
export const BARE_LINKS = `coalesce(
  (SELECT jsonb_agg(l.value - 'attributes' ORDER BY l.ordinality) FROM jsonb_array_elements(s.links) WITH ORDINALITY l),
  s.links)`;
const NO_LINK_ATTRIBUTES = { links: `(${BARE_LINKS})::text` };

/** The columns of spans that are read in another form, by name, because the caller may not see parts of them. */
export const partlyHidden = ({ caller }: Pick<RequestContext, 'caller'>): Readonly<Record<string, string>> =>
  caller.seesContent ? {} : NO_LINK_ATTRIBUTES;

/** Writing so many rows, or so many characters, takes about 4 ms. */
const ROWS_IN_A_TURN = 25;
const LENGTH_IN_A_TURN = 262_144;

/**
 * Some rows at a time; other requests are processed between two parts. `hidden`: what replaces columns that the caller
 * may not see.
 */
export async function* storedRows(
  { caller, reader }: RequestContext,
  { text, values }: Statement,
  hidden: StoredText,
): AsyncGenerator<readonly StoredText[]> {
  for await (const rows of reader.stream(text, values)) {
    let part: StoredText[] = [];
    let length = 0;
    for (const [index, row] of rows.entries()) {
      const stored = caller.seesContent ? textsOf(row) : { ...textsOf(row), ...hidden };
      part.push(stored);
      length += lengthOf([stored]);
      const isFull = part.length === ROWS_IN_A_TURN || length >= LENGTH_IN_A_TURN;
      if (!isFull && index < rows.length - 1) continue;
      yield part;
      await setImmediate();
      part = [];
      length = 0;
    }
  }
}

const textsOf = (row: ReaderRow): StoredText =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]));

/** The spans of a trace, in order of time. */
export function spansOfTrace(
  context: RequestContext,
  trace: StoredTrace,
  limit: number,
): AsyncIterable<readonly StoredText[]> {
  const { list, from } = storedTextQuery('traces', partlyHidden(context));
  const text = `SELECT ${list} FROM ${from} WHERE ${IN_TRACE} ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${limit}`;
  return storedRows(context, { text, values: valuesOf(trace) }, HIDDEN);
}
