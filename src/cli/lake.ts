/**
 * Archived days for the commands that read stored telemetry. A command asks for the rows that it needs; they are read
 * in its own process, and its queries then see them beside those of PostgreSQL.
 */
import { rm } from 'node:fs/promises';
import { Duck, MissingPackage } from '../archive/duckdb.ts';
import { IS_OF_TABLES } from '../component/archived-day.ts';
import { type ArchivedFile, readPlace } from '../archive/reading/archived-files.ts';
import {
  ArchivedRows,
  beginSnapshot,
  type ColumnChoice,
  endSnapshot,
  type FoundTrace,
  IS_CHOSEN,
  type LakeSession,
  type NewestTraces,
  type Wanted,
} from '../archive/reading/archived-rows.ts';
import { COMBINED } from '../archive/reading/combined-tables.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { readViews } from '../extensions/postgres/schema-state.ts';
import { openPlace } from './archive-place.ts';
import { makeWorkFolder } from './archive-work.ts';
import type { Call } from './command.ts';
import type { Options } from './options.ts';
import type { Reader } from './reader.ts';
import { formatBytes, plural } from './view/format.ts';

/** Of DuckDB, which sorts and filters rows. The process needs some 250 MiB more. */
const MEMORY_BYTES = 512 * 2 ** 20;

export const LAKE_OPTION = {
  lake: {
    type: 'text',
    value: 'DIR',
    description: 'The folder or bucket with archived days',
    otherwise: 'where `sluice archive` wrote last',
  },
} as const satisfies Options;

/** Where the lake must be searched for what is shown. */
export const LAKE_SEARCH_OPTIONS = {
  ...LAKE_OPTION,
  since: { type: 'text', value: 'DURATION', description: 'Search archived days of this time only' },
} as const satisfies Options;

/** Runs `work` within one snapshot of the database. Null: no day is archived and dropped. */
export async function withLake<Result>(
  call: Call,
  reader: Reader,
  columns: ColumnChoice,
  work: (lake: Lake | null) => Promise<Result>,
): Promise<Result> {
  const [row] = await reader.query(
    `SELECT EXISTS (SELECT FROM sluice.lake_jobs WHERE state = 'published' AND ${IS_OF_TABLES}) AS found`,
  );
  if (row?.['found'] !== true) return work(null);
  const session = sessionOf(reader);
  const files = await beginSnapshot(session);
  const lake = new Lake({ call, reader, session, columns }, files);
  try {
    return await work(files.length === 0 ? null : lake);
  } finally {
    await lake.close();
    // The connection may be gone.
    await endSnapshot(session).catch(() => undefined);
  }
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
}

/** What is open while archived rows are read. */
interface Opened {
  readonly rows: ArchivedRows;
  readonly duck: Duck;
  readonly store: ObjectStore;
  readonly folder: string;
}

export interface Unread {
  readonly why: string;
  readonly hint: string;
}

export class Lake {
  /** The files with records that PostgreSQL does not have, the newest day first. */
  readonly files: readonly ArchivedFile[];
  readonly #context: Context;
  #opened: Opened | null = null;
  #unread: Unread | null = null;

  constructor(context: Context, files: readonly ArchivedFile[]) {
    this.#context = context;
    this.files = files;
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

  async complete(): Promise<void> {
    await this.#opened?.rows.complete();
  }

  /** Also says what was read. */
  async close(): Promise<void> {
    if (this.#opened === null) return;
    const { rows, duck, store, folder } = this.#opened;
    this.#opened = null;
    duck.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
    const { days, files, bytes } = rows.figures;
    this.#context.call.terminal.say(
      `Read ${plural(days, 'archived day')}: ${formatBytes(bytes)} of ${plural(files, 'file')} in ${store.url}.`,
    );
  }

  async #rowsFor({ files }: Wanted): Promise<ArchivedRows | null> {
    if (files.length === 0 || this.#unread !== null) return null;
    this.#opened ??= await this.#open(files);
    return this.#opened?.rows ?? null;
  }

  async #open(files: readonly ArchivedFile[]): Promise<Opened | null> {
    const { call, session, columns } = this.#context;
    const place = call.values.text('lake') ?? (await readPlace(session.query));
    if (place === null) return this.#refuse(files, 'no run has recorded where they are', 'Name it with --lake DIR.');
    const store = openPlace(call, place);
    const folder = await makeWorkFolder(call.process);
    let duck: Duck;
    try {
      duck = await Duck.open({ memoryBytes: MEMORY_BYTES, folder });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      await store.close();
      if (!(error instanceof MissingPackage)) throw error;
      return this.#refuse(files, error.message, error.hint ?? '');
    }
    const rows = await ArchivedRows.open({ session, store, duck, folder, columns }, await readViews());
    return { rows, duck, store, folder };
  }

  #refuse(files: readonly ArchivedFile[], why: string, hint: string): null {
    this.#unread = { why, hint };
    const days = files.map(({ day }) => day).sort();
    const range = days[0] === days.at(-1) ? `${days[0]}` : `${days[0]} to ${days.at(-1)}`;
    this.#context.call.terminal.say(`Archived days (${range}) are not read: ${why}\n  hint: ${hint}`);
    return null;
  }
}
