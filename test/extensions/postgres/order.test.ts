// The order of arrival does not change tables and views. `node dist/test/campaigns/order/order.js` runs any number of
// permutations.
import t from 'tap';
import { OTHER_KEY } from '../../support/daemon.ts';
import { runOrderCampaign } from '../../campaigns/order/campaign.ts';
import { isLong } from '../../support/long.ts';
import { send } from '../../support/otlp-client.ts';
import { aLogRequest, attributes, newTraceId, START_NS } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { SERVED, startPostgresDaemon } from '../../support/postgres-daemon.ts';

const SEED = 7;

t.test('permutations of the same records in random requests end in the same tables and views', async (t) => {
  const { url } = await createDatabase(t, SERVED);
  const report = await runOrderCampaign(t, { databaseUrl: url, permutations: isLong ? 20 : 5, seed: SEED });
  t.strictSame(report.differences, []);
  t.ok(report.records > report.permutations, 'the comparison is not empty');
});

t.test('of two log records that report one call the same one counts in either order', async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  const call = (model: string, time: bigint) => ({
    timeUnixNano: String(time),
    traceId: newTraceId(),
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.response.id': 'the same',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    }),
  });
  const later = (): object => call('later', START_NS + 1n);
  const earlier = (): object => call('earlier', START_NS);
  for (const [authorization, records] of [
    [undefined, [earlier(), later()]],
    [`Bearer ${OTHER_KEY}`, [later(), earlier()]],
  ] as const) {
    for (const record of records) {
      const body = JSON.stringify(aLogRequest([record]));
      const who = authorization === undefined ? {} : { authorization };
      t.equal((await send(daemon.url, { path: '/v1/logs', body, ...who })).status, 200);
    }
  }
  const counted = await daemon.query('SELECT project, model, total_tokens::int FROM counted_usage ORDER BY project');
  t.strictSame(counted, [
    { project: 'demo', model: 'earlier', total_tokens: 15 },
    { project: 'other', model: 'earlier', total_tokens: 15 },
  ]);
});
