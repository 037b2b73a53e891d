/** Draws a trace for a terminal: the tree on the left, a bar for each duration, tokens and cost, then the totals. */
import { ERROR_SEVERITY } from '../../extensions/console/filter/failed-logs.ts';
import { formatCost, formatCount, formatTook, plural } from './format.ts';
import { cut, pad, padLeft } from './screen-text.ts';
import { growTree, type TreeLine } from './span-tree.ts';
import type { Style } from '../terminal.ts';
import type { SpanRow, Totals, TraceRecord } from './trace-record.ts';
import { costsBelow, describeUsage, isMarked, LEGEND } from './usage-marks.ts';
import { MS_NS } from '../../pdata/time-units.ts';

/** Deeper spans are drawn at this depth, so that names stay readable. */
const DEEPEST = 12;
const NARROWEST = 60;
const TOOK_WIDTH = 7;
const KIND_WIDTH = 9;
const WARN_SEVERITY = 13;

const KINDS: Readonly<Record<string, string>> = {
  model_call: 'model',
  tool_step: 'tool',
  retrieval: 'retrieval',
  embedding: 'embedding',
  evaluation: 'evaluate',
};

interface Layout {
  readonly width: number;
  readonly name: number;
  readonly bar: number;
  readonly facts: number;
  readonly startNs: bigint;
  readonly durationNs: number;
  readonly style: Style;
}

export interface Drawing {
  readonly width: number;
  readonly style: Style;
  /** The number of drawn lines. The totals always include all. */
  readonly lineLimit: number;
  /** Lines below that of a record. */
  readonly below?: (line: TreeLine) => readonly string[];
}

export function drawTrace(record: TraceRecord, { width, style, lineLimit, below: more = () => [] }: Drawing): string {
  const { key, totals } = record;
  const lines = growTree(record.spans, record.logs);
  const layout = layoutFor(Math.max(width, NARROWEST), totals, style);
  const began = totals.start_time_unix_nano;
  const when = began === null ? '' : `, ${new Date(Number(BigInt(began) / MS_NS)).toISOString()}`;
  const below = costsBelow(lines);
  const shown = lines.slice(0, lineLimit);
  const drawn = shown.flatMap((line, at) => [...drawLine(line, layout, below[at] ?? null), ...more(line)]);
  const marked = shown.some((line) => isMarked(line.kind === 'span' ? line.span : line.log));
  const hidden = totals.span_count + totals.log_count - Math.min(lines.length, lineLimit);
  return [
    `${style.bold(key.traceId)}  ${style.dim(cut(`${key.project}, ${key.environment}${when}`, layout.width - key.traceId.length - 2))}`,
    '',
    ...drawn,
    ...(hidden > 0
      ? [style.yellow(`… ${plural(hidden, 'more line')}; see them with --limit, or all with --json`)]
      : []),
    '',
    ...(marked ? [style.dim(cut(LEGEND, layout.width))] : []),
    describeTotals(totals, style),
  ].join('\n');
}

function layoutFor(width: number, totals: Totals, style: Style): Layout {
  // Two spaces between the five columns.
  const room = width - TOOK_WIDTH - KIND_WIDTH - 8;
  const name = Math.floor(room * 0.4);
  const bar = Math.floor(room * 0.14);
  return {
    width,
    name,
    bar,
    facts: room - name - bar,
    startNs: BigInt(totals.start_time_unix_nano ?? 0),
    durationNs: Number(totals.duration_ns ?? 0),
    style,
  };
}

export const indentOf = ({ depth }: TreeLine): string => '  '.repeat(Math.min(depth, DEEPEST));

function drawLine(line: TreeLine, layout: Layout, costBelow: string | null): readonly string[] {
  const indent = indentOf(line);
  if (line.kind === 'log') return [drawLog(line, indent, layout)];
  const { span, parentMissing } = line;
  const { style } = layout;
  const failed = isFailed(span);
  const name = pad(
    `${indent}${parentMissing ? '… ' : ''}${cut(labelOf(span), layout.name - indent.length - (parentMissing ? 2 : 0))}`,
    layout.name,
  );
  const row = [
    failed ? style.red(name) : style.bold(name),
    style.cyan(pad(cut(kindOf(span), KIND_WIDTH), KIND_WIDTH)),
    padLeft(formatTook(span.duration_ns), TOOK_WIDTH),
    barOf(span, layout),
    cut(factsOf(span, costBelow), layout.facts),
  ];
  const text = row.join('  ').trimEnd();
  if (!failed) return [text];
  const message = [span.error_type, span.status_message].filter((each) => each !== null && each !== '').join(': ');
  const room = layout.width - indent.length - 4;
  return [text, `${indent}  ${style.red(`! ${cut(message === '' ? 'failed' : message, room)}`)}`];
}

