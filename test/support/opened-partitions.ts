/** How many partitions the statements of some work open, also to be planned. */
import pg from 'pg';
import type { PostgresReader } from '../../src/component/capabilities/postgres-reader.ts';

const OPENED = `SELECT count(DISTINCT c.relname) FILTER (WHERE c.relname LIKE 'spans_%')::int4 AS spans,
    count(DISTINCT c.relname) FILTER (WHERE c.relname LIKE 'logs_%')::int4 AS logs
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE l.pid = pg_backend_pid() AND c.relkind = 'r'`;

export interface Opened {
  readonly spans: number;
  readonly logs: number;
}

/** The most partitions of each table that a statement of the work has opened. */
export async function openedBy(url: string, work: (reader: PostgresReader) => Promise<unknown>): Promise<Opened> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let most: Opened = { spans: 0, logs: 0 };
  const run =
    (mode: string) =>
    async (text: string, values: readonly unknown[] = []) => {
      await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}`);
      const { rows } = await client.query(text, [...values]);
      const { rows: opened } = await client.query(OPENED);
      await client.query('ROLLBACK');
      most = { spans: Math.max(most.spans, opened[0].spans), logs: Math.max(most.logs, opened[0].logs) };
      return rows;
    };
  const query = run('force_custom_plan');
  async function* stream(text: string, values: readonly unknown[] = []) {
    yield await query(text, values);
  }
  try {
    await work({ views: 'public', query, prepared: run('force_generic_plan'), stream });
  } finally {
    await client.end();
  }
  return most;
}
