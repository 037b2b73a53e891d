/**
 * The open transaction of one attempt, which exporters join. It collects their rows and sends them in one write with
 * the opening steps, at `flush` or at its end. It counts the spans that were really stored.
 */
import type pg from 'pg';
import { type CopyTarget, PART_COLUMNS, type PostgresTransaction } from '../../../component/capabilities/postgres.ts';
import { PLAIN_SPAN_COLUMNS, TABLE_COLUMNS } from '../../../pdata/columns.ts';
import type { SharedContents } from '../../../pdata/shared-contents.ts';
import { OUTBOX_COLUMNS } from '../outbox/tuples.ts';
import { runPipeline, type Step, type StepResult } from '../wire-pipeline.ts';
import { isConnectionFailure } from '../sqlstate.ts';
import { insertSteps, tuplesIn } from './bound-rows.ts';
import { type KnownContents, shareSteps, unknownPortions } from './contents.ts';
import { isLong, type RowSums } from './limits.ts';
import { asRowFault } from './row-fault.ts';

const TABLES = {
  traces: { name: 'spans', columns: TABLE_COLUMNS.traces },
  plain_traces: { name: 'spans', columns: PLAIN_SPAN_COLUMNS },
  logs: { name: 'logs', columns: TABLE_COLUMNS.logs },
  metrics: { name: 'metric_points', columns: TABLE_COLUMNS.metrics },
  outbox: { name: 'outbox', columns: OUTBOX_COLUMNS.map((name) => ({ name })) },
  parts: { name: 'parts', columns: PART_COLUMNS.map((name) => ({ name })) },
} as const;

/**
 * Values stay uncompressed and inline: the final table would have to compress or move them again. A session of a pooler
 * may have the table of an earlier version, without defaults, under its former name.
 */
const MAKE_STAGE = `
  CREATE TEMP TABLE IF NOT EXISTS staged_spans (LIKE sluice.spans INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING DEFAULTS)
  WITH (toast_tuple_target = 8160) ON COMMIT DELETE ROWS`;
const UNSTAGE = `
  WITH stored AS (INSERT INTO sluice.spans SELECT * FROM pg_temp.staged_spans ON CONFLICT DO NOTHING RETURNING project)
  SELECT project, count(*)::int4 FROM stored GROUP BY project`;
/** Rows that are bound to statements are sent in portions of this size. */
const BOUND_PORTION_ROWS = 4096;

/**
 * How stored spans are handled. `fail`: they fail the transaction, which is fastest for all others. `stage`: spans pass
 * through a temporary table, and stored ones are left out. `bind`: the same without a temporary table, more slowly.
 */
export type Repeats = 'fail' | 'stage' | 'bind';

