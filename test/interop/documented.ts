/**
 * Every code block of docs/sdks.md, run as it stands against the versions that the page names; only the address and the
 * key are replaced. Each must store a span. Not part of `npm test`: it downloads the SDKs once.
 *
 *   node dist/test/interop/documented.js [part of a name]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { codeBlocks, read, ROOT, section, tableIn } from '../docs/markdown.ts';
import { KEY, startDaemon } from '../support/daemon.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { type Blocks, CASES, type Case } from './documented-cases.ts';
import { install, type Installed } from './documented-install.ts';
import { Unavailable } from './sdks.ts';

const PAGE = read('docs/sdks.md');
const GRPC_PORT = 4317;
const PROGRAM_TIMEOUT_MS = 180_000;
const INSTALLER = /^(?:npm install|pip install|go get) (.*)$/gm;
const only = process.argv[2] ?? '';

t.setTimeout(3_600_000);

/** The versions of a section: the table names them once. */
const versions = new Map(
  tableIn(section(PAGE, '## Tested versions')).map(([name = '', packages = '']) => {
    const manager = packages.slice(0, packages.indexOf(':'));
    return [name, { manager, packages: [...packages.matchAll(/`([^`]+)`/gu)].map(([, each = '']) => each) }] as const;
  }),
);

/** A model server in the shape of OpenAI's chat completions. */
const model = createServer((request, response) => {
  request.resume().on('end', () => {
    const message = { role: 'assistant', content: 'Hello!' };
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'gpt-5-mini-2025-08-07',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }),
    );
  });
});
model.listen(0, '127.0.0.1');
await once(model, 'listening');
t.teardown(() => model.close());
const modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;

const isFree = await new Promise<boolean>((resolve) => {
  const socket = createSocket().once('error', () => resolve(false));
  socket.listen(GRPC_PORT, '127.0.0.1', () => socket.close(() => resolve(true)));
});
const { url: databaseUrl } = await createDatabase(t);
const config = postgresConfig({
  databaseUrl,
  processors: 'auth, environment, normalization',
  exporters: 'postgres, file',
}).replace('} } } }', `}, grpc: { endpoint: "127.0.0.1:${isFree ? GRPC_PORT : 0}" } } } }`);
const daemon = await startDaemon(t, { config });
writeFileSync(
  join(daemon.folder, 'sluice.yaml'),
  config.replaceAll('{folder}', daemon.folder).replace('127.0.0.1:0', `127.0.0.1:${daemon.port}`),
);

const bin = mkdtempSync(join(tmpdir(), 'sluice-bin-'));
t.teardown(() => rmSync(bin, { recursive: true, force: true }));
const command = (name: string, line: string): void => {
  writeFileSync(join(bin, name), `#!/bin/sh\nexec ${line} "$@"\n`);
  chmodSync(join(bin, name), 0o755);
};
command('sluice', `"${process.execPath}" "${ROOT}bin/sluice.js"`);
command('node', `"${process.execPath}"`);

/** With this daemon's address and key. Installations have been made. */
const adapted = (block: string): string =>
  block
    .replace(INSTALLER, 'true')
    .replaceAll('127.0.0.1:4318', `127.0.0.1:${daemon.port}`)
    .replaceAll(`127.0.0.1:${GRPC_PORT}`, daemon.grpc)
    .replaceAll('slc_…', KEY);

const environment = codeBlocks(PAGE.slice(0, PAGE.indexOf('\n## ')), 'sh')[0] ?? '';

/** Throws `Unavailable` where the packages cannot be installed. */
function installed(each: Case, blocks: Blocks): Installed {
  const pins = each.versions === null ? null : versions.get(each.versions);
  if (pins === undefined) throw new Error(`docs/sdks.md names no versions of ${each.versions}`);
  for (const [, names = ''] of blocks.sh.join('\n').matchAll(INSTALLER))
    for (const name of names.split(/\s+/u).map((each) => each.replace(/==.*/u, '')))
      if (pins?.packages.some((pin) => pin.startsWith(`${name}@`) || pin.startsWith(`${name}==`)) !== true)
        throw new Error(`${name} is installed, and the page names no version of it`);
  return install(pins);
}

async function run(each: Case, blocks: Blocks, installed: Installed): Promise<void> {
  const folder = each.inDaemonFolder ? daemon.folder : mkdtempSync(join(installed.folder ?? tmpdir(), 'run-'));
  try {
    mkdirSync(folder, { recursive: true });
    const { files, line } = each.program(blocks, installed);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), adapted(text));
    const lines = ['set -e', ...(each.withEnvironment ? [environment] : []), line];
    await shell(adapted(lines.join('\n')), folder, {
      ...installed.env,
      OTEL_SERVICE_NAME: each.service,
      MODEL_URL: modelUrl,
    });
  } finally {
    if (!each.inDaemonFolder) rmSync(folder, { recursive: true, force: true });
  }
}

async function shell(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  const PATH = [bin, env['PATH'], process.env['PATH']].filter((part) => part !== undefined).join(':');
  const child = spawn('sh', ['-c', script], {
    cwd,
    env: { ...process.env, OPENAI_API_KEY: 'none', ...env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROGRAM_TIMEOUT_MS,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`ended with ${code}: ${said.slice(-2000)}`);
}

/** What is installed, or why it cannot be. */
function prepared(each: Case, blocks: Blocks): Installed | string {
  try {
    return installed(each, blocks);
  } catch (error) {
    if (error instanceof Unavailable) return error.message;
    throw error;
  }
}

const used = new Set<string>();
for (const each of CASES) {
  const text = each.heading === null ? PAGE.slice(0, PAGE.indexOf('\n## ')) : section(PAGE, each.heading);
  const pick = (language: string, numbers: readonly number[] = []): readonly string[] => {
    const all = codeBlocks(text, language);
    return numbers.map((number) => {
      const block = all[number];
      if (block === undefined) throw new Error(`${each.name}: there is no ${language} block ${number + 1}`);
      used.add(block);
      return block;
    });
  };
  const blocks: Blocks = { sh: pick('sh', each.blocks.sh), code: pick(each.language, each.blocks.code), page: PAGE };
  if (!each.name.toLowerCase().includes(only.toLowerCase())) continue;
  const found = each.needsGrpcPort && !isFree ? `port ${GRPC_PORT} is in use` : prepared(each, blocks);
  if (typeof found === 'string') {
    process.stderr.write(`SKIPPED: the block for ${each.name}: ${found}\n`);
    await t.test(each.name, { skip: found }, () => undefined);
    continue;
  }
  await t.test(each.name, async (t) => {
    await run(each, blocks, found);
    const rows = (await daemon.rows()).filter((row) => row['service_name'] === each.service);
    for (const wanted of each.stores) {
      const isStored = rows.some((row) => Object.entries(wanted).every(([column, value]) => row[column] === value));
      t.ok(isStored, `a row with ${JSON.stringify(wanted)}`);
      if (isStored) continue;
      for (const { name, signal, attributes } of rows)
        t.comment(JSON.stringify({ name, signal, attributes }).slice(0, 1000));
    }
  });
}

await t.test('every block of the page is run', async (t) => {
  used.add(environment);
  const all = [...PAGE.matchAll(/^```(\w+)\n/gm)].map(([, language = '']) => language);
  const blocks = [...new Set(all)].flatMap((language) => codeBlocks(PAGE, language));
  t.strictSame(
    blocks.filter((block) => !used.has(block)),
    [],
  );
});
