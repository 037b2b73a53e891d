/** An autovacuum that holds a table for long is cancelled by a change of the schema and by the archive. */
import type { Client } from 'pg';
import t, { type Test } from 'tap';
import { withTableLock } from '../../../src/archive/seals.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { changeSchema } from '../../../src/extensions/postgres/transactions.ts';
import { connectTo } from '../../support/connection.ts';
import { longTest } from '../../support/long.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createDatabase } from '../../support/postgres.ts';

const LOCK = 'LOCK TABLE busy IN SHARE ROW EXCLUSIVE MODE';
/** Hours for this table. */
const SLOW = 'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 0';

/** A connection to a database in which an autovacuum of the table `busy` has begun. */
async function beginVacuum(t: Test): Promise<Client> {
  const { url } = await createDatabase(t);
  const client = await connectTo(t, url);
  await client.query('ALTER SYSTEM SET autovacuum_naptime = 1');
  t.teardown(async () => {
    await client.query('ALTER SYSTEM RESET autovacuum_naptime');
    await client.query('SELECT pg_reload_conf()');
  });
  await client.query('SELECT pg_reload_conf()');
  await client.query(`CREATE TABLE busy (id int PRIMARY KEY) WITH (${SLOW}, autovacuum_vacuum_scale_factor = 0)`);
  await client.query('INSERT INTO busy SELECT generate_series(1, 300000)');
  await client.query('DELETE FROM busy WHERE id % 3 = 0');
  const began = await waitFor(
    async () => {
      const { rows } = await client.query("SELECT FROM pg_stat_progress_vacuum WHERE relid = 'busy'::regclass");
      return rows.length > 0 ? true : undefined;
    },
    { timeoutMs: PATIENCE_MS },
  );
  t.ok(began, 'the autovacuum has begun');
  return client;
}

t.test('a lock of the archive cancels the autovacuum of the table', async (t) => {
  const client = await beginVacuum(t);
  const query = (text: string) => client.query(text);
  await withTableLock(query, LOCK, { what: 'the table' });
});

longTest('a change of the schema cancels the autovacuum of the table', async (t) => {
  const client = await beginVacuum(t);
  await changeSchema(client, async () => {
    await client.query(LOCK);
  });
});
