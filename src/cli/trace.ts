/** `sluice trace ID`: one trace as a waterfall. */
import { UserError } from '../errors.ts';
import { loadTrace } from './lake/archived-trace.ts';
import type { Command } from './command.ts';
import { explainMissing } from './content-capture.ts';
import { LAKE_SEARCH_OPTIONS, type Unread, withLake } from './lake/lake.ts';
import { flagOption, limitOf, limitOption, onlyWord } from './options.ts';
import { type Reader, READER_OPTIONS, sinceOf, withReader } from './reader.ts';
import type { Terminal } from './terminal.ts';
import { shortId } from './view/format.ts';
import { contentData, drawExcerpt } from './view/messages.ts';
import { asJson } from './view/screen-text.ts';
import { growTree, type TreeLine } from './view/span-tree.ts';
import { idOf, readContents } from './view/trace-content.ts';
import { findTrace, type LogRow, readTrace, type SpanRow, type TraceRecord } from './view/trace-record.ts';
import { drawTrace, indentOf } from './view/waterfall.ts';

/** Lines that are drawn by default. */
const DEFAULT_LINES = 500;
/** Most spans that are fetched. Parents beyond it are missing; totals are still correct. */
const MOST_SPANS = 20_000;
/** Messages below one line, and lines of each. */
const MESSAGES = 4;
const MESSAGE_LINES = 4;
/** Categories that have content unless it is not captured. */
const SPEAKING: ReadonlySet<string> = new Set(['model_call', 'tool_step', 'retrieval']);

export const command: Command = {
  description:
    'The id may be shortened to a unique prefix. A name that begins with … belongs to a span whose parent has not\narrived. Figures after Σ are the sum of the spans below; figures in parentheses are counted on another line and are\nnot part of the totals.',
  options: {
    ...READER_OPTIONS,
    ...LAKE_SEARCH_OPTIONS,
    content: flagOption('Show the messages of each call below its line'),
    limit: limitOption('Lines to draw', DEFAULT_LINES),
  },
  examples: [
    ['sluice trace 4bf92f3577b34da6', 'by a prefix of its id, as shown by `sluice traces`'],
    ['sluice trace 4bf92f3577b34da6 --content', 'with prompts, answers, arguments and results of tools'],
    ['sluice trace 4bf92f3577b34da6 --json', 'the same for programs'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const id = onlyWord(call, 'ID');
    const lineLimit = limitOf(values, MOST_SPANS);
    const project = values.text('project') ?? null;
    const since = sinceOf(values, Date.now());
    const show = async (reader: Reader, unread: Unread | null): Promise<void> => {
      const key = await findTrace(reader, id, project);
      const record = await readTrace(reader, key, MOST_SPANS);
      if (unread !== null && record.spans.length + record.logs.length === 0)
        throw new UserError('the records of the trace are not in PostgreSQL, and are not read', unread.hint);
      if (values.flag('json')) {
        const content = values.flag('content') ? await allContent(reader, record) : null;
        terminal.print(asJson(traceData(record, content)));
        return;
      }
      const { width, style } = terminal;
      const excerpts = values.flag('content') ? await excerptsOf(reader, record, lineLimit, terminal) : null;
      const below = (line: TreeLine): readonly string[] => excerpts?.get(idOf(recordOf(line))) ?? [];
      terminal.print(drawTrace(record, { width, style, lineLimit, below }));
    };
    return withReader(call, (reader) =>
      withLake(call, reader, { columns: 'all' }, async (lake) => {
        if (lake !== null) await loadTrace(lake, { id, project, since });
        return show(lake?.reader ?? reader, lake?.unread ?? null);
      }),
    );
  },
};

const recordOf = (line: TreeLine): SpanRow | LogRow => (line.kind === 'span' ? line.span : line.log);

function traceData({ key, totals, spans, logs }: TraceRecord, content: ReadonlyMap<string, object> | null): object {
  const { traceId: trace_id, ...owner } = key;
  const withContent = (record: SpanRow | LogRow): object =>
    content === null ? {} : { content: content.get(idOf(record)) ?? [] };
  return {
    trace_id,
    ...owner,
    ...totals,
    spans: spans.map((span) => ({ ...span, ...withContent(span) })),
    logs: logs.map(({ row_id: _place, ...log }, at) => ({ ...log, ...withContent(logs[at] as LogRow) })),
  };
}

async function allContent(reader: Reader, { key, spans, logs }: TraceRecord): Promise<ReadonlyMap<string, object>> {
  const found = new Map<string, object>();
  for await (const { record, sections } of readContents(reader, key, [...spans, ...logs]))
    found.set(idOf(record), contentData(sections));
  return found;
}

/** The lines below each drawn record, by the id of the record. */
async function excerptsOf(
  reader: Reader,
  { key, spans, logs }: TraceRecord,
  lineLimit: number,
  { width, style }: Terminal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const excerpts = new Map<string, readonly string[]>();
  const lines = growTree(spans, logs).slice(0, lineLimit);
  const indents = new Map(lines.map((line) => [idOf(recordOf(line)), `${indentOf(line)}    `]));
  const missing = style.dim(`(${await explainMissing(reader, key.project, key.environment)})`);
  for (const line of lines)
    if (line.kind === 'span' && line.span.category !== null && SPEAKING.has(line.span.category))
      excerpts.set(idOf(line.span), [`${indents.get(idOf(line.span))}${missing}`]);
  for await (const { record, sections } of readContents(reader, key, lines.map(recordOf))) {
    const hint = record.span_id === null ? '--json' : `sluice span ${record.span_id} --trace ${shortId(key.traceId)}`;
    const frame = { indent: indents.get(idOf(record)) ?? '', width, style, lines: MESSAGE_LINES };
    excerpts.set(idOf(record), drawExcerpt(sections, frame, MESSAGES, hint));
  }
  return excerpts;
}
