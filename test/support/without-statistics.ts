/** Spans of many traces in tables without statistics, as those of a new day, and the cost of reading them. */
import { type Reading, spanRow, startReading, store } from './console-reading.ts';
import { eventually } from './eventually.ts';
import type { Teardown } from './postgres.ts';
import { HOUR_MS } from '../../src/pdata/time-units.ts';

export const TRACES = 400;
/** The spans of each trace. */
export const SPANS = 8;
const ENTRIES = `SELECT sum(idx_tup_read)::int4 AS entries FROM pg_stat_user_indexes WHERE relname LIKE 'spans%'`;
const FLUSH = 'SELECT pg_stat_force_next_flush()';
/** The connections of commands. The reader of the console keeps its own. */
const CONNECTIONS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'sluice-console'`;

export interface WithoutStatistics {
  readonly reading: Reading;
  /** How many entries of indexes the work reads. */
  entriesOf(work: () => Promise<unknown>): Promise<number>;
}

export async function startWithoutStatistics(t: Teardown): Promise<WithoutStatistics> {
  const reading = await startReading(t);
  await reading.client.query('ALTER TABLE sluice.spans_default SET (autovacuum_enabled = off)');
  const spans = Array.from({ length: TRACES * SPANS }, (_, at) =>
    spanRow({ trace: 1 + (at % TRACES), at: (at * HOUR_MS) / (TRACES * SPANS), request_model: 'gpt-5' }),
  );
  await store(reading, spans);
  const connections = async (): Promise<readonly number[]> =>
    (await reading.client.query(CONNECTIONS)).rows.map(({ pid }) => pid);
  // The statistics of a connection are written at its end, or by this statement. The pool has one connection in use.
  const entriesRead = async (): Promise<number> => {
    await reading.reader.query(FLUSH);
    await reading.client.query(FLUSH);
    await reading.client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await reading.client.query(ENTRIES);
    return rows[0].entries;
  };
  const entriesOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await entriesRead();
    const open = new Set(await connections());
    await work();
    // A server process writes its statistics some time after its client has closed the connection.
    await eventually('the connections of the work end', async () =>
      (await connections()).every((pid) => open.has(pid)),
    );
    return (await entriesRead()) - before;
  };
  return { reading, entriesOf };
}
