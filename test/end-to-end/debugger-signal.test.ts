/** SIGUSR1, which some programs take as a request to open their log again, does not open Node's debugger. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { KEY } from '../support/daemon.ts';
import { openFolder, startExecutable } from '../support/executable.ts';
import '../support/long-file.ts';

const CONFIG = `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors: { auth: { keys: [ { key: ${KEY}, project: demo } ] }, environment: {} }
exporters: { file: { path: ./out.ndjson } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false }, logs: { format: json } }
  pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] } }
`;

t.test('the daemon ignores SIGUSR1', { skip: process.platform === 'win32' && 'no signals' }, async (t) => {
  const folder = openFolder(t);
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  const daemon = startExecutable(['run', '--config', 'sluice.yaml'], folder);
  t.teardown(async () => void daemon.child.kill('SIGKILL'));
  await daemon.until('everything is ready');
  daemon.child.kill('SIGUSR1');
  await daemon.until('SIGUSR1 is ignored');
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
  t.notMatch(daemon.output.err, /debugger|inspector/iu);
});
