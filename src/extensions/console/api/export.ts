/** `GET …/export`: traces, spans or log records as a file; `…/traces/{trace}/otlp`: one trace as OTLP. */
import type { Statement } from '../../../component/capabilities/postgres.ts';
import { setImmediate } from 'node:timers/promises';
import { parseExact } from '../../../pdata/exact-json.ts';
import {
  jsonLineInPieces,
  lineNames,
  SIGNAL_WORDS,
  STORED_COLUMNS,
  type StoredText,
  storedTextQuery,
} from '../../../pdata/stored-text.ts';
import { ConsoleError } from '../errors.ts';
import { Parameters } from '../filter/parameters.ts';
import { type DownloadReply, PROJECT, type Reply, type RequestContext, readRoute } from '../server/route.ts';
import { reachOf } from './completeness.ts';
import { withNamedTraces } from './conversation-traces.ts';
import { logsByTime, newestFirst } from './logs.ts';
import { allOf, conditionsOf, environmentCondition, limitOf, rangeOf, wordOf } from './question.ts';
import { membersOf, OTLP_JSON, SPANS_PROTOBUF } from './otlp-conversions.ts';
import { type FoundTraces, searchTraces, type TracePosition } from './search-traces.ts';
import type { TraceRow } from './shapes/traces.ts';
import { HIDDEN, partlyHidden, spansOfTrace, storedRows } from './stored-rows.ts';
import { findTrace } from './stored-trace.ts';
import { isFormula } from '../../../pdata/untrusted-text.ts';

const MAX_ROWS = 100_000;
const PAGE = 200;
const PIECE_CHARACTERS = 65_536;
type RecordSignal = keyof typeof OTLP_JSON;
type Form = 'ndjson' | 'csv' | 'otlp';
const TYPES: Readonly<Record<Form, DownloadReply['type']>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  otlp: 'application/x-ndjson',
};

export const exportRows = readRoute(
  `${PROJECT}/export`,
  ['what', 'as', 'q', 'env', 'from', 'to', 'limit', 'archived'],
  async (context): Promise<Reply> => {
    const what = wordOf(context, 'what', ['traces', 'spans', 'logs']);
    const form = wordOf(context, 'as', ['ndjson', 'csv', 'otlp']);
    const limit = limitOf(context, MAX_ROWS, MAX_ROWS);
    if (what === 'traces' && form === 'otlp')
      throw new ConsoleError('request_invalid', { message: '`as=otlp` needs `what=spans` or `what=logs`.' });
    const reading = { of: 'traces', ...rangeOf(context), isDetailed: true, isEnough: () => false } as const;
    const { reply, completeness } = await reachOf(context, reading);
    if (reply !== null) return reply;
    if (completeness.unread !== undefined) throw unreadable(completeness.unread);
    if (context.archivedFrom !== null && completeness.complete_from !== undefined) throw tooMuch();
    const pieces = what === 'traces' ? traceLines(context, form, limit) : recordPieces(context, { what, form, limit });
    return {
      kind: 'download',
      name: `${context.project}-${what}.${form === 'otlp' ? 'otlp.ndjson' : form}`,
      type: TYPES[form],
      pieces,
    };
  },
);

/** A file cannot say what it lacks. */
const unreadable = (message: string): ConsoleError =>
  new ConsoleError('archive_unavailable', { message, hint: '`sluice export` writes what can be read.' });

const tooMuch = (): ConsoleError =>
  new ConsoleError('request_invalid', {
    message: 'The archived days of the range are too much for one file.',
    hint: 'Ask for a shorter range, use `sluice export`, or with archived=false for what PostgreSQL has.',
  });

export const exportTrace = readRoute(
  `${PROJECT}/traces/{trace}/otlp`,
  ['as'],
  async (context): Promise<DownloadReply> => {
    if (context.leftOut !== null) throw unreadable(context.leftOut.why);
    const trace = await findTrace(context);
    const rows = spansOfTrace(context, trace, MAX_ROWS);
    if (wordOf(context, 'as', ['json', 'protobuf']) === 'json') {
      const pieces = oneRequest(context, rows);
      return { kind: 'download', name: `trace-${trace.hex}.json`, type: 'application/json', pieces };
    }
    const pieces = protobufOf(context, rows);
    return { kind: 'download', name: `trace-${trace.hex}.pb`, type: 'application/x-protobuf', pieces };
  },
);

type Batches = AsyncIterable<readonly StoredText[]>;

/** The requests of all batches as one document, for tools that read one file. */
async function* oneRequest({ rowThread }: RequestContext, batches: Batches): AsyncGenerator<string> {
  const head = '{"resourceSpans":[';
  let separator = head;
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield separator + membersOf(await rowThread.convert(OTLP_JSON.traces, rows));
    separator = ',';
  }
  yield separator === head ? `${head}]}` : ']}';
}

/** Messages one after the other are one message. */
async function* protobufOf({ rowThread }: RequestContext, batches: Batches): AsyncGenerator<Uint8Array> {
  for await (const rows of batches) yield rowThread.convert(SPANS_PROTOBUF, rows);
}

interface Records {
  readonly what: 'spans' | 'logs';
  readonly form: Form;
  readonly limit: number;
}

