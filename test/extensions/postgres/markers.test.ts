// After an ambiguous commit the markers show whether it happened. An expired marker must not count.
import t from 'tap';
import type { Claim } from '../../../src/component/capabilities/ledger.ts';
import { GUARD_STATEMENTS } from '../../../src/extensions/postgres/ledger/guard-statements.ts';
import { pessimisticGuards, findMarkers, nameOf } from '../../../src/extensions/postgres/ledger/guards.ts';
import { openingOf } from '../../../src/extensions/postgres/ledger/limits.ts';
import { prepare } from '../../../src/extensions/postgres/wire-pipeline.ts';
import { SHORTEN_MARKERS, SWEEP_MARKERS } from '../../../src/extensions/postgres/postgres.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { NO_TRACES } from '../../support/claimed-traces.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { openMigrated } from '../../support/migrated.ts';

t.test('an expired marker is no proof that a lost commit happened, a fresh one is', async (t) => {
  const client = await (await openMigrated(t)).connect();
  const project = { name: 'p', plan: 'paid' as const, monthlySpans: null, privacy: new Map() };
  const claim: Claim = {
    project,
    signal: 'logs',
    replayKey: Buffer.from('key'),
    traces: NO_TRACES,
    spanCount: 0,
    recordCount: 1,
  };
  await prepare(client, GUARD_STATEMENTS);
  t.same([...(await pessimisticGuards(client, openingOf([claim], false), [claim])).marked], [nameOf(claim)]);
  await client.query('COMMIT');
  t.equal((await findMarkers(client, [claim], { resetSeconds: 0 })).size, 1);
  await client.query('UPDATE sluice.replay_markers SET expires_ms = expires_ms - 60000');
  const [ageMs] = (await findMarkers(client, [claim], { resetSeconds: 0 })).values();
  t.ok(Number(ageMs) >= 60_000, 'the marker has its age');
  await client.query('UPDATE sluice.replay_markers SET expires_ms = (extract(epoch FROM now()) * 1000)::int8 - 1');
  t.equal((await findMarkers(client, [claim], { resetSeconds: 0 })).size, 0);
  await client.end();
});

t.test('a marker that is set again while the sweep waits for its row stays', async (t) => {
  const { connect } = await openMigrated(t);
  const [request, sweep, watcher] = [await connect(), await connect(), await connect()];
  await request.query("INSERT INTO sluice.replay_markers VALUES ('p', 'old', 1), ('p', 'set anew', 1)");
  await request.query('BEGIN');
  await request.query(
    "UPDATE sluice.replay_markers SET expires_ms = (extract(epoch FROM now()) * 1000)::int8 + 3600000 WHERE key = 'set anew'",
  );
  const swept = sweep.query(SWEEP_MARKERS);
  const waits = async (): Promise<true | undefined> => {
    const { rows } = await watcher.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    return rows.length > 0 ? true : undefined;
  };
  t.ok(await waitFor(waits, { timeoutMs: PATIENCE_MS }));
  await request.query('COMMIT');
  t.equal((await swept).rowCount, 1);
  const { rows } = await watcher.query("SELECT convert_from(key, 'UTF8') AS key FROM sluice.replay_markers");
  t.strictSame(rows, [{ key: 'set anew' }]);
  for (const client of [request, sweep, watcher]) await client.end();
});

t.test('after a clock that was ahead, a marker lasts an hour more', async (t) => {
  const client = await (await openMigrated(t)).connect();
  await client.query(`
    INSERT INTO sluice.replay_markers SELECT 'p', name::bytea, (extract(epoch FROM now()) * 1000)::int8 + minutes * 60000::int8
    FROM (VALUES ('usual', 59), ('two days', 48 * 60 + 60), ('ten years', 5260000)) m (name, minutes)`);
  t.equal((await client.query(SHORTEN_MARKERS)).rowCount, 2);
  t.equal((await client.query(SHORTEN_MARKERS)).rowCount, 0);
  const { rows } = await client.query(`
    SELECT convert_from(key, 'UTF8') AS key, round((expires_ms - extract(epoch FROM now()) * 1000) / 60000)::int4 AS minutes
    FROM sluice.replay_markers ORDER BY 1`);
  t.strictSame(rows, [
    { key: 'ten years', minutes: 60 },
    { key: 'two days', minutes: 60 },
    { key: 'usual', minutes: 59 },
  ]);
  await client.end();
});
