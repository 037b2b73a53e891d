/** `sluice archive --to DIR`: days that have ended as Parquet files in a folder or bucket. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { archive, planned, type PlannedFile } from '../archive/archive.ts';
import type { ArchivedFile, Session, Step } from '../archive/archive-day.ts';
import { Duck } from '../archive/duckdb.ts';
import type { OpenDay } from '../archive/lake-jobs.ts';
import type { ObjectStore } from '../archive/store/object-store.ts';
import { openStore } from '../archive/store/open-store.ts';
import { isAlive } from '../component/process-life.ts';
import { parseByteSize, parseDuration } from '../config/units.ts';
import { endConnection } from '../extensions/postgres/connection-end.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { copyOut } from '../extensions/postgres/transfer/copy.ts';
import type { Call, Command, ExitCode } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { UsageError, type Values } from './options.ts';
import { layOut } from './terminal.ts';
import { formatBytes, formatCount, plural, UNKNOWN } from './view/format.ts';
import { progressLines } from './view/progress.ts';
import { asJson } from './view/screen-text.ts';

/** Below this DuckDB cannot sort rows of several mebibytes. */
const LEAST_MEMORY = 256 * 2 ** 20;

/** Temporary folders: this and the process id. */
const FOLDER = 'sluice-archive-';
const REST = /^sluice-archive-(\d+)-/u;
/** A name with a colon. A single letter is a drive. */
const URL_FORM = /^[a-z][a-z0-9+.-]+:/iu;

export const archiveCommand: Command = {
  description:
    'Writes the spans, log records and metric points of each UTC day that has ended as Parquet, sorted, below lake/ in DIR.\nEach file is read back and compared with the database before it is recorded. Records that arrived later become further\nfiles at the next run. An interrupted run is repeated. Nothing is removed from the database.',
  options: {
    ...CONFIG_OPTIONS,
    to: { type: 'text', value: 'DIR', description: 'A folder, or s3://bucket/prefix' },
    'older-than': {
      type: 'text',
      value: 'DURATION',
      description: 'Only days that ended this long ago',
      default: '7d',
    },
    memory: { type: 'text', value: 'SIZE', description: 'Memory for sorting; the rest is in files', default: '1GiB' },
    'dry-run': { type: 'flag', description: 'Only show what would be archived' },
    json: { type: 'flag', description: 'Print JSON' },
  },
  examples: [
    ['sluice archive --to /archive', 'what is older than seven days'],
    ['sluice archive --to /archive --older-than 1d --dry-run', 'the days, and how large their files may be'],
  ],
  run: async (call) => {
    const { values } = call;
    const to = values.text('to');
    if (to === undefined) throw new UsageError('name where to', 'as --to /archive or --to s3://bucket/prefix');
    const [olderThanMs, memoryBytes] = [ageOf(values), memoryOf(values)];
    const store = openStore(URL_FORM.test(to) ? to : resolve(call.process.cwd(), to), {
      environment: call.process.env,
    });
    try {
      return await withDatabase(call, 'write', (database, { options }) =>
        withSession(database, (session) => {
          const choice = { views: options.views_schema, olderThanMs, memoryBytes, store, session };
          return values.flag('dry-run') ? showPlan(call, choice) : run(call, choice);
        }),
      );
    } finally {
      await store.close();
    }
  },
};

interface Choice {
  readonly views: string;
  readonly olderThanMs: number;
  readonly memoryBytes: number;
  readonly store: ObjectStore;
  readonly session: Session;
}

function ageOf(values: Values): number {
  const text = values.word('older-than');
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--older-than takes a duration, not "${text}"`, 'as 36h or 7d');
  return ms;
}

function memoryOf(values: Values): number {
  const text = values.word('memory');
  const bytes = parseByteSize(text);
  if (bytes === null || bytes < LEAST_MEMORY)
    throw new UsageError(`--memory takes a size of at least ${formatBytes(LEAST_MEMORY)}, not "${text}"`, 'as 2GiB');
  return bytes;
}

async function withSession(database: Database, work: (session: Session) => Promise<ExitCode>): Promise<ExitCode> {
  const client = await database.connect();
  try {
    return await work({
      query: (text, values = []) => client.query(text, [...values]),
      copyOut: (text) => copyOut(client, text).blocks,
    });
  } finally {
    await endConnection(client);
  }
}

async function showPlan({ values, terminal }: Call, { session, views, olderThanMs }: Choice): Promise<ExitCode> {
  const files = await planned(session, views, { olderThanMs });
  terminal.print(values.flag('json') ? asJson(files) : planTable(files));
  return 0;
}

function planTable(files: readonly PlannedFile[]): string {
  if (files.length === 0) return 'All days are archived.';
  const rows = files.map(({ signal, day, records, expected_bytes: bytes, late }) => [
    day,
    signal,
    `${formatCount(records)}${late ? ' late' : ''}`,
    late ? UNKNOWN : `~${formatBytes(bytes)}`,
  ]);
  return layOut([['DAY', 'SIGNAL', 'RECORDS', 'FILE'], ...rows]);
}

async function run({ values, terminal, process }: Call, choice: Choice): Promise<ExitCode> {
  await removeRests(process);
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER}${process.pid}-`));
  const spill = join(folder, 'spill');
  await mkdir(spill);
  const duck = await Duck.open({ memoryBytes: choice.memoryBytes, folder: spill });
  const progress = progressLines((text) => terminal.say(text));
  const report = (step: Step, { table, day }: OpenDay, rows: number): void =>
    progress({ unit: `${table.signal} of ${day}, ${step}`, rows, bytes: 0, share: null });
  const files: ArchivedFile[] = [];
  try {
    const { session, store, views, olderThanMs } = choice;
    for await (const file of archive({ session, store, duck, folder, views, report }, { olderThanMs })) {
      files.push(file);
      terminal.say(`${file.key}: ${formatCount(file.records)} records, ${formatBytes(file.bytes)}`);
    }
  } finally {
    duck.close();
    await rm(folder, { recursive: true, force: true });
  }
  if (values.flag('json')) terminal.print(asJson(files));
  else terminal.print(summaryOf(files));
  return 0;
}

/** The folders of runs that were killed, which can be as large as a day. */
async function removeRests(host: NodeJS.Process): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = REST.exec(name)?.[1];
    if (pid === undefined || (await isAlive(host, Number(pid)))) continue;
    // A folder of another user stays.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function summaryOf(files: readonly ArchivedFile[]): string {
  const records = files.reduce((sum, file) => sum + file.records, 0);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (files.length === 0) return 'All days are archived.';
  return `Archived ${plural(records, 'record')} in ${plural(files.length, 'file')}: ${formatBytes(bytes)}.`;
}
