/**
 * A real process that reloads its configuration repeatedly under load, with valid and invalid files: no request is
 * refused, no connection is closed, and every acknowledged record is in the file. `SLUICE_RELOADS` sets the number of
 * reloads.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { freePort, openFolder, startExecutable } from '../support/executable.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const RELOADS = Number(process.env['SLUICE_RELOADS'] ?? 8);
const SENDERS = 4;
const KEY = 'a-key-of-thirty-two-characters-00';

t.setTimeout(RELOADS * 3_000 + 300_000);

interface Variant {
  readonly port: number;
  readonly processors?: string;
  readonly exporters?: string;
  readonly more?: string;
  readonly environment?: string;
  readonly rotation?: string;
  readonly health?: string;
  readonly depth?: number;
}

const configOf = ({ port, processors, exporters, more, environment, rotation, health, depth }: Variant): string => `
extensions: { health_check: { endpoint: "127.0.0.1:0", path: ${health ?? '/'} } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}", max_nesting_depth: ${depth ?? 32} } } }${more ?? ''} }
processors:
  auth: { keys: [{ key: ${KEY}, project: demo }] }
  environment: { default: ${environment ?? 'default'} }
  privacy: {}
exporters:
  file: { path: out.ndjson, rotation: { max_files: ${rotation ?? '20'} } }
  file/second: { path: second.ndjson }
  file/impossible: { path: sluice.yaml/x.ndjson }
service:
  ledger: memory
  extensions: [health_check]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: { receivers: [otlp${more === undefined ? '' : ', otlp/more'}], processors: [${processors ?? 'auth, environment'}], exporters: [${exporters ?? 'file'}] }
`;

/** Each changes something else. The last ones are invalid, or do not start. */
function variants(port: number, takenPort: number): { good: readonly string[]; bad: readonly string[] } {
  const at = (endpoint: number): string =>
    `, otlp/more: { protocols: { http: { endpoint: "127.0.0.1:${endpoint}" } } }`;
  return {
    good: [
      configOf({ port, processors: 'auth, environment, privacy' }),
      configOf({ port, exporters: 'file, file/second' }),
      configOf({ port, environment: 'staging', rotation: '3' }),
      configOf({ port, more: at(0) }),
      configOf({ port, health: '/ready' }),
      configOf({ port, depth: 16 }),
    ],
    bad: [
      'receivers: [',
      configOf({ port, processors: 'environment, auth' }),
      configOf({ port, exporters: 'file, file/impossible' }),
      configOf({ port, more: at(takenPort), exporters: 'file, file/second' }),
    ],
  };
}

const body = (spanId: string): string =>
  JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              { traceId: spanId.padStart(32, '1'), spanId, name: 'work', startTimeUnixNano: '1700000000000000000' },
            ],
          },
        ],
      },
    ],
  });

/** Sends one request after the other over connections that stay open, until `more` returns false. */
class Sender {
  readonly stored: string[] = [];
  readonly refused: string[] = [];
  connections = 0;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #number: number;

  constructor(port: number, number: number) {
    this.#port = port;
    this.#number = number;
  }

  async run(more: () => boolean): Promise<void> {
    for (let count = 1; more(); count++) {
      const spanId = (this.#number * 1e9 + count).toString(16).padStart(16, '0');
      const outcome = await this.#send(spanId).catch(String);
      if (outcome === 200) this.stored.push(spanId);
      else this.refused.push(`${spanId}: ${outcome}`);
    }
    this.#agent.destroy();
  }

  #send(spanId: string): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          port: this.#port,
          host: '127.0.0.1',
          path: '/v1/traces',
          method: 'POST',
          agent: this.#agent,
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        },
        (response) => response.resume().on('end', () => resolve(response.statusCode)),
      );
      outgoing.on('socket', () => {
        if (!outgoing.reusedSocket) this.connections++;
      });
      outgoing.on('error', reject);
      outgoing.end(body(spanId));
    });
  }
}

t.test(`reload ${RELOADS} times under load, valid and invalid files: no request is refused or lost`, async (t) => {
  const folder = openFolder(t);
  const port = await freePort();
  const taken = await freePort();
  const holder = createServer().listen(taken, '127.0.0.1');
  t.teardown(() => holder.close());
  await once(holder, 'listening');
  const { good, bad } = variants(port, taken);
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, configOf({ port }));
  const daemon = startExecutable(['--config', 'sluice.yaml'], folder);
  t.teardown(() => void daemon.child.kill('SIGKILL'));
  await daemon.until('everything is ready');

  let sending = true;
  const senders = Array.from({ length: SENDERS }, (_, number) => new Sender(port, number + 1));
  const running = senders.map((sender) => sender.run(() => sending));
  const seen = { loaded: 0, kept: 0 };
  for (let round = 0; round < RELOADS; round++) {
    const isGood = round % 2 === 0;
    const before = senders.map(({ stored }) => stored.length);
    const files = isGood ? good : bad;
    writeFileSync(file, files[(round >> 1) % files.length] ?? '');
    daemon.child.kill('SIGHUP');
    if (isGood) await daemon.until('the configuration was loaded again', ++seen.loaded);
    else await daemon.until('the configuration was not loaded; the running one stays in use', ++seen.kept);
    const all = async () => senders.every(({ stored }, index) => stored.length > (before[index] ?? 0)) || undefined;
    t.ok(await waitFor(all, { timeoutMs: PATIENCE_MS }), 'every sender has sent meanwhile');
  }
  sending = false;
  await Promise.all(running);
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);

  t.same(
    senders.flatMap(({ refused }) => refused),
    [],
    'no request was refused',
  );
  t.same(
    senders.map(({ connections }) => connections),
    senders.map(() => 1),
    'no connection was closed',
  );
  const written = readFileSync(join(folder, 'out.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const ids = written.map((line) => (JSON.parse(line) as { span_id: string }).span_id);
  const stored = senders.flatMap((sender) => sender.stored);
  t.ok(stored.length >= RELOADS * SENDERS, `${stored.length} requests were sent`);
  t.same([...ids].sort(), [...stored].sort(), 'what was answered 200 is in the file, once');
  t.match(daemon.output.err, /sluice\.yaml:1:\d+: error/u, 'a bad file is reported with its place');
  t.match(daemon.output.err, /is already in use/u, 'a port that is taken is reported');
});
