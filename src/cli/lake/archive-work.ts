/** What a command needs to write or read the archive: a connection, DuckDB and a temporary folder. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchivedFile, Session, Step, Work } from '../../archive/archive-day.ts';
import { Duck } from '../../archive/duckdb.ts';
import type { DayOfTable } from '../../archive/lake-table.ts';
import { isAlive } from '../../component/process-life.ts';
import { UserError } from '../../errors.ts';
import { COMMAND_LINE } from '../../component/capabilities/people.ts';
import { writeAudit } from '../../extensions/postgres/audit.ts';
import { endConnection } from '../../extensions/postgres/connection-end.ts';
import type { Database } from '../../extensions/postgres/database.ts';
import { copyIn, copyOut } from '../../extensions/postgres/transfer/copy.ts';
import type { Call } from '../command.ts';
import { fileFault } from '../../component/file-fault.ts';
import { formatBytes, formatCount, plural } from '../view/format.ts';
import { progressLines } from '../view/progress.ts';
import { asJson } from '../view/screen-text.ts';

/** Temporary folders: this and the process id. */
const FOLDER = 'sluice-archive-';
const REST = /^sluice-archive-(\d+)-/u;

/** A table that an administrator locks must not hold a run without limit: it would hold snapshots and locks itself. */
const LOCK_TIMEOUT_MS = 60_000;

export async function withArchiveSession<Result>(
  database: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const client = await database.connect({
    yieldsToIngest: true,
    ready: (session) => session.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`),
  });
  try {
    return await work({
      query: (text, values = []) => client.query(text, [...values]),
      copyOut: (text) => copyOut(client, text).blocks,
      copyIn: (text, blocks) => copyIn(client, text, blocks),
    });
  } finally {
    await endConnection(client);
  }
}

/** The memory of Node.js, its libraries and the buffers of the process, without DuckDB. Measured. */
const PROCESS_BYTES = 320 * 2 ** 20;
/** With less DuckDB cannot sort large rows. */
const LEAST_DUCK_BYTES = 192 * 2 ** 20;

/** The part of the memory of the process that DuckDB may use. */
const duckBytesOf = (memoryBytes: number): number => Math.max(LEAST_DUCK_BYTES, memoryBytes - PROCESS_BYTES);

export interface WorkPlace extends Pick<Work, 'session' | 'store' | 'views'> {
  /** The memory of the process. */
  readonly memoryBytes: number;
}

/** With progress on standard error. */
export async function withArchiveWork<Result>(
  { terminal, process, earlyEnd }: Pick<Call, 'terminal' | 'process' | 'earlyEnd'>,
  { memoryBytes, session, store, views }: WorkPlace,
  use: (work: Work) => Promise<Result>,
): Promise<Result> {
  await removeRests(process);
  const { path: folder, remove } = await makeWorkFolder({ process, earlyEnd });
  const progress = progressLines((text) => terminal.say(text));
  const report = (step: Step, { table, day }: DayOfTable, rows: number): void =>
    progress({ unit: `${table.signal} of ${day}, ${step}`, rows, bytes: 0, share: null });
  try {
    const spill = join(folder, 'spill');
    await mkdir(spill);
    const duck = await Duck.open({ memoryBytes: duckBytesOf(memoryBytes), folder: spill, environment: process.env });
    try {
      return await use({ session, store, duck, folder, views, report });
    } finally {
      duck.close();
    }
  } catch (error) {
    return explainTemporary(error);
  } finally {
    await remove();
  }
}

/** Notes a file of the lake that was removed because of its age. */
export function noteExpired({ terminal }: Pick<Call, 'terminal'>, { session }: Pick<Work, 'session'>) {
  return async ({ key, records, bytes }: ArchivedFile): Promise<void> => {
    const change = { action: 'archive.expire', project: null, target: key, details: { records, bytes } };
    await writeAudit(session.query, COMMAND_LINE, change);
    terminal.say(`${key}: removed, ${formatCount(records)} records, ${formatBytes(bytes)}`);
  };
}

/** Says each file when it is written. */
export async function sayWritten({ terminal }: Pick<Call, 'terminal'>, files: AsyncIterable<ArchivedFile>) {
  const written: ArchivedFile[] = [];
  for await (const file of files) {
    written.push(file);
    terminal.say(`${file.key}: ${formatCount(file.records)} records, ${formatBytes(file.bytes)}`);
  }
  return written;
}

/** `none`: the sentence for no files. */
export function printWritten(
  { values, terminal }: Call,
  files: readonly ArchivedFile[],
  { verb, none }: { readonly verb: string; readonly none: string },
): void {
  const records = files.reduce((sum, file) => sum + file.records, 0);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (values.flag('json')) terminal.print(asJson(files));
  else if (files.length === 0) terminal.print(none);
  else
    terminal.print(`${verb} ${plural(records, 'record')} in ${plural(files.length, 'file')}: ${formatBytes(bytes)}.`);
}

export interface WorkFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A temporary folder, which the early end of the command removes. A later run removes that of a killed process. */
export async function makeWorkFolder({ process, earlyEnd }: Pick<Call, 'process' | 'earlyEnd'>): Promise<WorkFolder> {
  // Made after its removal is prepared: a signal may arrive at any moment.
  const making = Promise.resolve().then(() => mkdtemp(join(tmpdir(), `${FOLDER}${process.pid}-`)));
  // A query may still write into the folder when a signal ends the command.
  const erase = async (): Promise<void> => rm(await making, { recursive: true, force: true, maxRetries: 3 });
  const release = earlyEnd.prepare(erase);
  try {
    return { path: await making, remove: () => erase().finally(release) };
  } catch (error) {
    release();
    return explainTemporary(error);
  }
}

/** Codes of writes, whose errors have no path. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Throws the error again, or a `UserError` if it is of the folder for temporary files. */
export function explainTemporary(error: unknown): never {
  const { code = '', path = '' } = error as NodeJS.ErrnoException;
  if (!FULL.has(code) && !path.startsWith(tmpdir())) throw error;
  throw new UserError(
    `the folder for temporary files, ${tmpdir()}, cannot be used: ${fileFault(error)}`,
    'Set TMPDIR to another folder.',
  );
}

/** The folders of runs that were killed, which can be as large as a day. */
async function removeRests(host: NodeJS.Process): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(explainTemporary)) {
    const pid = REST.exec(name)?.[1];
    if (pid === undefined || (await isAlive(host, Number(pid)))) continue;
    // A folder of another user stays.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}
