/** `sluice span ID`: everything that is stored of one span. */
import { CONTENT_COLUMNS } from '../pdata/content-columns.ts';
import { type ContentRow, readRecord } from '../messages/read-record.ts';
import { isList, isObject, type Json, jsonText, parseJson } from '../pdata/exact-json.ts';
import { jsonLine, STORED_COLUMNS, type StoredText } from '../pdata/stored-text.ts';
import { loadTrace, loadTraceOfSpan, type TraceSearch } from './lake/archived-trace.ts';
import type { Command } from './command.ts';
import { explainMissing } from './content-capture.ts';
import { type Lake, LAKE_SEARCH_OPTIONS, withLake } from './lake/lake.ts';
import { type Reader, READER_OPTIONS, sinceOf, withReader } from './reader.ts';
import type { Terminal } from './terminal.ts';
import { formatTook } from './view/format.ts';
import { contentData, drawMessage } from './view/messages.ts';
import { asJson, cut, escapeJson, pad, widthOf, wrap } from './view/screen-text.ts';
import { findSpan, readSpan, searchSpan, type SpanRecord } from './view/span-record.ts';
import { findTrace } from './view/trace-record.ts';
import { onlyWord, textOption } from './options.ts';

/** Lines of one message or value. */
const MOST_LINES = 2_000;
const LONGEST_KEY = 48;
const NARROWEST = 20;
/** Columns that are shown in another form. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...[
    'trace_id',
    'span_id',
    'name',
    'project',
    'environment',
    'attributes',
    'resource',
    'scope_attributes',
    'events',
    'links',
  ],
  ...CONTENT_COLUMNS,
  'body',
]);

export const command: Command = {
  description:
    'Ids may be shortened to a unique prefix. Without --trace every stored span is searched, which takes a while in a\nlarge database, and then archived days, the newest first.',
  options: {
    ...READER_OPTIONS,
    ...LAKE_SEARCH_OPTIONS,
    trace: textOption('ID', 'The trace of the span', { short: 't' }),
  },
  examples: [
    ['sluice span 00f067aa0ba902b7 --trace 4bf92f3577b34da6', 'its messages, columns, attributes, events and links'],
    ['sluice span 00f067aa0ba902b7 --json', 'the row, its log records and its messages for programs'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const id = onlyWord(call, 'ID');
    const project = values.text('project') ?? null;
    const trace = values.text('trace') ?? null;
    const since = sinceOf(values, Date.now());
    return withReader(call, (reader) =>
      withLake(call, reader, { columns: 'all' }, async (lake) => {
        if (lake !== null) await loadSpan(lake, { id, trace, project, since });
        const every = lake?.reader ?? reader;
        const key = await findSpan(every, id, {
          project,
          trace: trace === null ? null : await findTrace(every, trace, project),
        });
        const record = await readSpan(every, key);
        terminal.print(values.flag('json') ? spanJson(record) : await describe(every, record, terminal));
      }),
    );
  },
};

/** Loads the archived records of the trace of the span. Without a trace, archived days are searched last. */
async function loadSpan(
  lake: Lake,
  { id, trace, ...search }: TraceSearch & { readonly trace: string | null },
): Promise<void> {
  if (trace !== null) return loadTrace(lake, { ...search, id: trace });
  const stored = await searchSpan(lake.reader, id, { project: search.project, trace: null });
  if (stored === null) await loadTraceOfSpan(lake, { ...search, id });
  else await loadTrace(lake, { ...search, id: stored.traceId });
}

/** The row and its log records as the `file` exporter writes them, each with its content as messages. */
function spanJson({ span, logs, logCount }: SpanRecord): string {
  const withContent = (signal: 'traces' | 'logs', row: StoredText): string =>
    `${jsonLine(signal, row).slice(0, -1)},"content":${asJson(contentData(readRecord(row as ContentRow)))}}`;
  const logLines = logs.map((log) => withContent('logs', log)).join(',\n');
  return escapeJson(`${withContent('traces', span).slice(0, -1)},"log_count":${logCount},"logs":[${logLines}]}`);
}

