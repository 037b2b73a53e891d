/** A daemon is killed repeatedly while requests wait to be forwarded: no acknowledged span is lost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { accept, spanNames, startRemote } from '../../support/fake-remote.ts';
import { freePort, openFolder, startExecutable } from '../../support/executable.ts';
import { createDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/eventually.ts';
import { forwarderConfig, sendSpan } from '../../exporters/otlp-http/forwarder.ts';
import { ask } from '../../support/connection.ts';

t.setTimeout(600_000);

/** `.ci/run` kills more often. */
const KILLS = Number(process.env['SLUICE_KILLS'] ?? 1);
const SPANS_PER_RUN = 12;

t.test('every acknowledged span arrives, and the first arrivals are in order', async (t) => {
  const remote = await startRemote(t);
  const { url: databaseUrl } = await createDatabase(t);
  const folder = openFolder(t);
  const port = await freePort();
  const config = forwarderConfig(remote.url, databaseUrl, {
    options: 'outbox: { max_batch_size: 1KiB }, retry_on_failure: { initial_interval: 1ms, max_interval: 1ms }',
  });
  writeFileSync(join(folder, 'a.yaml'), config.replace('127.0.0.1:0', `127.0.0.1:${port}`));
  const url = `http://127.0.0.1:${port}`;
  const acknowledged: string[] = [];

  // The remote accepts every request, but does not answer the second one of each run, so its outcome is unknown to the
  // daemon.
  for (let run = 0; run < KILLS; run++) {
    let answered = 0;
    remote.answer = (request, response) => {
      if (++answered < 2) accept(request, response);
    };
    const daemon = startExecutable(['-c', 'a.yaml'], folder);
    t.teardown(async () => void daemon.child.kill('SIGKILL'));
    await daemon.until('listening for OTLP/HTTP');
    for (let i = 0; i < SPANS_PER_RUN; i++) {
      const name = `run ${run} span ${i}`;
      if ((await sendSpan(url, name)) === 200) acknowledged.push(name);
    }
    await eventually('a request is left open', () => answered >= 2);
    daemon.child.kill('SIGKILL');
    await daemon.ended;
  }
  t.equal(acknowledged.length, KILLS * SPANS_PER_RUN);
  const waiting = await ask(databaseUrl, "SELECT FROM sluice.outbox WHERE state = 'waiting'");
  t.ok(waiting.length >= SPANS_PER_RUN / 2, `${waiting.length} wait in the database`);

  remote.answer = accept;
  const last = startExecutable(['-c', 'a.yaml'], folder);
  t.teardown(async () => void last.child.kill('SIGKILL'));
  await eventually('nothing waits', async () => (await ask(databaseUrl, 'SELECT FROM sluice.outbox')).length === 0);
  last.child.kill('SIGTERM');
  t.equal(await last.ended, 0);
  const arrived = [...new Set(spanNames(remote.accepted))];
  t.strictSame(arrived, acknowledged);
  t.ok(spanNames(remote.requests).length > arrived.length, 'requests with an unknown outcome arrived twice');
});
