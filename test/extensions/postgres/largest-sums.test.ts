// Sums beyond the 64-bit integers: one project's token counts must not break the views and commands of all projects.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sluice } from '../../support/command-line.ts';
import { OTHER_KEY } from '../../support/daemon.ts';
import { openFolder } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, attributes, newTraceId } from '../../support/payloads.ts';
import { postgresConfig, startPostgresDaemon } from '../../support/postgres-daemon.ts';

t.setTimeout(300_000);

/** As many of the largest count as exceed 2^63. */
const CALLS = 1100;
const SUM = BigInt(CALLS) * BigInt(Number.MAX_SAFE_INTEGER);

const usage = (tokens: number): Record<string, string | number> => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.conversation.id': 'c',
  'gen_ai.usage.input_tokens': tokens,
});

t.test('the largest token counts of one project', async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  const traceId = newTraceId();
  const largest = { traceId, attributes: usage(Number.MAX_SAFE_INTEGER) };
  const records = Array.from({ length: CALLS }, () => ({ attributes: attributes(largest.attributes) }));
  const requests = [
    { body: JSON.stringify(aTraceRequest(Array.from({ length: CALLS }, () => aSpan(largest)))) },
    { path: '/v1/logs', body: JSON.stringify(aLogRequest(records)) },
    {
      body: JSON.stringify(aTraceRequest([aSpan({ attributes: usage(5) })])),
      authorization: `Bearer ${OTHER_KEY}`,
    },
  ];
  for (const request of requests) t.equal((await send(daemon.url, request)).status, 200);
  const [trace] = await daemon.query('SELECT input_tokens::text AS sum FROM public.traces WHERE trace_id = $1', [
    traceId,
  ]);
  t.equal(trace?.['sum'], String(SUM));
  for (const view of ['traces', 'conversations', 'usage_daily'])
    t.ok((await daemon.query(`SELECT * FROM public.${view}`)).length >= 2, view);
  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl: daemon.databaseUrl }));
  for (const command of [['traces'], ['usage'], ['usage', '--by', 'conversation'], ['usage', '--by', 'day']])
    t.match(await sluice([...command, '-c', 'a.yaml'], { folder }), { code: 0, err: '' }, command.join(' '));
});