async function describe(
  reader: Reader,
  { key, span, logs, logCount }: SpanRecord,
  terminal: Terminal,
): Promise<string> {
  const { style, width } = terminal;
  const content = describeContent(span, terminal);
  const missing = [style.dim(`(${await explainMissing(reader, key.project, key.environment)})`)];
  return [
    `${style.bold(cut(span['name'] ?? '', Math.max(20, width - 20)))}  ${formatTook(span['duration_ns'] ?? null)}`,
    style.dim(`span ${key.spanId} of trace ${key.traceId}, ${cut(`${key.project}, ${key.environment}`, width)}`),
    '',
    ...(content.length > 0 || span['category'] === null ? content : missing),
    ...section('Columns', columnLines('traces', span, terminal), style.bold),
    ...section('Attributes', valueLines(span['attributes'], terminal), style.bold),
    ...section('Events', listLines(span['events'], terminal), style.bold),
    ...section('Links', listLines(span['links'], terminal), style.bold),
    ...section('Resource', valueLines(span['resource'], terminal), style.bold),
    ...section('Scope attributes', valueLines(span['scope_attributes'], terminal), style.bold),
    ...logs.flatMap((log) => section('Log record', logLines(log, terminal), style.bold)),
    ...(logs.length === logCount ? [] : ['', style.dim(`… the first ${logs.length} of ${logCount} log records`)]),
  ]
    .join('\n')
    .trimEnd();
}

function section(title: string, lines: readonly string[], bold: (text: string) => string): readonly string[] {
  return lines.length === 0 ? [] : ['', bold(title), ...lines];
}

const describeContent = (row: StoredText, { width, style }: Terminal): readonly string[] =>
  readRecord(row as ContentRow).flatMap(({ messages, isComplete }) => [
    ...messages.flatMap((message) => drawMessage(message, { indent: '', width, style, lines: MOST_LINES })),
    ...(isComplete ? [] : [style.dim('… more than is read; all of it is in --json')]),
  ]);

function logLines(log: StoredText, terminal: Terminal): readonly string[] {
  const body = parseJson(log['body'] ?? 'null') ?? null;
  return [
    ...describeContent(log, terminal),
    ...columnLines('logs', log, terminal),
    ...(body === null ? [] : pairs([['body', toldOf(body)]], terminal)),
    ...valueLines(log['attributes'], terminal),
  ];
}

function columnLines(signal: 'traces' | 'logs', row: StoredText, terminal: Terminal): readonly string[] {
  const names = STORED_COLUMNS[signal].map(({ name }) => name).filter((name) => !ELSEWHERE.has(name));
  const entries = names.map((name) => [name, row[name] ?? null] as const);
  return pairs(
    entries.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const])),
    terminal,
  );
}

function valueLines(text: string | null | undefined, terminal: Terminal): readonly string[] {
  const value = parseJson(text ?? '{}');
  if (!isObject(value)) return [];
  return pairs(
    Object.entries(value).map(([key, each]) => [key, toldOf(each)]),
    terminal,
  );
}

/** Events and links: their own fields, then their attributes. */
function listLines(text: string | null | undefined, terminal: Terminal): readonly string[] {
  const list = parseJson(text ?? '[]');
  if (!isList(list)) return [];
  return list.flatMap((each) => {
    if (!isObject(each)) return [];
    const { name, attributes, ...own } = each;
    const facts = Object.entries(own).map(([key, value]) => `${key} ${toldOf(value)}`);
    const title = [typeof name === 'string' ? name : null, ...facts].filter((fact) => fact !== null).join(' · ');
    return [
      `  ${cut(title, terminal.width - 2)}`,
      ...valueLines(jsonText(attributes ?? {}), terminal).map((line) => `  ${line}`),
    ];
  });
}

const toldOf = (value: Json): string => (typeof value === 'string' ? value : jsonText(value));

/** In two columns. */
function pairs(
  entries: readonly (readonly [key: string, text: string])[],
  { width, style }: Terminal,
): readonly string[] {
  const names = entries.map(([key]) => cut(key, LONGEST_KEY));
  const column = names.reduce((widest, name) => Math.max(widest, widthOf(name)), 0) + 2;
  return entries.flatMap(([, text], at) => {
    const { lines, whole } = wrap(text, Math.max(NARROWEST, width - column - 2), MOST_LINES);
    const [first = '', ...others] = lines;
    return [
      `  ${style.cyan(pad(names[at] ?? '', column))}${first}`.trimEnd(),
      ...others.map((line) => `  ${' '.repeat(column)}${line}`.trimEnd()),
      ...(whole ? [] : [style.dim('  … all of it is in --json')]),
    ];
  });
}
