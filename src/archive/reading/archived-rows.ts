/**
 * Archived rows within one session of PostgreSQL: wanted rows of the lake are copied into temporary tables, and queries
 * see them with the rows of PostgreSQL. All reads are of one snapshot, and nothing stays in the database.
 */
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Query } from '../../component/capabilities/postgres.ts';
import { errorCode, UserError } from '../../errors.ts';
import { type Duck, literal, quoted } from '../duckdb.ts';
import { type LakeSignal, tableOf } from '../lake-table.ts';
import { conditionOf as erasureOf, type Erasure, readErasures } from '../requested-erasures.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { type ArchivedFile, archivedFiles } from './archived-files.ts';
import { type ColumnChoice, isRead } from './column-choice.ts';
import { combined, completeTables, createTables } from './combined-tables.ts';
import { BrokenFile, type LeftOut, reasonOf } from './left-out.ts';
import {
  type ColumnValue,
  conditionOfTraces,
  copyParts,
  type Need,
  overCopy,
  type PartialFile,
  type TraceRange,
} from './partial-file.ts';
import { removeRepeated, removeStored } from './repeated-rows.ts';
import { columnNames, lakeNames, textQuery } from './text-rows.ts';
import { DAY_MS, MS_NS } from '../../pdata/time-units.ts';

/**
 * The most text that one command copies into the database. It is on the disk of the database until the command ends.
 */
const MAX_COPIED_BYTES = 2 * 1024 ** 3;

export interface LakeSession {
  readonly query: Query;
  copyIn(text: string, blocks: AsyncIterable<Buffer>): Promise<number>;
}

export interface ArchiveWork {
  readonly session: LakeSession;
  readonly store: ObjectStore;
  readonly duck: Duck;
  /** A folder for temporary files. */
  readonly folder: string;
  readonly columns: ColumnChoice;
  /** Called once for each file that cannot be read. */
  leaveOut(file: LeftOut): void;
}

/** Which rows of which files are wanted. */
export interface Wanted {
  readonly files: readonly ArchivedFile[];
  readonly project: string | null;
  /** Only rows of traces in these ranges; null: all rows. */
  readonly traces: readonly TraceRange[] | null;
  /** All wanted rows have this value in this column. */
  readonly equal?: ColumnValue;
  /** A condition of DuckDB for the rows of a signal; left out: all. */
  readonly where?: Readonly<Partial<Record<LakeSignal, string>>>;
}

export interface NewestTraces {
  readonly found: number;
  /** The time of the oldest found row. */
  readonly oldestNs: bigint | null;
}

export interface FoundTrace {
  readonly project: string;
  readonly traceId: string;
  /** The day of the file that has such a row, as YYYY-MM-DD. */
  readonly day: string;
}

/** What was read so far. */
export interface ReadFigures {
  readonly days: number;
  readonly files: number;
  readonly bytes: number;
}

export class ArchivedRows {
  readonly #work: ArchiveWork;
  readonly #erasures: readonly Erasure[];
  readonly #days = new Set<string>();
  readonly #files = new Set<string>();
  /** The keys of those that cannot be read. */
  readonly #leftOut = new Set<string>();
  #copiedBytes = 0;
  #readBytes = 0;
  #pending = new Map<LakeSignal, Set<string>>();
  #hasParts = false;

  private constructor(work: ArchiveWork, erasures: readonly Erasure[]) {
    this.#work = work;
    this.#erasures = erasures;
  }

  /** Within the transaction of `beginSnapshot`. `views`: the definitions of the readable views. */
  static async open(work: ArchiveWork, views: string): Promise<ArchivedRows> {
    await createTables(work.session.query, views);
    return new ArchivedRows(work, await readErasures(work.session.query));
  }