async function* recordPieces(context: RequestContext, { what, form, limit }: Records): AsyncGenerator<string> {
  const signal = what === 'spans' ? 'traces' : 'logs';
  const statement = what === 'spans' ? spansQuestion(context, limit) : logsQuestion(context, limit);
  if (form === 'csv') yield `${lineNames(signal).join(',')}\r\n`;
  const hidden = form === 'otlp' ? HIDDEN : { ...HIDDEN, attributes: '{}' };
  for await (const rows of storedRows(context, statement, hidden)) {
    if (form === 'otlp') {
      if (rows.length > 0) yield `${await context.rowThread.convert(OTLP_JSON[signal], rows)}\n`;
    } else yield* inTurns(form === 'csv' ? csvPieces(signal, rows) : linePieces(signal, rows));
  }
}

/** A row can have megabytes: other requests are processed between two long pieces. */
async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  let joined = '';
  for (const piece of pieces) {
    joined += piece;
    if (joined.length < PIECE_CHARACTERS) continue;
    yield joined;
    await setImmediate();
    joined = '';
  }
  yield joined;
}

function* linePieces(signal: RecordSignal, rows: readonly StoredText[]): Generator<string> {
  for (const row of rows) {
    yield* jsonLineInPieces(signal, row);
    yield '\n';
  }
}

function* csvPieces(signal: RecordSignal, rows: readonly StoredText[]): Generator<string> {
  for (const row of rows) {
    yield SIGNAL_WORDS[signal];
    for (const { name } of STORED_COLUMNS[signal]) {
      yield ',';
      yield* cellPieces(row[name] ?? null);
    }
    yield '\r\n';
  }
}

function spansQuestion(context: RequestContext, limit: number): Statement {
  const parameters = new Parameters();
  const { trace, row, own, sums, implied } = conditionsOf(context, 'span', parameters);
  const { list, from } = storedTextQuery('traces', partlyHidden(context));
  const range = rangeOf(context);
  // PostgreSQL would look above each span before it joins the traces.
  const ofRow = implied.length === 0 ? row : [...own, `CASE WHEN ${allOf(implied)} THEN ${allOf(row)} ELSE false END`];
  const conditions = [...trace, ...ofRow, ...sums, ...environmentCondition(context, 's.environment', parameters)];
  const text = `SELECT ${list} FROM ${from} JOIN sluice.traces t ON t.trace_id = s.trace_id AND t.project = s.project
    WHERE s.project = ${parameters.text(context.project)} AND s.start_time_unix_nano >= ${parameters.add(String(range.from))}::int8
      AND s.start_time_unix_nano <= ${parameters.add(String(range.until - 1n))}::int8 AND ${allOf(conditions)}
    ORDER BY s.start_time_unix_nano DESC, s.trace_id, s.span_id LIMIT ${parameters.add(limit)}::int4`;
  return { text, values: parameters.values };
}

function logsQuestion(context: RequestContext, limit: number): Statement {
  const parameters = new Parameters();
  const { row } = conditionsOf(context, 'log', parameters);
  const range = rangeOf(context);
  const most = `${parameters.add(limit)}::int4`;
  const source = logsByTime({
    project: parameters.text(context.project),
    lowest: `${parameters.add(String(range.from))}::int8`,
    highest: `${parameters.add(String(range.until - 1n))}::int8`,
    conditions: allOf([...row, ...environmentCondition(context, 'l.environment', parameters)]),
    most,
  });
  const { list, from } = storedTextQuery('logs', undefined, source);
  const text = `SELECT ${list} FROM ${from} ORDER BY ${newestFirst('s')} LIMIT ${most}`;
  return { text, values: parameters.values };
}

async function* traceLines(context: RequestContext, form: Form, limit: number): AsyncGenerator<string> {
  const { project, reader } = context;
  const parameters = new Parameters();
  // Once for all pages.
  const conditions = await withNamedTraces(reader, project, conditionsOf(context, 'span', parameters), parameters);
  const trace = [...conditions.trace, ...environmentCondition(context, 't.environment', parameters)];
  const search = {
    ...{ project, range: rangeOf(context), conditions: { ...conditions, trace }, parameters },
  };
  let after: TracePosition | null = null;
  let count = 0;
  do {
    const found: FoundTraces = await searchTraces(reader, {
      ...search,
      after,
      limit: Math.min(PAGE, limit - count),
    });
    const { items } = found;
    if (form === 'csv')
      yield csvOf(
        items.map((item) => parseExact(item) as TraceRow),
        count === 0,
      );
    else yield items.map((item) => `${item}\n`).join('');
    count += items.length;
    after = found.next;
  } while (after !== null && count < limit);
}

/** The names come with the first rows. */
function csvOf(rows: readonly TraceRow[], isFirst: boolean): string {
  const [first] = rows;
  const head = isFirst && first !== undefined ? `${Object.keys(first).join(',')}\r\n` : '';
  const cells = (row: TraceRow): string =>
    Object.values(row)
      .map((value: unknown) => cellOf(value === null ? null : Array.isArray(value) ? value.join(' ') : String(value)))
      .join(',');
  return head + rows.map((row) => `${cells(row)}\r\n`).join('');
}

const cellOf = (text: string | null): string => [...cellPieces(text)].join('');

function* cellPieces(text: string | null): Generator<string> {
  if (text === null) return;
  const safe = isFormula(text) && !/^-?\d+(?:\.\d+)?$/u.test(text) ? `'${text}` : text;
  if (!/[",\r\n']/u.test(safe)) {
    yield safe;
    return;
  }
  yield '"';
  for (let at = 0; at < safe.length; at += PIECE_CHARACTERS)
    yield safe.slice(at, at + PIECE_CHARACTERS).replaceAll('"', '""');
  yield '"';
}
