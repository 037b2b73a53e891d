/**
 * The rows of a job within DuckDB: copied from PostgreSQL, compared with the earlier files of the day, written as
 * Parquet, and read back.
 */
import type { DuckDBAppender } from '@duckdb/node-api';
import { readTuples, type Tuple } from './copy-tuples.ts';
import { type Duck, explain, literal } from './duckdb.ts';
import { contentSum, type Figures, figuresIn, figuresOf } from './figures.ts';
import { type LakeTable, quoteds } from './lake-table.ts';
import { DAY_MS, DAY_NS } from '../pdata/time-units.ts';

const NULL = -1;
/** Rows are handed to DuckDB after this many bytes. Until then its memory limit does not count them. */
const FLUSH_BYTES = 8 * 1024 * 1024;
/** A row group is compressed as a whole, in memory. DuckDB makes them of multiples of 2048 rows. */
const ROW_GROUP_BYTES = 16 * 1024 * 1024;
const ROW_GROUP_UNIT = 2048;
const MAX_ROW_GROUP = 8 * ROW_GROUP_UNIT;
const ZSTD_LEVEL = 3;
/**
 * DuckDB sorts rows of several kilobytes only when most of them fit into its memory at once. So the keys are sorted
 * first, and then the rows in portions of this part of the memory. Each portion reads all rows, so beyond a number of
 * portions DuckDB sorts whole rows.
 */
const PORTION_SHARE = 1 / 3;
const MAX_PORTIONS = 24;

/** The key-value metadata of a file. */
export interface FileMark {
  readonly job: string;
  readonly token: string;
}

/** What a file holds, read from the file. */
export interface FileContents {
  readonly figures: Figures;
  /** A hash over whole rows, which only DuckDB computes. */
  readonly content: string;
}

export class Staging {
  readonly #duck: Duck;
  readonly #table: LakeTable;
  #rows = 0;
  #bytes = 0;

