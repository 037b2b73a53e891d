/** `sluice explain FILE|TRACE`: which attribute filled which column of a record, and how its cost came about. */
import type { Statement } from '../component/capabilities/postgres.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StoredPrice } from '../component/capabilities/price-directory.ts';
import type { Config } from '../config/config.ts';
import { FIRST_PROJECT } from '../daemon/daemon-host.ts';
import { UserError } from '../errors.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { findProject } from '../extensions/postgres/key-directory.ts';
import { listPrices } from '../extensions/postgres/price-directory.ts';
import type { Project } from '../pdata/context.ts';
import { DERIVED_COLUMNS } from '../pdata/columns.ts';
import { logNs } from '../pdata/log-time.ts';
import { loadTrace } from './lake/archived-trace.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { withDatabase } from './database.ts';
import { readInput } from './explanation/input.ts';
import { type Body, type ExplainedRecord, Stages } from './explanation/stages.ts';
import { bodyOfRow, derivationOfRow } from './explanation/stored-row.ts';
import { LAKE_SEARCH_OPTIONS, withLake } from './lake/lake.ts';
import { flagOption, onlyWord, textOption, UsageError } from './options.ts';
import { type Reader, type Row, rowsByCursor, sinceOf, withReader } from './reader.ts';
import { makeStyle } from './terminal.ts';
import { type Difference, drawExplanation, type Explained } from './view/explanation.ts';
import { asJson } from './view/screen-text.ts';
import { findTrace } from './view/trace-record.ts';

/** Further records of a trace are not read: this many spans and as many log records, or this length of either. */
const MOST_RECORDS = 2_000;
const MOST_CHARACTERS = 64 * 1024 * 1024;

export const command: Command = {
  description:
    'FILE holds a body of OTLP (protobuf or JSON, also gzip) or rows of the file exporter; TRACE is the id of a stored trace, or a\nunique prefix of it. The configuration is used as the daemon uses it: mappings, prices, capture and redaction. With --project,\nand for stored traces, the settings and prices that are stored for the project count too.',
  options: {
    ...CONFIG_OPTIONS,
    project: textOption('NAME', 'The project that the telemetry belongs to', { short: 'p' }),
    span: textOption('ID', 'Only the span with this id, or a prefix of it'),
    ...LAKE_SEARCH_OPTIONS,
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice explain 4bf92f3577b34da6 --span 00f067aa', 'a stored span whose figures look wrong'],
    ['sluice explain body.json', 'a body of OTLP, before it is sent'],
  ],
  async run(call) {
    const word = onlyWord(call, 'FILE|TRACE');
    const path = resolve(call.process.cwd(), word);
    if (existsSync(path)) return explainFile(call, path);
    if (!/^[0-9a-f]{1,32}$/iu.test(word))
      throw new UsageError(
        `"${word}" is neither a file nor the id of a trace`,
        'give the path of a file, or hex digits',
      );
    return explainTrace(call, word);
  },
};

async function explainFile(call: Call, path: string): Promise<void> {
  const name = call.values.text('project');
  if (name === undefined) {
    const stages = stagesOf(call, await readConfig(call), { project: unstoredProject(FIRST_PROJECT), prices: [] });
    return print(call, await explainInput(stages, path));
  }
  const explained = await withDatabase(call, 'read', async (database, { config }) =>
    explainInput(await storedStages(call, config, database, name), path),
  );
  print(call, explained);
}

async function explainInput(stages: Stages, path: string): Promise<readonly Explained[]> {
  const { bodies, rows } = readInput(path);
  const explained: Explained[] = [];
  for (const choices of bodies) explained.push(...(await explainFirst(stages, choices)).map(unstored));
  for (const row of rows) {
    if (row['signal'] === 'metric') continue;
    explained.push(await explainRow(stages, row));
  }
  return explained;
}

const unstored = (record: ExplainedRecord): Explained => ({ ...record, differences: [] });

/** Protobuf does not name its signal: a body is of the first signal as which it is valid. */
async function explainFirst(stages: Stages, choices: readonly Body[]): Promise<readonly ExplainedRecord[]> {
  let first: unknown = null;
  for (const body of choices) {
    try {
      return await stages.explain(body);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      first ??= error;
    }
  }
  throw first;
}

async function explainTrace(call: Call, id: string): Promise<void> {
  const project = call.values.text('project') ?? null;
  const since = sinceOf(call.values, Date.now());
  const { owner, rows, isCut } = await withReader(call, (reader) =>
    withLake(call, reader, { columns: 'all' }, async (lake) => {
      if (lake !== null) await loadTrace(lake, { id, project, since });
      const every = lake?.reader ?? reader;
      const key = await findTrace(every, id, project);
      const span = call.values.text('span')?.toLowerCase() ?? '';
      if (lake === null) await reader.query('BEGIN READ ONLY');
      const found = await readRows(every, { trace: key.traceId, project: key.project, span });
      return { owner: key.project, ...found };
    }),
  );
  const explained: Explained[] = [];
  await withDatabase(call, 'read', async (database, { config }) => {
    const stages = await storedStages(call, config, database, owner);
    for (const row of rows) explained.push(await explainRow(stages, row));
  });
  print(call, explained);
  if (isCut) call.terminal.say(`only ${rows.length} records of the trace are explained; --span ID explains one`);
}

