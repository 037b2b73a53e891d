// A server with a synchronous standby: nothing is acknowledged that is only on the primary. The standby here never
// connects, so every commit waits for it.
import t, { type Test } from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { connectTo } from '../../support/connection.ts';
import { send } from '../../support/otlp-client.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { makeServer } from '../../support/postgres.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import '../../support/long-file.ts';

const WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const aRequest = (): string => JSON.stringify(aTraceRequest([aSpan()]));

/** The server of all tests of this file, and a connection to it for the administrator. */
const server = await makeServer(t, { wal_level: 'replica', max_wal_senders: '2' });
await server.start();
const admin = await connectTo(t, server.url);

async function setStandby(name: string): Promise<void> {
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await admin.query('SELECT pg_reload_conf()');
  const isSet = async (): Promise<true | undefined> => {
    const { rows } = await admin.query('SHOW synchronous_standby_names');
    return rows[0].synchronous_standby_names === name || undefined;
  };
  await waitFor(isSet, { timeoutMs: PATIENCE_MS });
}

/** A daemon whose commits wait for a standby until the end of the test. */
async function startWithStandby(t: Test): Promise<PostgresDaemon> {
  const daemon = await startPostgresDaemon(t, { databaseUrl: server.url });
  t.equal((await send(daemon.url, { body: aRequest() })).status, 200);
  await setStandby('absent');
  t.teardown(() => setStandby(''));
  return daemon;
}

/** Ends the waits of sessions that the daemon has given up. */
const nobodyWaits = async (): Promise<true | undefined> => {
  await admin.query(`SELECT pg_terminate_backend(pid) FROM (${WAITING}) AS waiting`);
  return (await someoneWaits()) === undefined || undefined;
};
const someoneWaits = async (): Promise<true | undefined> =>
  ((await admin.query(WAITING)).rowCount ?? 0) > 0 || undefined;

const isStored = async (url: string, body: string): Promise<true | undefined> =>
  (await send(url, { body })).status === 200 || undefined;

for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
  t.test(`a commit that ${end} ends before the standby has it is not acknowledged`, async (t) => {
    const { url } = await startWithStandby(t);
    const body = aRequest();
    const first = send(url, { body });
    t.ok(await waitFor(someoneWaits, { timeoutMs: PATIENCE_MS }));
    await admin.query(`SELECT ${end}(pid) FROM (${WAITING}) AS waiting`);
    t.equal((await first).status, 503);

    await waitFor(nobodyWaits, { timeoutMs: PATIENCE_MS });
    const again = waitFor(() => isStored(url, body), { timeoutMs: PATIENCE_MS });
    t.equal(await Promise.race([again, waitFor(someoneWaits, { timeoutMs: PATIENCE_MS })]), true);
    await setStandby('');
    t.ok(await again);
    const { rows } = await admin.query(
      'SELECT count(*)::int4 AS spans, count(DISTINCT span_id)::int4 AS ids FROM spans',
    );
    t.equal(rows[0].spans, rows[0].ids);
  });
}

t.test('requests are refused while commits wait for a standby, and the log says why', async (t) => {
  const { url, log } = await startWithStandby(t);
  const waiting = send(url, { body: aRequest() });
  const explained = async (): Promise<true | undefined> =>
    log.some(({ fields }) => /commits wait for a synchronous standby/.test(String(fields['error']))) || undefined;
  t.ok(await waitFor(explained, { timeoutMs: PATIENCE_MS }));
  const body = aRequest();
  t.equal((await send(url, { body })).status, 503);

  await setStandby('');
  t.equal((await waiting).status, 200, 'the request that waited');
  t.ok(await waitFor(() => isStored(url, body), { timeoutMs: PATIENCE_MS }));
});
