/** One attempt's open transaction, as the exporters join it. It knows how many spans were really stored. */
import type pg from 'pg';
import type { PostgresTransaction } from '../../../component/postgres.ts';
import { LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from '../../../model/columns.ts';
import type { Signal } from '../../../model/context.ts';
import { copyBinary } from '../copy.ts';

const TABLES = {
  traces: { name: 'spans', columns: SPAN_COLUMNS },
  logs: { name: 'logs', columns: LOG_COLUMNS },
  metrics: { name: 'metric_points', columns: METRIC_COLUMNS },
} as const;

const MAKE_STAGE = 'CREATE TEMP TABLE IF NOT EXISTS stage_spans (LIKE sluice.spans) ON COMMIT DELETE ROWS';
/** From here on a COPY may honestly take longer than an ordinary statement; a timeout would only come back with every retry. */
const LARGE_COPY_ROWS = 20000;
const LARGE_COPY_MS_PER_ROW = 2;
const UNSTAGE = `
  WITH stored AS (INSERT INTO sluice.spans SELECT * FROM stage_spans ON CONFLICT DO NOTHING RETURNING project)
  SELECT project, count(*)::int4 AS spans FROM stored GROUP BY project`;

export class OpenTransaction implements PostgresTransaction {
  readonly #client: pg.Client;
  readonly #viaStage: boolean;
  #storedSpans: ReadonlyMap<string, number> | null = null;

  /** `viaStage`: spans go through a temporary table, and those that are stored already are left out. */
  constructor(client: pg.Client, viaStage: boolean) {
    this.#client = client;
    this.#viaStage = viaStage;
  }

  /** Spans stored by project, when that may be fewer than claimed; null: all of them. */
  get storedSpans(): ReadonlyMap<string, number> | null {
    return this.#storedSpans;
  }

  async copy(signal: Signal, chunks: readonly Buffer[], rowCount: number): Promise<void> {
    const staged = signal === 'traces' && this.#viaStage;
    if (staged) await this.#client.query(MAKE_STAGE);
    const { name, columns } = TABLES[signal];
    const target = staged ? 'stage_spans' : `sluice.${name}`;
    if (rowCount > LARGE_COPY_ROWS) {
      await this.#client.query(`SET LOCAL statement_timeout = ${rowCount * LARGE_COPY_MS_PER_ROW}`);
    }
    const list = columns.map((column) => column.name).join(', ');
    const copied = await copyBinary(this.#client, `COPY ${target} (${list}) FROM STDIN (FORMAT binary)`, chunks);
    if (copied !== rowCount) throw new Error(`the server took ${copied} of ${rowCount} rows`);
    if (staged) await this.#unstage();
  }

  async #unstage(): Promise<void> {
    const { rows } = await this.#client.query<{ project: string; spans: number }>(UNSTAGE);
    this.#storedSpans = new Map(rows.map(({ project, spans }) => [project, spans]));
  }
}
