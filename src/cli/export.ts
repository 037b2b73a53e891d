/** `sluice export`: stored rows of any filter as NDJSON, CSV or OTLP, a few at a time. */
import type { Statement } from '../component/capabilities/postgres.ts';
import type { StoredText } from '../pdata/stored-text.ts';
import { loadRecords, loadTracesOf } from './lake/archived-range.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { FORMS, type Form, type Format, formatOf } from './export/format.ts';
import { openFile, openStream, type Output } from './export/output.ts';
import {
  type Period,
  projectsOf,
  rowsQuestion,
  spansOfTracesQuestion,
  SUBJECTS,
  type Subject,
  traceRowsQuestion,
  tracesQuestion,
} from './export/query.ts';
import { FILTER_OPTION } from './filter-option.ts';
import { FILTER_OPTIONS } from './filters.ts';
import { type Lake, LAKE_OPTION, withLake } from './lake/lake.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { type Reader, rowsByCursor, timeOf, withReader } from './reader.ts';
import { formatBytes } from './view/format.ts';
import { textRow } from './view/span-record.ts';

const PROGRESS_MS = 500;

export const command: Command = {
  description:
    'Rows come in order of time, project by project; log records without a time of their own come last. With --what traces\na trace is one row, and with --as otlp all its spans. NDJSON has the lines of the file exporter; OTLP is one request a\nline, for /v1/traces, /v1/logs or /v1/metrics.',
  options: {
    ...CONFIG_OPTIONS,
    what: textOption(SUBJECTS.join('|'), 'The kind of rows', { default: 'spans' }),
    as: textOption(FORMS.join('|'), 'The form', { default: 'ndjson' }),
    output: textOption('FILE', 'Write to this file', { short: 'o', otherwise: 'standard output' }),
    project: textOption('NAME', 'Only this project', { short: 'p' }),
    ...FILTER_OPTIONS,
    ...FILTER_OPTION,
    ...LAKE_OPTION,
    'min-cost': textOption('AMOUNT', 'Only what costs at least this'),
    search: textOption('TEXT', 'Only with this text in a name or in content'),
    errors: flagOption('Only those with an error'),
    since: textOption('TIME', 'From this time: 12h or 7d ago, or 2026-11-20T14:00Z'),
    until: textOption('TIME', 'Before this time'),
  },
  examples: [
    ['sluice export --since 24h --output spans.ndjson', 'the spans of a day'],
    ['sluice export --what traces --as csv --project shop --errors', 'failed traces for a spreadsheet'],
    ['sluice export --what traces --as otlp --conversation c-17', 'complete traces, to be sent elsewhere'],
  ],
  run: (call) => {
    const { values } = call;
    const what = choiceOf(values, 'what', SUBJECTS);
    const as = choiceOf(values, 'as', FORMS);
    const nowMs = Date.now();
    const period = { since: timeOf(values, 'since', nowMs), until: timeOf(values, 'until', nowMs) };
    if (period.since !== null && period.until !== null && BigInt(period.since) >= BigInt(period.until))
      throw new UsageError('--since is not before --until', 'as --since 48h --until 24h for the day before');
    return withReader(call, async (reader) => {
      const path = values.text('output');
      const output = path === undefined ? openStream(call.process.stdout) : await openFile(path, call.earlyEnd);
      const job = { call, what, as, period, output };
      let rows: number | null = null;
      try {
        await withLake(call, reader, { columns: 'all' }, async (lake) => {
          if (lake !== null) await loadArchived(lake, job);
          const write = () => writeAll({ ...job, reader: lake?.reader ?? reader });
          rows = await (lake === null ? inSnapshot(reader, write) : write());
        });
      } finally {
        // Also without what the lake could not read.
        await output.close(rows !== null);
        if (rows !== null && path !== undefined)
          call.terminal.say(`${rows} ${wordOf(job)} in ${path}, ${formatBytes(output.bytes)}`);
      }
    });
  },
};

