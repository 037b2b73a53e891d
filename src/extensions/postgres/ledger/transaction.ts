/**
 * One attempt's open transaction, as the exporters join it. What they copy is kept until it has to be taken, then sent in one
 * write behind whatever opens the transaction. It knows how many spans were really stored.
 */
import type pg from 'pg';
import type { CopyTarget, PostgresTransaction } from '../../../component/postgres.ts';
import { LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from '../../../model/columns.ts';
import { OUTBOX_COLUMNS } from '../outbox/tuples.ts';
import { runPipeline, type Step, type StepResult } from '../pipeline.ts';

const TABLES = {
  traces: { name: 'spans', columns: SPAN_COLUMNS },
  logs: { name: 'logs', columns: LOG_COLUMNS },
  metrics: { name: 'metric_points', columns: METRIC_COLUMNS },
  outbox: { name: 'outbox', columns: OUTBOX_COLUMNS.map((name) => ({ name })) },
} as const;

/** Rows pass through whole: what the stage would compress or move aside, the table would have to again. */
const MAKE_STAGE = `
  CREATE TEMP TABLE IF NOT EXISTS stage_spans (LIKE sluice.spans INCLUDING STORAGE INCLUDING COMPRESSION)
  WITH (toast_tuple_target = 8160) ON COMMIT DELETE ROWS`;
/** From here on a COPY may honestly take longer than an ordinary statement; a timeout would only come back with every retry. */
const LARGE_COPY_ROWS = 20000;
const LARGE_COPY_MS_PER_ROW = 2;
const UNSTAGE = `
  WITH stored AS (INSERT INTO sluice.spans SELECT * FROM stage_spans ON CONFLICT DO NOTHING RETURNING project)
  SELECT project, count(*)::int4 AS spans FROM stored GROUP BY project`;

export const BEGIN: Step = { statement: { text: 'BEGIN' } };

export class OpenTransaction implements PostgresTransaction {
  readonly #client: pg.Client;
  readonly #viaStage: boolean;
  #steps: Step[];
  #storedSpans: ReadonlyMap<string, number> | null = null;

  /**
   * `opening`: steps that go ahead of the rows; none when the transaction is open. `viaStage`: spans go through a temporary
   * table, and those that are stored already are left out.
   */
  constructor(client: pg.Client, opening: readonly Step[], viaStage: boolean) {
    this.#client = client;
    this.#steps = [...opening];
    this.#viaStage = viaStage;
  }

  /** Spans stored by project, when that may be fewer than claimed; null: all of them. */
  get storedSpans(): ReadonlyMap<string, number> | null {
    return this.#storedSpans;
  }

  async copy(target: CopyTarget, chunks: readonly Buffer[], rowCount: number): Promise<void> {
    const staged = target === 'traces' && this.#viaStage;
    if (staged) this.#steps.push({ statement: { text: MAKE_STAGE } });
    if (rowCount > LARGE_COPY_ROWS) {
      const text = `SET LOCAL statement_timeout = ${rowCount * LARGE_COPY_MS_PER_ROW}`;
      this.#steps.push({ statement: { text } });
    }
    const { name, columns } = TABLES[target];
    const table = staged ? 'stage_spans' : `sluice.${name}`;
    const list = columns.map((column) => column.name).join(', ');
    this.#steps.push({
      statement: { text: `COPY ${table} (${list}) FROM STDIN (FORMAT binary)` },
      chunks,
      read: ({ tag }) => {
        if (tag !== `COPY ${rowCount}`) throw new Error(`the server took other than ${rowCount} rows: ${tag}`);
      },
    });
    if (staged) this.#steps.push({ statement: { text: UNSTAGE }, read: (result) => this.#readStored(result) });
  }

  /** Resolves when the server has taken everything so far; guards that went ahead hold then. */
  async taken(): Promise<void> {
    const steps = this.#steps;
    this.#steps = [];
    if (steps.length > 0) await runPipeline(this.#client, steps);
  }

  #readStored({ rows }: StepResult): void {
    this.#storedSpans = new Map(rows.map(([project, spans]) => [String(project), Number(spans)]));
  }
}