  constructor(duck: Duck, table: LakeTable) {
    this.#duck = duck;
    this.#table = table;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Copies the rows. `row_number` is their place in the data. */
  async copy(blocks: AsyncIterable<Buffer>): Promise<void> {
    const { columns } = this.#table;
    const names = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ');
    await this.#duck.run(`CREATE OR REPLACE TABLE staged (row_number BIGINT, ${names})`);
    const appender = await this.#duck.appender('staged');
    let waiting = 0;
    try {
      await readTuples(blocks, columns.length, (tuple) => {
        appender.appendBigInt(BigInt(this.#rows));
        for (const [index, { wire, type }] of columns.entries()) this.#append(appender, { tuple, index, wire, type });
        appender.endRow();
        this.#rows++;
        waiting += (tuple.ends.at(-1) ?? 0) - (tuple.starts[0] ?? 0);
        if (waiting < FLUSH_BYTES) return;
        appender.flushSync();
        this.#bytes += waiting;
        waiting = 0;
      });
      appender.flushSync();
    } catch (error) {
      explain(error);
    } finally {
      appender.closeSync();
    }
    this.#bytes += waiting;
    await this.#duck.run('CREATE OR REPLACE VIEW chosen AS SELECT * FROM staged');
  }

  #append(appender: DuckDBAppender, field: Field): void {
    const { tuple, index, wire } = field;
    const [start, end] = [tuple.starts[index] ?? 0, tuple.ends[index] ?? NULL];
    const { bytes } = tuple;
    if (end === NULL) appender.appendNull();
    else if (wire === 'text') appender.appendVarchar(bytes.toString('utf8', start, end));
    else if (wire === 'int8') appender.appendBigInt(bytes.readBigInt64BE(start));
    else if (wire === 'double') appender.appendDouble(bytes.readDoubleBE(start));
    else if (wire === 'int4') appender.appendInteger(bytes.readInt32BE(start));
    else if (wire === 'boolean') appender.appendBoolean(bytes[start] === 1);
    else this.#duck.appendTimestamp(appender, bytes.readBigInt64BE(start));
  }

  /** The figures of all rows that were copied. */
  async figures(): Promise<Figures> {
    return figuresOf((await this.#duck.rows(`SELECT ${figuresIn('duckdb', this.#table)} FROM staged`))[0]);
  }

  /**
   * Leaves out the rows of earlier files of the day. Spans have a unique key. Log records and metric points have none:
   * equal rows are counted, and as many as are in the files are left out.
   */
  async leaveOut(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    const key = this.#keyOf();
    const list = files.map(literal).join(', ');
    await this.#duck.run(`
      CREATE OR REPLACE TABLE archived AS SELECT ${key} AS key, count(*) AS copies FROM read_parquet([${list}]) GROUP BY key;
      CREATE OR REPLACE TABLE fresh AS SELECT row_number FROM (
        SELECT row_number, key, row_number() OVER (PARTITION BY key ORDER BY row_number) AS copy
        FROM (SELECT row_number, ${key} AS key FROM staged)) LEFT JOIN archived USING (key)
      WHERE archived.copies IS NULL OR copy > archived.copies;
      CREATE OR REPLACE VIEW chosen AS SELECT staged.* FROM staged SEMI JOIN fresh USING (row_number)`);
  }

  /** Copies the rows of a query, in its order. `bytes`: about their size. */
  async load(query: string, bytes: number): Promise<void> {
    await this.#duck.run(
      `CREATE OR REPLACE TABLE staged AS SELECT row_number() OVER () AS row_number, * FROM (${query})`,
    );
    const [row] = await this.#duck.rows('SELECT count(*)::double AS rows FROM staged');
    this.#rows = Number(row?.['rows']);
    this.#bytes = bytes;
  }

  /** Removes the rows for which the condition is true. */
  async remove(condition: string): Promise<void> {
    await this.#duck.run(`DELETE FROM staged WHERE coalesce(${condition}, false)`);
  }

  /** The number of rows of each project. */
  async projects(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#duck.rows('SELECT project, count(*)::double AS rows FROM staged GROUP BY project');
    return new Map(rows.map((row) => [String(row['project']), Number(row['rows'])]));
  }

  /** The UTC days of the rows, oldest first. */
  async days(): Promise<readonly string[]> {
    const { key } = this.#table;
    const day = key === 'received_at' ? `epoch_us(${key}) // 86400000000` : `${key} // ${DAY_NS}`;
    const rows = await this.#duck.rows(`SELECT DISTINCT (${day})::double AS day FROM staged ORDER BY day`);
    return rows.map((row) => new Date(Number(row['day']) * DAY_MS).toISOString().slice(0, 10));
  }

  /** Chooses the rows of the condition that are in none of the files. Of spans with one key it chooses the first. */
  async chooseNew(condition: string, files: readonly string[]): Promise<void> {
    if (this.#table.signal !== 'spans') {
      await this.#duck.run(`CREATE OR REPLACE VIEW chosen AS SELECT * FROM staged WHERE ${condition}`);
      return;
    }
    const key = this.#keyOf();
    const earlier =
      files.length === 0
        ? ''
        : `ANTI JOIN (SELECT ${key} AS key FROM read_parquet([${files.map(literal).join(', ')}])) USING (key)`;
    await this.#duck.run(`
      CREATE OR REPLACE TABLE fresh AS SELECT min(row_number) AS row_number
      FROM (SELECT row_number, ${key} AS key FROM staged WHERE ${condition}) ${earlier} GROUP BY key;
      CREATE OR REPLACE VIEW chosen AS SELECT staged.* FROM staged SEMI JOIN fresh USING (row_number)`);
  }

  /** Chooses the rows of a file, except those for which the condition is true. */
  async choose(path: string, except: string): Promise<void> {
    const from = literal(path);
    const [row] = await this.#duck.rows(
      `SELECT sum(total_uncompressed_size)::double AS bytes,
         (SELECT sum(num_rows)::double FROM parquet_file_metadata(${from})) AS records FROM parquet_metadata(${from})`,
    );
    this.#rows = Number(row?.['records']);
    this.#bytes = Number(row?.['bytes']);
    await this.#duck.run(
      `CREATE OR REPLACE VIEW chosen AS SELECT * EXCLUDE (file_row_number), file_row_number AS row_number
       FROM read_parquet(${from}, file_row_number = true) WHERE NOT coalesce(${except}, false)`,
    );
  }

  #keyOf(): string {
    const { signal, identity, columns } = this.#table;
    if (signal === 'spans') return `concat_ws('/', ${quoteds(identity)})`;
    const texts = columns.map(({ name }) => `"${name}"::VARCHAR`).join(', ');
    return `md5(to_json([${texts}])::VARCHAR)`;
  }

  /** The contents of the file that is to be written. */
  chosen(): Promise<FileContents> {
    return this.#contentsOf('chosen');
  }

  async write(path: string, { job, token }: FileMark): Promise<void> {
    const list = quoteds(this.#table.columns.map(({ name }) => name));
    const order = quoteds([...this.#table.order, 'row_number']);
    const portions = Math.ceil(this.#bytes / (this.#duck.memoryBytes * PORTION_SHARE));
    const isDivided = portions > 1 && portions <= MAX_PORTIONS;
    if (isDivided) await this.#sort(list, order, portions);
    await this.#duck.run(
      `COPY (SELECT ${list} FROM ${isDivided ? 'sorted' : `chosen ORDER BY ${order}`})
       TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL ${ZSTD_LEVEL}, ROW_GROUP_SIZE ${this.#rowGroup()},
       KV_METADATA {sluice_job: ${literal(job)}, sluice_token: ${literal(token)}});
       DROP TABLE IF EXISTS sorted`,
    );
  }

  /** Makes the table `sorted` from the chosen rows. */
  async #sort(list: string, order: string, portions: number): Promise<void> {
    await this.#duck.run(`
      CREATE OR REPLACE TABLE places AS SELECT row_number, row_number() OVER (ORDER BY ${order}) - 1 AS place FROM chosen;
      CREATE OR REPLACE TABLE sorted AS SELECT ${list} FROM chosen LIMIT 0`);
    const [row] = await this.#duck.rows('SELECT count(*)::double AS rows FROM places');
    const rows = Math.ceil(Number(row?.['rows']) / portions);
    for (let portion = 0; portion < portions; portion++)
      await this.#duck.run(`
        INSERT INTO sorted SELECT ${list} FROM chosen JOIN places USING (row_number)
        WHERE place >= ${portion * rows} AND place < ${(portion + 1) * rows} ORDER BY place`);
    await this.#duck.run('DROP TABLE places');
  }

  #rowGroup(): number {
    const rows = (ROW_GROUP_BYTES * this.#rows) / Math.max(this.#bytes, 1);
    return Math.min(MAX_ROW_GROUP, Math.max(1, Math.floor(rows / ROW_GROUP_UNIT)) * ROW_GROUP_UNIT);
  }

  /** Reads every value of a file. Rejects when it is damaged. */
  read(path: string): Promise<FileContents> {
    return this.#contentsOf(`read_parquet(${literal(path)})`);
  }

  async #contentsOf(from: string): Promise<FileContents> {
    const list = `${figuresIn('duckdb', this.#table)}, ${contentSum(this.#table)}`;
    const [row] = await this.#duck.rows(`SELECT ${list} FROM ${from}`);
    return { figures: figuresOf(row), content: String(row?.['content']) };
  }

  /** The mark of a file; null when it is not a file of the archive. */
  async markOf(path: string): Promise<FileMark | null> {
    const found = new Map<string, string>();
    try {
      const rows = await this.#duck.rows(
        `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${literal(path)})`,
      );
      for (const { key, value } of rows) found.set(String(key), String(value));
    } catch {
      return null;
    }
    const [job, token] = [found.get('sluice_job'), found.get('sluice_token')];
    return job === undefined || token === undefined ? null : { job, token };
  }

  /** The times and the projects of a file, for readers that choose among files. */
  async extentOf(path: string): Promise<Extent> {
    const [row] = await this.#duck.rows(
      `SELECT min(${this.#table.time})::text AS "minNs", max(${this.#table.time})::text AS "maxNs",
         list(DISTINCT project ORDER BY project) AS projects FROM read_parquet(${literal(path)})`,
    );
    const text = (value: unknown): string | null => (value === null ? null : String(value));
    return {
      minNs: text(row?.['minNs']),
      maxNs: text(row?.['maxNs']),
      projects: (row?.['projects'] ?? []) as readonly string[],
    };
  }
}

export interface Extent {
  readonly minNs: string | null;
  readonly maxNs: string | null;
  readonly projects: readonly string[];
}

interface Field {
  readonly tuple: Tuple;
  readonly index: number;
  readonly wire: LakeTable['columns'][number]['wire'];
  readonly type: string;
}
