/** A daemon that stores in objects alone, as a new user tries it: commands and API show what was sent. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { sluice as call } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, startExecutable } from '../support/executable.ts';
import { startS3 } from '../support/fake-s3.ts';
import { MIGRATED } from '../support/migrated.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';

t.setTimeout(600_000);

const { url } = await createDatabase(t, MIGRATED);
const s3 = await startS3(t);
const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-console-'));
const [port, otlp] = [await freePort(), await freePort()];
const console_ = `console: { endpoint: "127.0.0.1:${port}", ui: false, auth: { mode: none, anonymous_role: admin } }`;
const config = postgresConfig({
  databaseUrl: url,
  exporters: 'objects',
  processors: 'auth, environment, normalization',
  moreExporters: `objects: { to: "s3://${s3.bucket}/prefix", linger: 0s }`,
})
  .replace('allow_unsafe: true } }', `allow_unsafe: true }, ${console_} }`)
  .replace('endpoint: "127.0.0.1:0"', `endpoint: "127.0.0.1:${otlp}"`)
  .replace('extensions: [postgres]', 'extensions: [postgres, console]');
writeFileSync(join(folder, 'sluice.yaml'), config);
const daemon = startExecutable(['run'], folder, s3.environment);
t.teardown(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  await rm(folder, { recursive: true, force: true });
});
await daemon.until('the console is open');
const sluice = (...args: readonly string[]) => call(args, { folder, env: s3.environment });
const ask = async (path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`);
  return { status: answer.status, body: JSON.parse(await answer.text()) };
};
const demo = async (): Promise<string> => {
  const { code, out, err } = await sluice('demo', '--endpoint', `http://127.0.0.1:${otlp}`, '--json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out).trace_id;
};
const traceId = await demo();

t.test('the commands show what `sluice demo` sent', async (t) => {
  t.match(await sluice('trace', traceId.slice(0, 12)), { code: 0, err: /^Read \d+ requests? in objects: .* in s3:/u });
  const list = await sluice('traces', '--json');
  t.match(JSON.parse(list.out), [{ trace_id: traceId, error_count: Number, model_call_count: Number }]);
  t.ok(JSON.parse((await sluice('usage', '--json')).out).total.call_count > 0);
  t.match(await sluice('traces', '--follow'), { code: 1, err: /`sluice tap`/u });
});

t.test('without DuckDB the commands say what is missing', async (t) => {
  const hooks = fileURLToPath(new URL('../support/without-duckdb.js', import.meta.url));
  const env = { ...s3.environment, NODE_OPTIONS: `--import=${hooks}` };
  const { ended, output } = startExecutable(['trace', traceId], folder, env);
  t.equal(await ended, 1);
  t.match(output.err, /npm install @duckdb\/node-api/u);
  t.match(output.err, /the records of the trace are not in PostgreSQL, and are not read/u);
});

t.test('the API shows a trace, and lists traces when it is asked for', async (t) => {
  t.match(await ask(`/projects/default/traces/${traceId}`), { status: 200, body: { trace_id: traceId } });
  const { body: without } = await ask('/projects/default/traces');
  t.match(without, { items: [], complete_from: String });
  const { body: list } = await ask('/projects/default/traces?archived=true');
  t.match(list.items, [{ trace_id: traceId }]);
  t.notOk('complete_from' in list, 'nothing is left out');
});

t.test('a further trace is shown although a process has answered from an earlier snapshot', async (t) => {
  const path = '/projects/default/traces?archived=true';
  t.equal((await ask(path)).body.items.length, 1);
  const later = await demo();
  const ids = async (): Promise<readonly string[]> =>
    (await ask(path)).body.items.map((item: { readonly trace_id: string }) => item.trace_id);
  await eventually('the later trace is listed', async () => (await ids()).includes(later));
});