  get figures(): ReadFigures {
    return { days: this.#days.size, files: this.#files.size, bytes: this.#readBytes };
  }

  /** Copies the rows of the files. Returns their number. Queries see them after `complete`. */
  async load(wanted: Wanted): Promise<number> {
    let rows = 0;
    for (const file of wanted.files) rows += await this.#loadFile(file, wanted);
    return rows;
  }

  /** Remembers the traces of these rows for `IS_CHOSEN`, in place of those of the last call. */
  async chooseTraces(wanted: Wanted): Promise<void> {
    await this.#work.duck.run('CREATE OR REPLACE TABLE chosen (project VARCHAR, trace_id VARCHAR)');
    await this.#eachTrace(wanted, (from) => `INSERT INTO chosen SELECT project, trace_id FROM ${from}`);
  }

  /**
   * Remembers the newest traces that no earlier call found. A trace is as old as its first span, or as the arrival of
   * its first log record.
   */
  async chooseNewest(wanted: Wanted, count: number): Promise<NewestTraces> {
    const duck = this.#work.duck;
    await duck.run(`
      CREATE TABLE IF NOT EXISTS taken (project VARCHAR, trace_id VARCHAR);
      CREATE OR REPLACE TABLE times (project VARCHAR, trace_id VARCHAR, start_ns BIGINT, arrival_ns BIGINT)`);
    await this.#eachTrace(wanted, (from, { signal }) => {
      const times = signal === 'spans' ? 'min(start_time_unix_nano), NULL' : 'NULL, min(epoch_ns(received_at))';
      return `INSERT INTO times SELECT project, trace_id, ${times} FROM ${from}`;
    });
    await duck.run(`
      CREATE OR REPLACE TABLE chosen AS
        SELECT project, trace_id, coalesce(min(start_ns), min(arrival_ns)) AS time_ns FROM times ANTI JOIN taken USING (project, trace_id)
        GROUP BY ALL ORDER BY time_ns DESC LIMIT ${count};
      INSERT INTO taken SELECT project, trace_id FROM chosen`);
    const [row] = await duck.rows('SELECT count(*)::INTEGER AS found, min(time_ns)::VARCHAR AS oldest FROM chosen');
    const oldest = row?.['oldest'] ?? null;
    return { found: Number(row?.['found']), oldestNs: oldest === null ? null : BigInt(String(oldest)) };
  }

  /** The traces of these rows on each of their days, the newest day first, at most `limit`. */
  async findTraces(wanted: Wanted, limit: number): Promise<readonly FoundTrace[]> {
    const duck = this.#work.duck;
    await duck.run('CREATE OR REPLACE TABLE found (project VARCHAR, trace_id VARCHAR, day VARCHAR)');
    await this.#eachTrace(
      wanted,
      (from, { day }) => `INSERT INTO found SELECT project, trace_id, ${literal(day)} FROM ${from}`,
    );
    const rows = await duck.rows(
      `SELECT DISTINCT project, trace_id, day FROM found ORDER BY day DESC, project, trace_id LIMIT ${limit}`,
    );
    return rows.map((row) => ({
      project: String(row['project']),
      traceId: String(row['trace_id']),
      day: String(row['day']),
    }));
  }

  /** The values of a column of these rows, with their projects, at most `limit`. */
  async findValues(wanted: Wanted, column: string, limit: number): Promise<readonly (readonly [string, string])[]> {
    const duck = this.#work.duck;
    await duck.run('CREATE OR REPLACE TABLE found (project VARCHAR, value VARCHAR)');
    const condition = `${quoted(column)} IS NOT NULL`;
    await this.#eachPart(
      wanted,
      { columns: ['project', column], condition },
      (from) => `INSERT INTO found SELECT DISTINCT project, ${quoted(column)} FROM ${from}`,
    );
    const rows = await duck.rows(`SELECT DISTINCT project, value FROM found ORDER BY ALL LIMIT ${limit}`);
    return rows.map((row) => [String(row['project']), String(row['value'])]);
  }

  /** Runs a statement of DuckDB over the wanted rows of each file, grouped by trace. */
  #eachTrace(wanted: Wanted, statement: (from: string, file: ArchivedFile) => string): Promise<void> {
    const columns = ['project', 'trace_id'];
    return this.#eachPart(wanted, { columns, condition: 'trace_id IS NOT NULL' }, (from, file) =>
      statement(`${from} GROUP BY project, trace_id`, file),
    );
  }

  /** Runs a statement of DuckDB over the wanted rows of each file. */
  async #eachPart(
    wanted: Wanted,
    { columns: own, condition: also }: { readonly columns: readonly string[]; readonly condition: string },
    statement: (from: string, file: ArchivedFile) => string,
  ): Promise<void> {
    for (const file of wanted.files) {
      const { signal } = file;
      const condition = [this.#conditionOf(wanted, signal), also].join(' AND ');
      const time = signal === 'spans' ? 'start_time_unix_nano' : 'received_at';
      const columns = new Set([...own, time, ...namedIn(condition, columnNames(signal))]);
      await this.#read(file, { ...wanted, columns, compared: columns }, async (_, rows) =>
        this.#work.duck.run(statement(`${rows} WHERE ${condition}`, file)),
      );
    }
  }

  /** Removes all rows that were copied, and the choice of traces. */
  async clear(): Promise<void> {
    await this.#work.session.query('TRUNCATE pg_temp.lake_spans, pg_temp.lake_logs, pg_temp.lake_metric_points');
    await this.#work.duck.run('DROP TABLE IF EXISTS taken');
    this.#pending = new Map();
  }

  /** Removes rows that PostgreSQL still has and spans that were sent again, and derives the claims on traces. */
  async complete(): Promise<void> {
    const { session, columns } = this.#work;
    const { query } = session;
    for (const [signal, days] of this.#pending)
      for (const day of days) await removeStored(query, namesOf(signal, columns), { signal, day });
    this.#pending = new Map();
    if (this.#hasParts) await removeRepeated(query);
    await completeTables(query);
  }

  /** A query of the tables or views, over the rows of both places. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.#work.session.query(combined(text), values)).rows;
  }

  #conditionOf(wanted: Wanted, signal: LakeSignal): string {
    const isShown = this.#erasures.length === 0 ? [] : [`(${erasureOf({ signal }, this.#erasures)}) IS NOT TRUE`];
    return [...conditionsOf(wanted), `(${wanted.where?.[signal] ?? 'true'})`, ...isShown].join(' AND ');
  }

  async #loadFile(file: ArchivedFile, wanted: Wanted): Promise<number> {
    const { duck, folder, session } = this.#work;
    const { signal, day } = file;
    const names = namesOf(signal, this.#work.columns);
    const text = join(folder, 'rows.txt');
    const conditions = this.#conditionOf(wanted, signal);
    const columns = lakeNames(names);
    const need = { ...wanted, columns, compared: namedIn(conditions, columns) };
    try {
      const read = await this.#read(file, need, async ({ columns: present }, from) => {
        await duck.run(textQuery({ signal, names, present, from, where: conditions }, text));
        this.#copiedBytes += (await stat(text)).size;
        if (this.#copiedBytes > MAX_COPIED_BYTES) throw new TooMuchArchived();
        const list = names.map(quoted).join(', ');
        return copyValues(session, `COPY pg_temp.lake_${signal} (${list}) FROM STDIN`, text);
      });
      const rows = read ?? 0;
      this.#hasParts ||= file.local !== undefined && rows > 0;
      if (rows > 0) this.#pending.set(signal, (this.#pending.get(signal) ?? new Set()).add(day));
      return rows;
    } finally {
      await rm(text, { force: true });
    }
  }

  /**
   * Calls `use` with a copy of the parts of a file that may have wanted rows, and the rows as what follows FROM in
   * DuckDB. Returns null when there are none, and when the file cannot be read, which is reported.
   */
  async #read<Result>(
    file: ArchivedFile,
    need: Need,
    use: (copy: PartialFile, rows: string) => Promise<Result>,
  ): Promise<Result | null> {
    const { store, duck, folder } = this.#work;
    if (this.#leftOut.has(file.key)) return null;
    const local = join(folder, 'part.parquet');
    try {
      const copy = await this.#copy(file, need, local);
      if (copy.rows === 0) return null;
      const rows = rowsOf(file, need, copy);
      return await overCopy(duck, copy, () => use(copy, rows));
    } catch (error) {
      if (file.local !== undefined) throw error;
      const reason = await reasonOf(error, store, file);
      this.#leftOut.add(file.key);
      this.#work.leaveOut({ name: file.key, reason, untilNs: endOf(file) });
      return null;
    } finally {
      await rm(local, { force: true });
    }
  }

  /** Copies the parts of a file that may have wanted rows to `path`. A file of this machine is read at its place. */
  async #copy({ key, bytes, day, records, local }: ArchivedFile, need: Need, path: string): Promise<PartialFile> {
    const { store, duck } = this.#work;
    if (local !== undefined) return { path: local.path, columns: local.columns, rows: records };
    const count = (read: number): void => void (this.#readBytes += read);
    const copy = await copyParts({ store, key, bytes, count }, need, { duck, path });
    this.#days.add(day);
    this.#files.add(key);
    return copy;
  }
}

/** The rows of a copy, with null for columns that a file of an earlier version does not have. */
function rowsOf({ signal }: ArchivedFile, { columns }: Need, copy: PartialFile): string {
  const table = tableOf(signal);
  const rows = `read_parquet(${literal(copy.path)})`;
  const missing = table.columns.filter(({ name }) => columns.has(name) && !copy.columns.has(name));
  if (missing.length === 0) return rows;
  for (const { name } of missing) if (table.identity.includes(name)) throw new BrokenFile(`it has no column ${name}`);
  return `(SELECT *, ${missing.map(({ name, type }) => `NULL::${type} AS ${quoted(name)}`).join(', ')} FROM ${rows})`;
}

/** PostgreSQL has written these values, so one that it refuses now is damaged. */
async function copyValues({ query, copyIn }: LakeSession, copy: string, path: string): Promise<number> {
  await query('SAVEPOINT archived_file');
  try {
    const rows = await copyIn(copy, createReadStream(path));
    await query('RELEASE SAVEPOINT archived_file');
    return rows;
  } catch (error) {
    if (!DATA_EXCEPTION.test(errorCode(error))) throw error;
    await query('ROLLBACK TO SAVEPOINT archived_file');
    throw new BrokenFile((error as Error).message);
  }
}

/** The SQLSTATE of a value that a column does not take. */
const DATA_EXCEPTION = /^2[23]\w{3}$/u;

/** Log records and points are in the file of the day they arrived. */
function endOf({ day, maxNs }: ArchivedFile): bigint {
  const ns = BigInt(Date.parse(day) + DAY_MS) * MS_NS;
  return maxNs !== null && maxNs >= ns ? maxNs + 1n : ns;
}

class TooMuchArchived extends UserError {
  constructor() {
    super(
      `the archived rows of this range are more than ${MAX_COPIED_BYTES / 1024 ** 3} GiB`,
      'Ask for a shorter range or one project, or read the Parquet files with DuckDB (docs/archive.md).',
    );
  }
}

/**
 * Begins the transaction in which everything is read. Maintenance cannot drop a day until it ends. Returns the files
 * with records that PostgreSQL does not have.
 */
export async function beginSnapshot({ query }: LakeSession): Promise<readonly ArchivedFile[]> {
  await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE');
  await query('LOCK TABLE sluice.spans, sluice.logs, sluice.metric_points IN ACCESS SHARE MODE');
  return archivedFiles(query);
}

export const endSnapshot = async ({ query }: LakeSession): Promise<void> => void (await query('ROLLBACK'));

/** A condition of DuckDB: the row is of a trace that `chooseTraces` found. */
export const IS_CHOSEN = '(project, trace_id) IN (SELECT (project, trace_id) FROM chosen)';

/** The names that occur in the condition; some may be part of a longer name. */
const namedIn = (condition: string, names: Iterable<string>): ReadonlySet<string> =>
  new Set([...names].filter((name) => condition.includes(name)));

const namesOf = (signal: LakeSignal, columns: ColumnChoice): readonly string[] =>
  columnNames(signal).filter((name) => isRead(columns, name));

function conditionsOf({ project, traces, equal }: Wanted): readonly string[] {
  return [
    ...(project === null ? [] : [`project = ${literal(project)}`]),
    ...(traces === null ? [] : [conditionOfTraces(traces)]),
    ...(equal === undefined ? [] : [`${quoted(equal.column)} = ${literal(equal.value)}`]),
  ];
}