function drawLog({ log }: Extract<TreeLine, { kind: 'log' }>, indent: string, layout: Layout): string {
  const { style, startNs } = layout;
  const severity = cut(log.severity_text ?? (log.severity_number === null ? 'log' : `level ${log.severity_number}`), 8);
  const after =
    log.time_unix_nano === null || startNs === 0n || BigInt(log.time_unix_nano) < startNs
      ? ''
      : `+${formatTook(String(BigInt(log.time_unix_nano) - startNs))} `;
  const said = [log.event_name, log.body].filter((each) => each !== null && each !== '').join(': ');
  const told = [describeUsage(log, null), said].filter((each) => each !== null).join(' · ');
  const text = `${indent}· ${cut(`${after}${severity} ${told}`, layout.width - indent.length - 2)}`;
  const number = log.severity_number ?? 0;
  return number >= ERROR_SEVERITY ? style.red(text) : number >= WARN_SEVERITY ? style.yellow(text) : style.dim(text);
}

const isFailed = ({ status, is_error }: SpanRow): boolean => status === 'error' || is_error === true;

/** The name of a tool or agent, when the span's name does not contain it. */
function labelOf({ name, tool_name, agent_name }: SpanRow): string {
  const own = tool_name ?? agent_name;
  return own === null || own === '' || name.includes(own) ? name : `${name} (${own})`;
}

const kindOf = ({ category }: SpanRow): string => (category === null ? '' : (KINDS[category] ?? category));

/** The position in the trace. Clocks of machines differ: a span outside of the trace is drawn at the edge. */
function barOf(span: SpanRow, { bar, startNs, durationNs, style }: Layout): string {
  const offset = Number(BigInt(span.start_time_unix_nano) - startNs);
  const scale = durationNs > 0 ? bar / durationNs : 0;
  const from = Math.min(bar - 1, Math.max(0, Math.floor(offset * scale)));
  const length = Math.max(1, Math.min(bar - from, Math.round(Number(span.duration_ns ?? 0) * scale)));
  const mark = span.duration_ns === null ? '?' : span.duration_ns === '0' ? '│' : '━'.repeat(length);
  const painted = isFailed(span) ? style.red(mark) : span.category === 'model_call' ? style.green(mark) : mark;
  return pad(' '.repeat(from) + painted, bar);
}

function factsOf(span: SpanRow, costBelow: string | null): string {
  // Tokens first: a long model name is cut at the end.
  return [describeUsage(span, costBelow), span.model, span.event_count === 0 ? null : plural(span.event_count, 'event')]
    .filter((fact) => fact !== null)
    .join(' · ');
}

function describeTotals(totals: Totals, style: Style): string {
  const cached = totals.cache_read_tokens ?? 0;
  const used =
    totals.input_tokens === null && totals.output_tokens === null
      ? []
      : [
          `${formatCount(totals.input_tokens)} tokens in${cached > 0 ? ` (${formatCount(cached)} cached)` : ''}, ${formatCount(totals.output_tokens)} out`,
        ];
  return [
    formatTook(totals.duration_ns),
    plural(totals.span_count, 'span'),
    ...(totals.log_count > 0 ? [plural(totals.log_count, 'log record')] : []),
    ...(totals.model_call_count > 0 ? [plural(totals.model_call_count, 'model call')] : []),
    ...used,
    ...(totals.total_cost === null ? [] : [style.bold(formatCost(totals.total_cost))]),
    ...(totals.unpriced_count > 0 ? [style.yellow(`${plural(totals.unpriced_count, 'call')} without a price`)] : []),
    ...(totals.error_count > 0 ? [style.red(plural(totals.error_count, 'error'))] : []),
  ].join(' · ');
}