interface StoredRows {
  readonly rows: readonly Row[];
  /** Whether the trace has further records. */
  readonly isCut: boolean;
}

/** Within a transaction. */
async function readRows(reader: Reader, of: RecordsOf): Promise<StoredRows> {
  const rows: Row[] = [];
  let isCut = false;
  for (const signal of SIGNALS) {
    const most = rows.length + MOST_RECORDS;
    let characters = 0;
    let isFull = false;
    for await (const part of rowsByCursor(reader, 'records', rowsQuestion(reader.views, signal, of))) {
      for (const { row } of part) {
        isFull ||= rows.length === most || characters > MOST_CHARACTERS;
        if (isFull) break;
        characters += String(row).length;
        rows.push(JSON.parse(String(row)) as Row);
      }
      if (isFull) break;
    }
    isCut ||= isFull;
  }
  return { rows, isCut };
}

interface RecordsOf {
  readonly project: string;
  readonly trace: string;
  /** The span's id or a prefix of it; empty: all records of the trace. */
  readonly span: string;
}

const SIGNALS = ['span', 'log'] as const;
const QUESTIONS = {
  span: {
    view: 'spans',
    texts: ['start_time_unix_nano', 'end_time_unix_nano', 'duration_ns'],
    order: 'r.start_time_unix_nano',
  },
  log: { view: 'logs', texts: ['time_unix_nano', 'observed_time_unix_nano'], order: logNs('r') },
} as const;

/**
 * Rows as the file exporter writes them: large integers and money are text. Log records have no id, so records of one
 * time are in order of their arrival and their text.
 */
function rowsQuestion(views: string, signal: (typeof SIGNALS)[number], { trace, project, span }: RecordsOf): Statement {
  const { view, texts, order } = QUESTIONS[signal];
  const exact = [...texts, 'input_cost', 'output_cost', 'total_cost'];
  const members = exact.map((column) => `'${column}', r.${column}::text`).join(', ');
  return {
    text: `SELECT (to_jsonb(r) || jsonb_build_object('signal', '${signal}', ${members}))::text AS row FROM ${views}.${view} r
      WHERE r.trace_id = $1 AND r.project = $2 AND starts_with(coalesce(r.span_id, ''), $3) ORDER BY ${order}, r.received_at, 1`,
    values: [trace, project, span],
  };
}

/** The explanation of one stored span as text, with the settings and prices of its project. */
export async function explainStoredSpan(
  call: Call,
  { reader, config, database }: StoredSource,
  { project, trace, span }: { readonly project: string; readonly trace: string; readonly span: string },
): Promise<string> {
  const rows: Row[] = [];
  for (const signal of SIGNALS) {
    const { text, values } = rowsQuestion(reader.views, signal, { project, trace, span });
    for (const { row } of await reader.query(text, values)) rows.push(JSON.parse(String(row)) as Row);
  }
  const stages = await storedStages(call, config, database, project);
  const told: string[] = [];
  for (const row of rows) told.push(drawExplanation(await explainRow(stages, row), makeStyle(false)));
  return told.join('\n\n');
}

interface StoredSource {
  readonly reader: Pick<Reader, 'query' | 'views'>;
  readonly config: Config;
  readonly database: Database;
}

/** With the settings and prices that are stored for the project. */
async function storedStages(call: Call, config: Config, database: Database, name: string): Promise<Stages> {
  const project = (await findProject(database, name)) ?? unstoredProject(name);
  return stagesOf(call, config, { project, prices: await listPrices(database, name) });
}

/** A project of static keys has no stored settings. */
const unstoredProject = (name: string): Project => ({ name, plan: 'paid', monthlySpans: null, privacy: new Map() });

function stagesOf(
  { process }: Call,
  config: Config,
  stored: { readonly project: Project; readonly prices: readonly StoredPrice[] },
): Stages {
  return new Stages({ ...stored, config, process, resolvePath: (path) => resolve(process.cwd(), path) });
}

async function explainRow(stages: Stages, row: Row): Promise<Explained> {
  const [record] = await stages.explain(bodyOfRow(row));
  if (record === undefined) throw new UserError('the row holds no record');
  const { derivation } = record;
  return {
    ...record,
    derivation: derivation === null ? null : derivationOfRow(derivation, row),
    differences: differencesOf(row, record.row),
  };
}

function differencesOf(stored: Row, now: Row): readonly Difference[] {
  return DERIVED_COLUMNS.flatMap(({ name }) => {
    if (!Object.hasOwn(stored, name)) return [];
    const [before, after] = [stored[name] ?? null, now[name] ?? null];
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ column: name, stored: before, now: after }];
  });
}

function isWanted({ values }: Call, row: Row): boolean {
  const wanted = values.text('span')?.toLowerCase();
  return wanted === undefined || String(row['span_id'] ?? '').startsWith(wanted);
}

function print(call: Call, explained: readonly Explained[]): void {
  const { values, terminal } = call;
  const wanted = explained.filter(({ row }) => isWanted(call, row));
  if (wanted.length === 0) throw new UserError('there is no such record', 'Leave out --span to see all of them.');
  if (values.flag('json')) terminal.print(asJson(wanted));
  else terminal.print(wanted.map((each) => drawExplanation(each, terminal.style)).join('\n\n'));
}
