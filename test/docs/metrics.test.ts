/** docs/operations.md lists exactly the metrics of an assembled service, with their kinds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QUIET } from '../support/quiet-logger.ts';
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import { loadConfig } from '../../src/config/load.ts';
import { Service } from '../../src/service/service.ts';
import { makePipelines } from '../../src/service/make-pipeline.ts';
import { observeProcess } from '../../src/service/telemetry/process-metrics.ts';
import { observeWorkers } from '../../src/daemon/workers/workers.ts';
import { Registry } from '../../src/service/telemetry/registry.ts';
import { bare, documents, read, ROOT, section, tableIn } from './markdown.ts';

const rows = tableIn(section(read('docs/operations.md'), '## Metrics'));

/** Every component of the shipped reference configuration, created and not started. */
async function registryOfEverything(folder: string): Promise<Registry> {
  const config = await loadConfig({
    files: [`${ROOT}config/reference.yaml`],
    settings: ['modules=[]', `extensions.postgres.data_dir=${folder}`, 'exporters.postgres.archive.to=lake'],
    definitions: COMPONENTS,
    environment: {},
    workingDirectory: folder,
  });
  const registry = new Registry();
  observeProcess(registry, { cpuSeconds: () => 0, rssBytes: () => 0 });
  observeWorkers(registry, () => 0);
  new Service(config, {
    logger: QUIET,
    loggerFor: () => QUIET,
    meter: registry,
    makePipeline: makePipelines(QUIET, registry, Date.now),
    now: Date.now,
    process: { pid: process.pid, env: {}, kill: () => false },
    resolvePath: (name) => join(folder, name),
    fatal: () => undefined,
  });
  return registry;
}

t.test('the table has exactly the metrics, with their kinds', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-metrics-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const registry = await registryOfEverything(folder);
  const kinds = [...registry.print().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name = '', kind = '']) => `${name} ${kind}`,
  );
  t.same(rows.map(([name, kind]) => `${bare(name)} ${kind}`).sort(), kinds.sort());
});

t.test('no document names a metric that does not exist', async (t) => {
  const known = new Set(rows.map(([name]) => bare(name)));
  for (const path of documents()) {
    const named = read(path).match(/\b(?:sluice|otelcol)_[a-z]+(?:_[a-z]+)+\b/g) ?? [];
    t.same(
      named.filter((name) => !known.has(name)),
      [],
      path,
    );
  }
});
