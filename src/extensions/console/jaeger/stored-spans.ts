/** The stored spans of a trace, without what the caller may not see, and its text in Jaeger's shape. */
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import { lengthOf, type StoredText, storedTextQuery } from '../../../pdata/stored-text.ts';
import { SPAN_COUNT } from '../api/spans.ts';
import { HIDDEN, partlyHidden, storedRows } from '../api/stored-rows.ts';
import { type StoredTrace, valuesOf } from '../api/stored-trace.ts';
import { IN_TRACE } from '../filter/trace-spans.ts';
import type { RequestContext } from '../server/route.ts';
import { JAEGER_SPANS, JaegerTrace } from './span-json.ts';

export interface SpanLimits {
  readonly spans: number;
  /** Characters of the stored rows. */
  readonly characters: number;
  /** Whether prompts, answers and payloads are read too. */
  readonly withContent: boolean;
}

/** Some spans at a time, in order of start; it ends with the limits. */
export async function* spansWithin(
  context: RequestContext,
  trace: StoredTrace,
  { spans, characters, withContent }: SpanLimits,
): AsyncGenerator<readonly StoredText[]> {
  const content = withContent ? [] : CONTENT_COLUMNS;
  const hidden = context.caller.seesContent ? content : Object.keys(HIDDEN);
  const unread = Object.fromEntries(hidden.map((name) => [name, 'NULL']));
  const { list, from } = storedTextQuery('traces', { ...partlyHidden(context), ...unread });
  const text = `SELECT ${list} FROM ${from} WHERE ${IN_TRACE} ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${spans}`;
  let left = characters;
  for await (const rows of storedRows(context, { text, values: valuesOf(trace) }, HIDDEN)) {
    yield rows;
    left -= lengthOf(rows);
    if (left < 0) return;
  }
}

/** The JSON text of a trace in Jaeger's shape, with a warning when spans are left out. */
export async function traceText(context: RequestContext, trace: StoredTrace, limits: SpanLimits): Promise<string> {
  const written = new JaegerTrace(trace.hex);
  let count = 0;
  for await (const rows of spansWithin(context, trace, limits)) {
    written.add(await context.rowThread.convert(JAEGER_SPANS, rows));
    count += rows.length;
  }
  const [row] = await context.reader.query(SPAN_COUNT, valuesOf(trace));
  const all = Number(row?.['spans'] ?? 0);
  if (all > count) written.warn(`The first ${count} of ${all} spans are shown.`);
  return written.text();
}
