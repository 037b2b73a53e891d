/**
 * Archived days and records of objects for the commands that read stored telemetry. A command asks for the rows that it
 * needs; they are read in its own process, and its queries then see them beside those of PostgreSQL.
 */
import { Duck, MissingPackage } from '../../archive/duckdb.ts';
import { WAITING_PARTS } from '../../component/archived-day.ts';
import { type ArchivedFile, readPlace } from '../../archive/reading/archived-files.ts';
import {
  ArchivedRows,
  beginSnapshot,
  endSnapshot,
  type FoundTrace,
  IS_CHOSEN,
  type LakeSession,
  type NewestTraces,
  type Wanted,
} from '../../archive/reading/archived-rows.ts';
import type { ColumnChoice } from '../../archive/reading/column-choice.ts';
import { type LeftOut, reasonOfPart } from '../../archive/reading/left-out.ts';
import { COMBINED } from '../../archive/reading/combined-tables.ts';
import { makePartFiles } from '../../archive/reading/part-files.ts';
import { type PartScope, type WaitingPart, WaitingParts } from '../../archive/reading/waiting-parts.ts';
import { UserError } from '../../errors.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { readViews } from '../../extensions/postgres/schema-state.ts';
import { findObjectsOptions, keyOfObject, openPlace } from './archive-place.ts';
import { explainTemporary, makeWorkFolder, type WorkFolder } from './archive-work.ts';
import type { Call } from '../command.ts';
import { textOption } from '../options.ts';
import type { Reader } from '../reader.ts';
import { formatBytes, plural } from '../view/format.ts';
import { MS_NS } from '../../pdata/time-units.ts';

/** The memory limit of DuckDB, which sorts and filters rows. The process needs some 250 MiB more. */
const MEMORY_BYTES = 512 * 2 ** 20;
/** Compressed bytes of objects that one command reads, unless it says otherwise. */
const MOST_PART_BYTES = 256 * 2 ** 20;

export const LAKE_OPTION = {
  lake: textOption('DIR', 'The folder or bucket with archived days, or with objects', {
    otherwise: 'where they were written last',
  }),
};

/** Where the lake must be searched for what is shown. */
export const LAKE_SEARCH_OPTIONS = {
  ...LAKE_OPTION,
  since: textOption('TIME', 'Search archived days since this time only'),
};

/**
 * As `withReadableLake`. It rejects when `work` has shown what could be read and files were left out: the command then
 * fails.
 */
export const withLake = <Result>(
  call: Call,
  reader: Reader,
  choice: Pick<Context, 'columns'>,
  work: (lake: Lake | null) => Promise<Result>,
): Promise<Result> =>
  withReadableLake(call, reader, choice, async (lake) => {
    const result = await work(lake);
    const count = lake?.leftOut.length ?? 0;
    if (count > 0)
      throw new UserError(
        `the answer is incomplete: ${plural(count, 'file')} of the archive cannot be read`,
        'Bring the files back. If an erasure has replaced them meanwhile, run the command again. docs/archive.md says what to do when they are lost.',
      );
    return result;
  });

/** Runs `work` within one snapshot of the database. Null: PostgreSQL has all records. */
export async function withReadableLake<Result>(
  call: Call,
  reader: Reader,
  choice: Pick<Context, 'columns' | 'mostPartBytes'>,
  work: (lake: Lake | null) => Promise<Result>,
): Promise<Result> {
  const session = sessionOf(reader);
  if (!(await isSet(session, HAS_OTHERS))) return work(null);
  const files = await beginSnapshot(session);
  const hasParts = await isSet(session, HAS_PARTS);
  const lake = new Lake({ call, reader, session, ...choice, hasParts }, files);
  try {
    return await work(files.length === 0 && !hasParts ? null : lake);
  } catch (error) {
    return explainTemporary(error);
  } finally {
    await lake.close();
    // The connection may be gone.
    await endSnapshot(session).catch(() => undefined);
  }
}

const HAS_PARTS = `SELECT EXISTS (SELECT FROM ${WAITING_PARTS} p) AS found`;
const HAS_OTHERS = `SELECT EXISTS (SELECT FROM sluice.lake_jobs WHERE state = 'published')
  OR EXISTS (SELECT FROM ${WAITING_PARTS} p) AS found`;

async function isSet({ query }: LakeSession, question: string): Promise<boolean> {
  return (await query(question)).rows[0]?.['found'] === true;
}

const sessionOf = ({ query, copyIn }: Reader): LakeSession => ({
  query: async (text, values) => {
    // Several statements at once have no rows of their own.
    const rows = (await query(text, values)) ?? [];
    return { rows, rowCount: rows.length };
  },
  copyIn,
});

