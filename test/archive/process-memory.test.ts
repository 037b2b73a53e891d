/** The peak memory of the processes that write the archive, by the kernel. Larger days are long tests. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { CLOSED_MS, makeScene } from '../support/archive-scene.ts';
import { startCompaction } from '../support/compaction-scene.ts';
import { BIN, watchExecutable } from '../support/executable.ts';
import { isLong, longTest } from '../support/long.ts';
import { addParts } from '../support/many-parts.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { MS_NS } from '../../src/pdata/time-units.ts';

t.setTimeout(600_000);

const TELLS_PEAK = "data:text/javascript,process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))";
const skip = process.platform !== 'linux' && 'the allocator of other platforms keeps more';

/** Runs a command to its end, which must be a success. */
async function requirePeak(
  t: Test,
  words: readonly string[],
  { folder, mebibytes }: { readonly folder: string; readonly mebibytes: number },
): Promise<void> {
  const env = { ...process.env, SLUICE_KEY: '', NODE_OPTIONS: `--import=${TELLS_PEAK}` };
  const child = spawn(process.execPath, [BIN, ...words], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const { ended, output } = watchExecutable(child);
  child.stdin.end();
  t.equal(await ended, 0, output.err);
  const peak = Number(/^peak (\d+)$/mu.exec(output.err)?.[1]) / 1024;
  t.comment(`${words.join(' ')}: ${Math.round(peak)} MiB`);
  t.ok(peak < mebibytes, `${words[0]}: ${peak} MiB`);
}

void t.test('archive takes less memory than its limit, which the rows of a long test exceed', { skip }, async (t) => {
  const scene = await makeScene(t);
  const { folder } = scene;
  const config = postgresConfig({ databaseUrl: scene.url });
  const options = 'postgres: { archive: { to: to, memory: 512MiB } }';
  writeFileSync(join(folder, 'sluice.yaml'), config.replace('postgres: {}', options));
  await scene.query(
    `INSERT INTO sluice.spans (project, environment, service_name, trace_id, span_id, name, kind, status, start_time_unix_nano,
       end_time_unix_nano, duration_ns, category, request_model, input_tokens, usage_scope, input_content, resource, attributes, received_at)
     SELECT 'shop', 'default', 'web', decode(md5((n / 8)::text), 'hex'), decode(lpad(to_hex(n), 16, '0'), 'hex'), 'chat', 'client', 'unset',
       $1::int8 + n, $1::int8 + n + 1, 1, 'model_call', 'gpt-5-mini', n, 'own',
       (SELECT string_agg(md5(n || '/' || each), '') FROM generate_series(1, 25) each), '{}', '{}', now()
     FROM generate_series(1, $2::int4) n`,
    [String(BigInt(CLOSED_MS) * MS_NS), isLong ? 400_000 : 4000],
  );
  await requirePeak(t, ['archive'], { folder, mebibytes: 512 });
});

longTest('compaction, also of requests that are a hundredth of their rows', { skip }, async (t) => {
  const scene = await startCompaction(t, 'objects');
  const { status } = await send(scene.url, { body: JSON.stringify(aTraceRequest([aSpan()])) });
  t.equal(status, 200);
  const store = new FolderStore(scene.lake);
  const parts = { client: scene.client, store };
  await addParts(parts, { parts: 300, textBytes: 6400 });
  // A group of rows of a file, 2,048 of them, must fit into the memory.
  await addParts(parts, { parts: 50, textBytes: 24_000, repeats: 200 });
  const words = ['compact', '--older-than', '0s', '--memory', '512MiB'];
  await requirePeak(t, words, { folder: scene.commands, mebibytes: 512 });
});