/** The role may not create temporary tables, or there is no room for them. */
export class StageUnavailable extends Error {
  constructor(error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The transaction was rolled back and the new contents were stored by themselves. The attempt starts again. */
export class ContentsStored extends Error {}

const asUnavailable = (error: unknown): unknown => (isConnectionFailure(error) ? error : new StageUnavailable(error));

export interface TransactionParts {
  readonly client: pg.Client;
  /** Steps that precede the rows. */
  readonly opening: readonly Step[];
  /** Guards that follow the rows, before anything is written that cannot be rolled back. */
  readonly closing: readonly Step[];
  readonly repeats: Repeats;
  readonly known: KnownContents;
  /** Whether all contents that the rows refer to are stored already. */
  readonly contentsAreStored: boolean;
}

export class OpenTransaction implements PostgresTransaction {
  readonly #client: pg.Client;
  readonly #repeats: Repeats;
  readonly #known: KnownContents;
  readonly #contentsAreStored: boolean;
  #steps: Step[];
  #closing: readonly Step[];
  #storedSpans: Map<string, number> | null = null;
  #isStaged = false;
  /** Ids of contents that become known with the commit. */
  readonly #shared: string[] = [];

  constructor({ client, opening, closing, repeats, known, contentsAreStored }: TransactionParts) {
    this.#client = client;
    this.#steps = [...opening];
    this.#closing = closing;
    this.#repeats = repeats;
    this.#known = known;
    this.#contentsAreStored = contentsAreStored;
  }

  /** Stored spans by project, when that may be fewer than claimed; null: all of them. */
  get storedSpans(): ReadonlyMap<string, number> | null {
    return this.#storedSpans;
  }

  async share(contents: readonly SharedContents[], rows: RowSums): Promise<void> {
    if (this.#contentsAreStored) return;
    const portions = unknownPortions(contents, this.#known);
    const first = portions.next();
    if (first.done === true) return;
    const second = portions.next();
    if (second.done !== true || isLong(rows)) {
      await this.#shareApart(contents);
      throw new ContentsStored();
    }
    this.#steps.push(...shareSteps(first.value));
    this.#shared.push(...first.value.keys());
  }

  /** Whether the server stores all spans that are copied or fails. Otherwise `flush` must precede the counters. */
  get storesAll(): boolean {
    return !this.#isStaged && this.#storedSpans === null;
  }

  /** Called after the commit. */
  committed(): void {
    this.#known.add(this.#shared);
  }

  async copy(target: CopyTarget, chunks: readonly Buffer[], rowCount: number): Promise<void> {
    const { name, columns } = TABLES[target];
    const repeats = name === 'spans' ? this.#repeats : 'fail';
    const names = columns.map((column) => column.name);
    if (repeats === 'bind') return this.#bind(`sluice.${name}`, names, chunks);
    if (repeats === 'stage' && !this.#isStaged) {
      this.#steps.push({ statement: { text: MAKE_STAGE }, translate: asUnavailable });
      this.#isStaged = true;
    }
    const table = repeats === 'stage' ? 'pg_temp.staged_spans' : `sluice.${name}`;
    this.#steps.push({
      statement: { text: `COPY ${table} (${names.join(', ')}) FROM STDIN (FORMAT binary)` },
      chunks,
      read: ({ tag }) => {
        if (tag !== `COPY ${rowCount}`)
          throw new Error(`the server stored a number of rows other than ${rowCount} rows: ${tag}`);
      },
      translate: asRowFault,
    });
  }

  /** Resolves when the server has processed all rows and every guard has passed. */
  async flush(): Promise<void> {
    if (this.#isStaged) this.#unstage();
    this.#close();
    await this.#send();
  }

  /** Sends the last steps, with everything that is not sent yet. */
  async end(steps: readonly Step[]): Promise<void> {
    this.#close();
    this.#steps.push(...steps);
    await this.#send();
  }

  #close(): void {
    this.#steps.push(...this.#closing);
    this.#closing = [];
  }

  async #send(): Promise<void> {
    const steps = this.#steps;
    this.#steps = [];
    if (steps.length > 0) await runPipeline(this.#client, steps);
  }

  /** Moves the staged spans of all `copy` calls into their table. */
  #unstage(): void {
    const read = ({ rows }: StepResult): void => {
      this.#storedSpans = new Map(rows.map(([project, spans]) => [String(project), Number(spans)]));
    };
    this.#steps.push({ statement: { text: UNSTAGE }, read, translate: asRowFault });
    this.#isStaged = false;
  }

  /**
   * Other requests with the same new contents wait until these are committed. To keep that wait short for large
   * requests, contents are committed before the rows, once the guards have admitted the requests.
   */
  async #shareApart(contents: readonly SharedContents[]): Promise<void> {
    await this.flush();
    await this.#client.query('ROLLBACK');
    for (const portion of unknownPortions(contents, this.#known)) {
      await runPipeline(this.#client, shareSteps(portion));
      this.#known.add(portion.keys());
    }
  }

  async #bind(table: string, columns: readonly string[], chunks: readonly Buffer[]): Promise<void> {
    const stored = this.#storedSpans ?? new Map<string, number>();
    this.#storedSpans = stored;
    const count = (project: string, spans: number): void =>
      void stored.set(project, (stored.get(project) ?? 0) + spans);
    let rows = 0;
    for (const tuples of tuplesIn(chunks, columns.length)) {
      for (const step of insertSteps({ table, columns, tuples }, count))
        this.#steps.push({ ...step, translate: asRowFault });
      rows += tuples.length;
      if (rows < BOUND_PORTION_ROWS) continue;
      await this.#send();
      rows = 0;
    }
  }
}
