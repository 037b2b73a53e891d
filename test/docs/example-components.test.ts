/** The example components of the documentation work: a service loads them, and stored results are as documented. */
import { appendFile, readFile } from 'node:fs/promises';
import t from 'tap';
import * as face from '../../src/index.ts';
import { FILE_CONFIG, startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, attributes } from '../support/payloads.ts';
import { codeBlocks, read, ROOT } from './markdown.ts';

const PAGE = 'docs/components.md';

/** The file configuration with one more module, and a processor at the end of every pipeline. */
function withProcessor(file: string, id: string, options: string): string {
  return `modules: ["${ROOT}docs/examples/${file}"]\n${FILE_CONFIG}`
    .replace('environment: {}', `environment: {}\n  ${id}: ${options}`)
    .replaceAll('[auth, environment]', `[auth, environment, ${id}]`);
}

for (const file of ['record-limit.js', 'drop-attribute.js', 'csv-exporter.js'])
  t.test(`${PAGE} shows ${file} unchanged`, async (t) => {
    t.ok(codeBlocks(read(PAGE), 'js').includes(read(`docs/examples/${file}`)));
  });

t.test(`${PAGE} describes every function and class that the package exports`, async (t) => {
  for (const name of Object.keys(face)) t.match(read(PAGE), `\`${name}`, name);
  t.notOk(
    Object.keys(face).some((name) => /_BASE|_STRIDE|_OFFSET/.test(name)),
    'no address is exported',
  );
});

t.test('record_limit refuses requests and counts them', async (t) => {
  const daemon = await startDaemon(t, {
    config: withProcessor('record-limit.js', 'record_limit', '{ max_records: 2 }'),
  });
  const sendSpans = (count: number) =>
    send(daemon.url, { body: JSON.stringify(aTraceRequest(Array.from({ length: count }, () => aSpan()))) });
  t.equal((await sendSpans(2)).status, 200);
  t.equal((await sendSpans(3)).status, 413);
  t.match(daemon.registry.print(), 'acme_record_limit_refusals{signal="traces"} 1');
  t.equal((await daemon.rows()).length, 2);
});

t.test('drop_attribute drops attributes of spans, log records and resources', async (t) => {
  const config = withProcessor('drop-attribute.js', 'drop_attribute', '{ names: [user.email, card] }');
  const daemon = await startDaemon(t, { config });
  const values = { 'user.email': 'ada@example.com', card: '4111', plan: 'free' };
  const resource = { 'service.name': 'shop', 'user.email': 'ops@example.com' };
  const span = aTraceRequest([aSpan({ attributes: values }), aSpan({ attributes: { plan: 'pro' } })], resource);
  const log = aLogRequest([{ body: { stringValue: 'hello' }, attributes: attributes(values) }], resource);
  t.equal((await send(daemon.url, { body: JSON.stringify(span) })).status, 200);
  t.equal((await send(daemon.url, { path: '/v1/logs', body: JSON.stringify(log) })).status, 200);
  t.notMatch(await daemon.file(), /example\.com|4111/);
  t.match(await daemon.rows(), [
    { attributes: { plan: 'free' }, resource: { 'service.name': 'shop' } },
    { attributes: { plan: 'pro' } },
    { attributes: { plan: 'free' }, body: 'hello' },
  ]);
  t.match(daemon.registry.print(), 'acme_dropped_attributes{signal="traces"} 3');
});

const CSV_CONFIG = `modules: ["${ROOT}docs/examples/csv-exporter.js"]\n${FILE_CONFIG}`
  .replace(
    /exporters: \{ file: .*\n/,
    'exporters: { csv: { path: "{folder}/out.csv", columns: [name, attributes] } }\n',
  )
  .replaceAll('exporters: [file]', 'exporters: [csv]');

t.test('csv has the rows of a request on disk when it is answered', async (t) => {
  const daemon = await startDaemon(t, { config: CSV_CONFIG });
  const body = aTraceRequest([
    aSpan({ name: 'a "quoted", name' }),
    aSpan({ name: 'two\nlines', attributes: { plan: 'free' } }),
  ]);
  t.equal((await send(daemon.url, { body: JSON.stringify(body) })).status, 200);
  t.equal(
    await readFile(`${daemon.folder}/out.csv`, 'utf8'),
    'name,attributes\n"a ""quoted"", name",{}\ntwo lines,"{""plan"":""free""}"\n',
  );
});

t.test('csv cuts off what a failed write or a crash left behind', async (t) => {
  const daemon = await startDaemon(t, { config: CSV_CONFIG });
  const path = `${daemon.folder}/out.csv`;
  const sendSpan = (name: string) => send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan({ name })])) });
  t.equal((await sendSpan('first')).status, 200);
  await appendFile(path, 'torn');
  t.equal((await sendSpan('second')).status, 200);
  t.equal(await readFile(path, 'utf8'), 'name,attributes\nfirst,{}\nsecond,{}\n');
  await daemon.stop();
  await appendFile(path, 'torn');
  const again = await startDaemon(t, { config: CSV_CONFIG.replaceAll('{folder}/out.csv', path) });
  t.equal((await send(again.url, { body: JSON.stringify(aTraceRequest([aSpan({ name: 'third' })])) })).status, 200);
  t.equal(await readFile(path, 'utf8'), 'name,attributes\nfirst,{}\nsecond,{}\nthird,{}\n');
});
