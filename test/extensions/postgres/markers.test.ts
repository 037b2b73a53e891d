// After an ambiguous commit the markers say whether it happened; what they say must not come from an hour ago.
import pg from 'pg';
import t from 'tap';
import type { Claim } from '../../../src/component/ledger.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { askGuards, findMarkers, GUARD_STATEMENTS, nameOf } from '../../../src/extensions/postgres/ledger/guards.ts';
import { BEGIN } from '../../../src/extensions/postgres/ledger/transaction.ts';
import { migrate } from '../../../src/extensions/postgres/migrate.ts';
import { prepare } from '../../../src/extensions/postgres/pipeline.ts';
import { createDatabase } from '../../support/postgres.ts';

t.test('an expired marker is no proof that a lost commit happened, a fresh one is', async (t) => {
  const { url } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  await migrate(database, 'public');
  await database.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const project = { name: 'p', plan: 'paid' as const, monthlySpans: null, privacy: new Map() };
  const claim: Claim = {
    project,
    signal: 'logs',
    replayKey: Buffer.from('key'),
    traces: [],
    spanCount: 0,
    recordCount: 1,
  };
  await prepare(client, GUARD_STATEMENTS);
  t.same([...(await askGuards(client, BEGIN, [claim])).marked], [nameOf(claim)]);
  await client.query('COMMIT');
  t.equal((await findMarkers(client, [claim])).size, 1);
  await client.query('UPDATE sluice.replay_markers SET expires_ms = (extract(epoch FROM now()) * 1000)::int8 - 1');
  t.equal((await findMarkers(client, [claim])).size, 0);
  await client.end();
});
