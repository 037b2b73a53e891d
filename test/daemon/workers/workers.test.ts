// The workers as one part of the primary's service.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Workers } from '../../../src/daemon/workers/workers.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { openFolder } from '../../support/executable.ts';
import { QUIET } from '../../support/quiet-logger.ts';

const never = AbortSignal.any([]);

t.test('a stop during the start does not wait until the workers are ready', async (t) => {
  const program = join(openFolder(t), 'worker.cjs');
  writeFileSync(
    program,
    `process.on('message', ({ kind }) => kind === 'stop' && process.exit(0)); process.send({ kind: 'hello' });`,
  );
  const host = { argv: ['node', program], env: process.env } as unknown as NodeJS.Process;
  const workers = new Workers({
    ...{ count: 2, process: host, logger: QUIET, meter: new Registry(), shutdownTimeoutMs: () => 10_000 },
    firstAssignment: async () => ({ texts: [] as never, databaseUrl: null }),
  });
  const stopping = new AbortController();
  const started = t.rejects(workers.start(stopping.signal));
  stopping.abort();
  await started;
  await workers.stop(never);
  t.strictSame(
    workers.list().map(({ pid }) => pid),
    [null, null],
  );
});
