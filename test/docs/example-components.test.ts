/** The example component of the documentation works: a service loads it, and it refuses requests as documented. */
import t from 'tap';
import { FILE_CONFIG, startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { codeBlocks, read, ROOT } from './markdown.ts';

const PATH = 'docs/examples/record-limit.js';

t.test('CONTRIBUTING.md shows the file unchanged', async (t) => {
  t.ok(codeBlocks(read('CONTRIBUTING.md'), 'js').includes(read(PATH)));
});

t.test('a service with the module refuses requests and counts them', async (t) => {
  const config = `modules: ["${ROOT}${PATH}"]\n${FILE_CONFIG}`
    .replace('environment: {}', 'environment: {}\n  record_limit: { max_records: 2 }')
    .replaceAll('[auth, environment]', '[auth, environment, record_limit]');
  const daemon = await startDaemon(t, { config });
  const sendSpans = (count: number) =>
    send(daemon.url, { body: JSON.stringify(aTraceRequest(Array.from({ length: count }, () => aSpan()))) });
  t.equal((await sendSpans(2)).status, 200);
  t.equal((await sendSpans(3)).status, 413);
  t.match(daemon.registry.print(), 'acme_record_limit_refusals{signal="traces"} 1');
  t.equal((await daemon.rows()).length, 2);
});