interface Context {
  readonly call: Call;
  readonly reader: Reader;
  readonly session: LakeSession;
  readonly columns: ColumnChoice;
  /** Whether some records are in objects only. */
  readonly hasParts: boolean;
  /** Compressed bytes of objects that are read; left out: as many as a command may read. */
  readonly mostPartBytes?: number;
}

/** What is open while archived rows are read. */
interface Opened {
  readonly rows: ArchivedRows;
  readonly duck: Duck;
  readonly store: ObjectStore;
  readonly workFolder: WorkFolder;
}

export interface Unread {
  readonly why: string;
  readonly hint: string;
}

/** Records that are not read because they are too many. */
interface TooMany extends Unread {
  readonly what: string;
}

export class Lake {
  readonly #context: Context;
  #files: readonly ArchivedFile[];
  #opened: Opened | null = null;
  #unread: Unread | null = null;
  #leftNs: bigint | null = null;
  readonly #leftOut: LeftOut[] = [];
  readonly #requests = { parts: 0, bytes: 0 };

  constructor(context: Context, files: readonly ArchivedFile[]) {
    this.#context = context;
    this.#files = files;
  }

  /** The files with records that PostgreSQL may not have, the newest day first. */
  get files(): readonly ArchivedFile[] {
    return this.#files;
  }

  /** The requests whose records are in objects only, for `include`. */
  async findParts(scope: PartScope): Promise<WaitingParts | null> {
    const { hasParts, session } = this.#context;
    return hasParts ? WaitingParts.find(session.query, scope) : null;
  }

