/** A daemon that stores in objects alone, as a new user tries it: commands and API show what was sent. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { sluice as call } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { BIN, freePort, startExecutable, watchExecutable } from '../support/executable.ts';
import { openS3Place } from '../support/s3-place.ts';
import { longTest } from '../support/long.ts';
import { MIGRATED } from '../support/migrated.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import '../support/long-file.ts';

t.setTimeout(600_000);

const { url } = await createDatabase(t, MIGRATED);
const s3 = await openS3Place(t);
const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-console-'));
const [port, otlp] = [await freePort(), await freePort()];
const console_ = `console: { endpoint: "127.0.0.1:${port}", ui: false, auth: { mode: none, anonymous_role: admin } }`;
const config = postgresConfig({
  databaseUrl: url,
  exporters: 'objects',
  processors: 'auth, environment, normalization',
  moreExporters: `objects: { to: "${s3.url}", linger: 0s }`,
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
await daemon.until('everything is ready');
const sluice = (...args: readonly string[]) => call(args, { folder, env: s3.environment });
const fetchText = async (path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: answer.status, text: await answer.text() };
};
const ask = async (path: string) => {
  const { status, text } = await fetchText(`/api/v1${path}`);
  return { status, body: JSON.parse(text) };
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

type Shown = readonly (readonly [path: string, shown: RegExp])[];

const HAS_TRACE = new RegExp(traceId, 'u');
/** Paths, and what their answers show of the demo. */
const MAIN: Shown = [
  [`/api/v1/projects/default/traces/${traceId}`, HAS_TRACE],
  ['/api/v1/projects/default/traces', HAS_TRACE],
];
const OTHERS: Shown = [
  ['/api/v1/projects/default/logs', /"body"/u],
  [`/tempo/api/search?q=${encodeURIComponent('{ status = error }')}`, HAS_TRACE],
  ['/api/v1/projects/default/traces?from=-1h&q=error', HAS_TRACE],
  ['/api/v1/projects/default/traces/histogram?from=-1h&to=now', /"trace_count":1\b/u],
  ['/api/v1/projects/default/traces/top?by=tokens', HAS_TRACE],
  ['/api/v1/projects/default/tools', /"call_count" ?: ?[1-9]/u],
  ['/api/v1/projects/default/facets', /"value" ?: ?"/u],
  ['/api/v1/projects/default/usage?from=-1h', /"call_count" ?: ?[1-9]/u],
  ['/api/v1/projects/default/conversations', /"conversation_id" ?: ?"/u],
  ['/api/v1/projects/default/metrics', /"name" ?: ?"gen_ai/u],
  ['/api/v1/projects/default/metrics/series?name=gen_ai.client.operation.duration', /"points_examined" ?: ?[1-9]/u],
  ['/api/v1/projects/default/export?what=spans', HAS_TRACE],
  ['/api/v1/projects/default/export?what=traces&as=csv', HAS_TRACE],
  ['/tempo/api/v2/search/tags', /"service/u],
  ['/tempo/api/v2/search/tag/resource.service.name/values', /"value":"/u],
  ['/jaeger/api/services', /"data":\["/u],
  ['/jaeger/api/traces', HAS_TRACE],
  ['/jaeger/api/v3/trace-summaries', HAS_TRACE],
];

async function checkShown(t: Test, paths: Shown): Promise<void> {
  for (const [path, shown] of paths) {
    const { status, text } = await fetchText(path);
    t.equal(status, 200, path);
    t.match(text, shown, path);
    t.notMatch(text, /"complete_from"/u, `${path}: nothing is left out`);
  }
}

t.test('the API shows what is in objects only', async (t) => {
  await checkShown(t, MAIN);
  const { body } = await ask('/projects');
  t.match(
    body.items,
    [{ name: 'default', newest_trace_unix_nano: /^\d+$/u }],
    'the newest trace is known by its claim',
  );
});

longTest('every list, sum and search shows what is in objects only', async (t) => {
  await checkShown(t, OTHERS);
  const { body } = await ask('/projects/default/conversations');
  const { conversation_id: conversation } = body.items[0];
  const turns = await ask(`/projects/default/conversations/${encodeURIComponent(conversation)}/turns`);
  t.match(turns, { status: 200, body: { items: [{ trace: { trace_id: String } }] } });
  t.equal((await ask('/projects/default/conversations/no-such-conversation/turns')).status, 404);
});

t.test('the tools for agents show it', async (t) => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_traces', arguments: {} } };
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      origin: `http://127.0.0.1:${port}`,
    },
    body: JSON.stringify(call),
  });
  t.match(await answer.text(), new RegExp(traceId, 'u'));
});

longTest('`sluice mcp` shows it too', async (t) => {
  const env = { ...process.env, NO_COLOR: '1', ...s3.environment };
  const child = spawn(process.execPath, [BIN, 'mcp'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const agent = watchExecutable(child);
  const say = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'a test', version: '1' };
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/call', params: { name: 'search_traces', arguments: { project: 'default' } } });
  await agent.until(traceId);
  child.stdin.end();
  t.equal(await agent.ended, 0);
});

t.test('archived=false reads PostgreSQL only', async (t) => {
  const { body } = await ask('/projects/default/traces?archived=false');
  t.match(body, { items: [], complete_from: String });
});

longTest('a further trace is shown although a process has answered from an earlier snapshot', async (t) => {
  const path = '/projects/default/traces';
  t.equal((await ask(path)).body.items.length, 1);
  const live = await fetch(`http://127.0.0.1:${port}/api/v1${path.replace('traces', 'live')}`);
  const later = await demo();
  let events = '';
  for await (const piece of live.body ?? []) if (/^event: traces$/mu.test((events += Buffer.from(piece)))) break;
  t.match(events, /^data: \{"items":\[\],"dropped":1,"left_out":\[\]\}$/mu, 'the live view counts it');
  const ids = async (): Promise<readonly string[]> =>
    (await ask(path)).body.items.map((item: { readonly trace_id: string }) => item.trace_id);
  await eventually('the later trace is listed', async () => (await ids()).includes(later));
});