interface Request {
  readonly call: Call;
  readonly what: Subject;
  readonly as: Form;
  readonly period: Period;
  readonly output: Output;
}

interface Job extends Request {
  readonly reader: Reader;
}

/** The name of what is counted. OTLP has the spans of traces. */
const wordOf = ({ what, as }: Request): string => (what === 'traces' && as === 'otlp' ? 'spans' : what);

/** A trace is written with all its records, others by their times. */
async function loadArchived(lake: Lake, { call: { values }, what, period }: Request): Promise<void> {
  const range = { ...period, project: values.text('project') ?? null };
  if (what === 'traces') await loadTracesOf(lake, range);
  else await loadRecords(lake, what === 'metrics' ? 'metric_points' : what, range);
}

async function inSnapshot<Result>(reader: Reader, work: () => Promise<Result>): Promise<Result> {
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    return await work();
  } finally {
    // It fails too when the connection is lost.
    await reader.query('ROLLBACK').catch(() => undefined);
  }
}

/** Within one snapshot. */
async function writeAll(job: Job): Promise<number> {
  const { call, reader, what, output, as } = job;
  const format: Format = formatOf(what, as);
  const progress = progressOn(call, wordOf(job));
  const only = call.values.text('project');
  let rows = 0;
  await output.write(format.head);
  try {
    const projects = only === undefined ? await projectsOf(reader, what) : [only];
    for (const [at, project] of projects.entries()) {
      const place = projects.length === 1 ? '' : `, project ${at + 1} of ${projects.length}`;
      // A project without rows takes time too.
      progress(rows, output.bytes, place);
      for await (const some of rowsOf(job, project)) {
        if (output.isClosed) return rows;
        await output.write(format.write(some));
        rows += some.length;
        progress(rows, output.bytes, place);
      }
    }
    return rows;
  } finally {
    progress(null);
  }
}

async function* rowsOf(
  { call: { values }, reader, what, as, period }: Job,
  project: string,
): AsyncGenerator<readonly StoredText[]> {
  if (what !== 'traces') return yield* fetched(reader, rowsQuestion(what, values, project, period), 'export_rows');
  if (as === 'otlp')
    return yield* fetched(reader, spansOfTracesQuestion(reader, values, project, period), 'export_rows');
  for await (const ids of fetched(reader, tracesQuestion(reader, values, project, period), 'export_traces')) {
    const keys = ids.map(({ trace_id, created_at }) => ({ trace_id: trace_id ?? '', created_at: created_at ?? '' }));
    yield* fetched(reader, traceRowsQuestion(reader, project, keys), 'export_rows');
  }
}

async function* fetched(reader: Reader, question: Statement, cursor: string): AsyncGenerator<readonly StoredText[]> {
  for await (const rows of rowsByCursor(reader, cursor, question)) yield rows.map(textRow);
}

/** `place`: which of several projects it is. Null: the end. */
type Progress = (rows: number | null, bytes?: number, place?: string) => void;

/** One line that is written over, on a terminal only. */
function progressOn({ process: { stderr } }: Call, what: string): Progress {
  if (stderr.isTTY !== true) return () => undefined;
  let last = 0;
  let shown = false;
  return (rows, bytes = 0, place = '') => {
    if (rows === null) return void (shown && stderr.write('\r\u001b[K'));
    if (Date.now() - last < PROGRESS_MS) return;
    last = Date.now();
    shown = true;
    stderr.write(`\r\u001b[K${rows} ${what}, ${formatBytes(bytes)}${place}`);
  };
}

function choiceOf<Choice extends string>(values: Values, name: string, choices: readonly Choice[]): Choice {
  const word = values.word(name);
  const choice = choices.find((each) => each === word);
  if (choice === undefined) throw new UsageError(`--${name} takes one of ${choices.join(', ')}, not "${word}"`);
  return choice;
}
