/**
 * Official SDKs, each in its own language and process, configured only by the environment variables of docs/sdks.md:
 * the stored rows are compared field by field with the sent data. Not part of `npm test`: it needs the languages, and
 * downloads the SDKs once.
 *
 *   node dist/test/interop/interop.js [--write]
 *
 * The table of docs/interop.md must equal the results; `--write` writes it.
 */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { type Daemon, FILE_CONFIG, KEY, startDaemon } from '../support/daemon.ts';
import { rowsDiffer } from './comparison.ts';
import { ENVIRONMENT, expectedRows, type Ids, SCOPE } from './scenario.ts';
import { type Command, PROTOCOLS, type Protocol, type Sdk, SDKS, Unavailable } from './sdks.ts';
import { type Finding, readTable, tableOf, withTable } from './table.ts';

const DOCUMENT = fileURLToPath(new URL('../../../docs/interop.md', import.meta.url));
const COMPRESSIONS = ['none', 'gzip'] as const;
const SIGNALS = ['span', 'log', 'metric'] as const;
const HTTP_ONLY = 'protocols: { http: { endpoint: "127.0.0.1:0" } }';

t.setTimeout(900_000);
t.plan(SDKS.length + 1);

const config = FILE_CONFIG.replace(
  HTTP_ONLY,
  'protocols: { http: { endpoint: "127.0.0.1:0" }, grpc: { endpoint: "127.0.0.1:0" } }',
);
const daemon = await startDaemon(t, { config });
const grpc = daemon.log.find(({ message }) => message === 'listening for OTLP/gRPC')?.fields['endpoint'];

function environment(service: string, protocol: Protocol, compression: string): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? `http://${grpc}` : daemon.url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${KEY}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    // Not every SDK accepts the name of its default.
    ...(compression === 'none' ? {} : { OTEL_EXPORTER_OTLP_COMPRESSION: compression }),
    OTEL_SERVICE_NAME: service,
    OTEL_RESOURCE_ATTRIBUTES: `deployment.environment.name=${ENVIRONMENT}`,
  };
}

/** Runs a sender to its end. It prints the ids of its spans. */
function send({ command, args }: Command, env: Readonly<Record<string, string>>): Promise<Ids> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const [trace, root, last] = said.out.trim().split(' ');
      if (code === 0 && trace && root && last) resolve({ trace, root, child: last });
      else reject(new Error(`the sender ended with ${code}: ${said.err.slice(-2000)}`));
    });
  });
}

/** For every signal, whether its rows equal the sent data. */
async function compare(t: Test, store: Daemon, service: string, ids: Ids): Promise<readonly boolean[]> {
  // Some SDKs send their own telemetry as well, under their own scopes.
  const rows = (await store.rows()).filter((row) => row['service_name'] === service && row['scope_name'] === SCOPE);
  const expected = expectedRows(service, ids);
  return SIGNALS.map((signal) => {
    const differences = rowsDiffer(
      rows.filter((row) => row['signal'] === signal),
      expected[signal],
    );
    t.strictSame(differences, [], `${signal}: ${expected[signal].length} as sent`);
    return differences.length === 0;
  });
}

async function examine(t: Test, sdk: Sdk, command: Command): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const protocol of PROTOCOLS) {
    const reason = sdk.missing[protocol];
    if (reason !== undefined) {
      findings.push({ sdk, protocol, compression: null, results: SIGNALS.map(() => reason) });
      continue;
    }
    for (const compression of COMPRESSIONS) {
      await t.test(`${protocol}, compression ${compression}`, async (t) => {
        const service = `${sdk.language}-${protocol}-${compression}`.replaceAll('/', '-').toLowerCase();
        const ids = await send(command, environment(service, protocol, compression));
        const same = await compare(t, daemon, service, ids);
        findings.push({ sdk, protocol, compression, results: same.map((each) => (each ? '✓' : 'DIFFERS')) });
      });
    }
  }
  return findings;
}

/** The command of a sender, or why it cannot run. */
function prepared(sdk: Sdk): Command | string {
  try {
    return sdk.prepare();
  } catch (error) {
    if (error instanceof Unavailable) return error.message;
    throw error;
  }
}

const findings: Finding[] = [];
for (const sdk of SDKS) {
  const name = `${sdk.language} ${sdk.version}`;
  const command = prepared(sdk);
  if (typeof command === 'string') {
    process.stderr.write(`SKIPPED: the SDK for ${name}: ${command}\n`);
    await t.test(name, { skip: command }, () => undefined);
  } else {
    await t.test(name, async (t) => void findings.push(...(await examine(t, sdk, command))));
  }
}

await t.test('docs/interop.md equals the results', async (t) => {
  const text = await readFile(DOCUMENT, 'utf8');
  if (process.argv.includes('--write')) await writeFile(DOCUMENT, withTable(text, tableOf(findings)));
  const written = readTable(await readFile(DOCUMENT, 'utf8'));
  // SDKs that cannot run here are not compared.
  t.strictSame(
    tableOf(findings).filter((line) => !written.includes(line)),
    [],
  );
});