  /** Adds the records of further requests to `files`, as files of this machine. */
  async include(waiting: WaitingParts, mostBytes: number): Promise<void> {
    const parts = waiting.take(mostBytes);
    if (parts.length === 0 || this.#unread !== null) return;
    const opened = (this.#opened ??= await this.#open([]));
    if (opened === null) return;
    const { duck, store, workFolder } = opened;
    const { columns } = this.#context;
    const folder = workFolder.path;
    const work = { source: { store, keyOf: keyOfObject }, duck, folder, columns, leaveOut: this.#leaveOutParts(store) };
    const made = await makePartFiles(work, parts, waiting.scope.traces);
    // Files of the lake come first.
    this.#files = [...this.#files, ...made].sort((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0));
    this.#requests.parts += parts.length;
    this.#requests.bytes += parts.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** As `include`, of all that a command may read. It says which are left out. */
  async includeParts(scope: PartScope): Promise<void> {
    const waiting = await this.findParts(scope);
    if (waiting === null) return;
    await this.include(waiting, this.#context.mostPartBytes ?? MOST_PART_BYTES);
    if (this.#unread === null && waiting.leftNs !== null) this.leaveOutRequests(waiting.leftNs);
  }

  /** Says that requests which arrived until this time are not read. */
  leaveOutRequests(ns: bigint): void {
    const hint = 'Publish them with `sluice compact`, or ask for one project or a shorter time.';
    this.leaveOut(ns, { what: 'Requests that arrived', why: 'their objects are too many to read', hint });
  }

  /** Says that records until this time, or some of them, are not read. */
  leaveOut(ns: bigint, { what, why, hint }: TooMany): void {
    if (this.#leftNs === null || ns > this.#leftNs) this.#leftNs = ns;
    const until = new Date(Number(ns / MS_NS)).toISOString();
    this.#context.call.terminal.say(`${what} until ${until} are left out: ${why}.\n  hint: ${hint}`);
  }

  /** The time of the newest record that was left out, in nanoseconds; null: none was. */
  get leftNs(): bigint | null {
    return this.#leftNs;
  }

  /** Files and objects that are lost or damaged. */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** Queries see the rows that were loaded before the last `complete`. */
  get reader(): Reader {
    const { reader } = this.#context;
    const rows = this.#opened?.rows;
    if (rows === undefined) return reader;
    return { ...reader, views: COMBINED, query: (text, values) => rows.query(text, values) };
  }

  /** Why archived days that were wanted are not read. */
  get unread(): Unread | null {
    return this.#unread;
  }

  /** Returns the number of rows; 0 also when archived days cannot be read, which is said. */
  async load(wanted: Wanted): Promise<number> {
    return (await (await this.#rowsFor(wanted))?.load(wanted)) ?? 0;
  }

  /** A condition for `load`: the row is of a trace that the last `chooseTraces` found. */
  readonly isChosen = IS_CHOSEN;

  async chooseTraces(wanted: Wanted): Promise<void> {
    await (await this.#rowsFor(wanted))?.chooseTraces(wanted);
  }

  async chooseNewest(wanted: Wanted, count: number): Promise<NewestTraces> {
    return (await (await this.#rowsFor(wanted))?.chooseNewest(wanted, count)) ?? { found: 0, oldestNs: null };
  }

  async findTraces(wanted: Wanted, limit: number): Promise<readonly FoundTrace[]> {
    return (await (await this.#rowsFor(wanted))?.findTraces(wanted, limit)) ?? [];
  }

  async findValues(wanted: Wanted, column: string, limit: number): Promise<readonly (readonly [string, string])[]> {
    return (await (await this.#rowsFor(wanted))?.findValues(wanted, column, limit)) ?? [];
  }

  /** Removes the rows that were loaded, so that they can be loaded with those of further requests. */
  async clear(): Promise<void> {
    await this.#opened?.rows.clear();
  }

  async complete(): Promise<void> {
    await this.#opened?.rows.complete();
  }

  /** Also says what was read. */
  async close(): Promise<void> {
    if (this.#opened === null) return;
    const { rows, duck, store, workFolder } = this.#opened;
    this.#opened = null;
    duck.close();
    await store.close();
    await workFolder.remove();
    const { days, files, bytes } = rows.figures;
    const { parts, bytes: partBytes } = this.#requests;
    const { terminal } = this.#context.call;
    if (files > 0)
      terminal.say(
        `Read ${plural(days, 'archived day')}: ${formatBytes(bytes)} of ${plural(files, 'file')} in ${store.url}.`,
      );
    if (parts > 0)
      terminal.say(`Read ${plural(parts, 'request')} in objects: ${formatBytes(partBytes)} in ${store.url}.`);
  }

  #leaveOutParts =
    (store: ObjectStore) =>
    async (error: unknown, parts: readonly WaitingPart[]): Promise<void> => {
      const reason = await reasonOfPart(error, store);
      for (const { objectId, codec, arrivedNs } of parts)
        this.#leaveOutFile(store, { name: keyOfObject(objectId, codec), reason, untilNs: arrivedNs + 1n });
    };

  /** A file is named once, an object with several parts too. */
  #leaveOutFile({ url }: ObjectStore, file: LeftOut): void {
    if (this.#leftOut.some(({ name }) => name === file.name)) return;
    this.#leftOut.push(file);
    this.#context.call.terminal.say(`${file.name} in ${url} is left out: ${file.reason}`);
  }

  async #rowsFor({ files }: Wanted): Promise<ArchivedRows | null> {
    if (files.length === 0 || this.#unread !== null) return null;
    this.#opened ??= await this.#open(files);
    return this.#opened?.rows ?? null;
  }

  async #open(files: readonly ArchivedFile[]): Promise<Opened | null> {
    const { call, session, columns, reader, hasParts } = this.#context;
    const place =
      call.values.text('lake') ??
      (hasParts ? findObjectsOptions(reader.config)?.to : null) ??
      (await readPlace(session.query)) ??
      findObjectsOptions(reader.config)?.to ??
      null;
    if (place === null) return this.#refuse(files, 'no run has recorded where they are', 'Name it with --lake DIR.');
    const store = openPlace(call, place);
    const workFolder = await makeWorkFolder(call);
    const folder = workFolder.path;
    let duck: Duck | null = null;
    try {
      duck = await Duck.open({ memoryBytes: MEMORY_BYTES, folder, environment: call.process.env });
      const leaveOut = (file: LeftOut): void => this.#leaveOutFile(store, file);
      const rows = await ArchivedRows.open({ session, store, duck, folder, columns, leaveOut }, await readViews());
      return { rows, duck, store, workFolder };
    } catch (error) {
      duck?.close();
      await workFolder.remove();
      await store.close();
      if (!(error instanceof MissingPackage)) throw error;
      return this.#refuse(files, error.message, error.hint ?? '');
    }
  }

  /** `files`: that were wanted; none when objects were. */
  #refuse(files: readonly ArchivedFile[], why: string, hint: string): null {
    this.#unread = { why, hint };
    const days = files.map(({ day }) => day).sort();
    const range = days[0] === days.at(-1) ? `${days[0]}` : `${days[0]} to ${days.at(-1)}`;
    const what = days.length === 0 ? 'Records in objects' : `Archived days (${range})`;
    this.#context.call.terminal.say(`${what} are not read: ${why}\n  hint: ${hint}`);
    return null;
  }
}
