// Staged rows: how long they may wait for their commit.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Capabilities, type Capability } from '../../../src/component/capabilities/capability.ts';
import { POSTGRES_TRANSACTION } from '../../../src/component/capabilities/postgres.ts';
import type { Host } from '../../../src/component/component.ts';
import type { Rows } from '../../../src/component/exporter.ts';
import { objectsExporter } from '../../../src/exporters/objects/objects.ts';
import { ListeningSockets } from '../../../src/net/listener.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { QUIET } from '../../support/quiet-logger.ts';
import { MINUTE_MS } from '../../../src/pdata/time-units.ts';

const COMPACTION = { enabled: false, older_than: 0, interval: 0, memory: 0 };

t.test('rows are not committed ten minutes after the put of their object began', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-staged-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  let now = Date.now();
  const host: Host = {
    id: 'objects',
    logger: QUIET,
    meter: new Registry(),
    capabilities: new Capabilities(),
    listeners: new ListeningSockets().forService(),
    workers: 1,
    now: () => now,
    process: { pid: 1, env: {}, kill: () => false },
    resolvePath: (path) => join(folder, path),
    fatal: (error) => {
      throw error;
    },
  };
  const exporter = objectsExporter.create(
    { to: 'objects', linger: 0, compaction: COMPACTION, retention: { traces: 1, usage: 1 } },
    host,
  );
  const copied: (readonly [string, number])[] = [];
  const transaction = {
    share: async () => undefined,
    copy: async (target: string, _chunks: readonly Buffer[], rows: number) => void copied.push([target, rows]),
  };
  const handle = {
    join: <T>({ name }: Capability<T>) => (name === POSTGRES_TRANSACTION.name ? (transaction as T) : undefined),
    flush: async () => undefined,
  };
  const chunks = [Buffer.from('{}\n')];
  const rows: Rows = { signal: 'traces', count: 1, bytes: 3, chunks, release: () => undefined };
  const staged = (await exporter.stage?.(rows, false)) as Rows;
  now += 9 * MINUTE_MS;
  const later = (await exporter.stage?.(rows, false)) as Rows;
  await exporter.write([staged, later], handle);
  t.same(copied, [['parts', 2]]);
  now += 2 * MINUTE_MS;
  await t.rejects(exporter.write([later, staged], handle), { message: /waited too long/ });
  await exporter.write([later], handle);
  t.same(copied, [
    ['parts', 2],
    ['parts', 1],
  ]);
});
