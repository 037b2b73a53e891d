// URLs of a database that are refused before anything connects, by every command and by `sluice validate`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { COMPONENTS } from '../../../src/components.ts';
import { CompiledSchemas } from '../../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { checkUrl, describeDatabase } from '../../../src/extensions/postgres/database-url.ts';

/** Compiling them takes a part of a second. */
const SCHEMAS = new CompiledSchemas();

const REFUSED: readonly (readonly [url: string, reason: RegExp])[] = [
  ['shop', /does not begin with postgres/],
  ['localhost:5432/x', /does not begin with postgres/],
  ['https://secret@db/x', /does not begin with postgres/],
  ['host=db dbname=x', /does not begin with postgres/],
  ['postgres://u:sec/ret@host:x/db', /not a valid URL/],
  ['postgres://u:secret@db:abc/x', /not a valid URL/],
  ['postgres://u:secret@db:65536/x', /not a valid URL/],
  ['postgres://u:secret@:5432/x', /not a valid URL/],
  ['postgres://[::1/x', /not a valid URL/],
  ['postgres://db1:5432,db2:5432/x', /names several hosts/],
  ['postgres://u:secret@db1,db2/x?target_session_attrs=read-write', /names several hosts/],
  ['postgres://u:secret@/x?host=db1,db2&port=5432,5433', /names several hosts/],
  ['postgres://u:secret@db:0/x', /port is not from 1 to 65535/],
  ['postgres://db/x?port=99999', /port is not from 1 to 65535/],
  ['postgres://db/x?port=secret', /port is not from 1 to 65535/],
  ['postgres://u:sec#ret@db/x', /the character #/],
  ['postgres://db/x?sslmode=verify_full', /sslmode is not known/],
  ['postgres://db/x?ssl_mode=require', /unknown parameter of TLS/],
  ['postgres://db/x?sslmod=require', /unknown parameter of TLS/],
  [
    'postgres://db/x?sslmode=verify-full&sslrootcert=/absent/ca.crt',
    /\/absent\/ca\.crt, which it names, cannot be read/,
  ],
  ['postgres://db/x?sslcert=/tmp', /\/tmp, which it names, cannot be read: it is a folder/],
  ['postgres://db/x?sslkey=/dev/zero', /\/dev\/zero, which it names, cannot be read: it is not a file/],
];

REFUSED.forEach(([url, reason], index) => {
  t.test(`refused URL ${index} is not repeated: ${reason.source}`, async (t) => {
    t.throws(
      () => checkUrl(url),
      { message: /^extensions\.postgres\.url cannot be used: (?!.*sec)/, hint: /^(?:Write|Check|did you mean)/ },
      'by a command',
    );
    await t.rejects(load(t.testdir(), url), { message: reason }, 'in the configuration');
    await t.rejects(load(t.testdir(), url), { message: /^(?!.*sec.?ret)/s }, 'and is not shown');
  });
});

t.test('no mode of TLS makes the client print a warning of its own', async (t) => {
  const warnings: string[] = [];
  const listen = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', listen);
  t.teardown(() => process.off('warning', listen));
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify', 'disable']) {
    const url = `postgres://u:p@127.0.0.1:1/x?sslmode=${mode}`;
    checkUrl(url);
    describeDatabase(url);
    await t.rejects(new Database().use({ connectionString: url }).query('SELECT 1'));
  }
  // Warnings are emitted in the next tick.
  await new Promise(setImmediate);
  t.same(warnings, []);
});

t.test('usual URLs are accepted', async (t) => {
  for (const url of [
    'postgres://u:p@db:5432/x',
    'postgres://u:p%23%2F@db/x',
    'postgres://u:p,w@db/x?options=-c%20a=1,2',
    'postgresql://db/x?sslmode=verify-full',
    'postgresql://db/x?sslmode=require&sslnegotiation=direct',
    'postgresql://db/x?ssl=true&channel_binding=require',
    'postgres://u@localhost/x?host=%2Frun',
    'postgres://[::1]:5432/x',
    'postgres://u:p@/x?host=%2Frun',
    'postgres:///x',
    '/run/postgresql x',
  ]) {
    t.doesNotThrow(() => checkUrl(url), url);
    await t.resolves(load(t.testdir(), url), url);
  }
});

/** Reads a configuration with this URL, as `sluice validate` does. */
function load(folder: string, url: string): Promise<unknown> {
  const file = join(folder, 'sluice.yaml');
  writeFileSync(
    file,
    `
extensions: { postgres: { url: ${JSON.stringify(url)} } }
receivers: { otlp: { protocols: { http: {} } } }
processors: { auth: {}, environment: {} }
exporters: { postgres: {} }
service:
  extensions: [postgres]
  pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [postgres] } }
`,
  );
  return loadConfig({
    files: [file],
    definitions: COMPONENTS,
    environment: {},
    workingDirectory: folder,
    schemas: SCHEMAS,
  });
}
