// What is waited for at the first contact with a database, and what somebody has to mend.
import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import t from 'tap';
import { UserError } from '../../../src/errors.ts';
import { urlOf } from '../../../src/extensions/postgres/embedded/address.ts';
import { checkUrl, describeFailure, isPassing, makeContact } from '../../../src/extensions/postgres/first-contact.ts';
import { createDatabase } from '../../support/postgres.ts';

const OPTIONS = { url: '', data_dir: '', views_schema: 'public', allow_unsafe: true };

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

t.test('a database that is away, starting or full may come', async (t) => {
  for (const error of [
    failure('connect ECONNREFUSED', 'ECONNREFUSED'),
    failure('getaddrinfo ENOTFOUND db', 'ENOTFOUND'),
    failure('read ECONNRESET', 'ECONNRESET'),
    new AggregateError([failure('connect ECONNREFUSED ::1:5432')], ''),
    failure('Connection terminated unexpectedly'),
    failure('Connection terminated due to connection timeout'),
    failure('timeout exceeded when trying to connect'),
    failure('timeout expired'),
    failure('Query read timeout'),
    failure('the database system is starting up', '57P03'),
    failure('sorry, too many clients already', '53300'),
    failure('cannot execute in a read-only transaction', '25006'),
    failure('canceling statement due to lock timeout', '55P03'),
  ]) {
    t.ok(isPassing(error), describeFailure(error));
  }
});

t.test('a wrong address, a certificate or a fault of our own does not pass', async (t) => {
  for (const error of [
    failure('password authentication failed', '28P01'),
    failure('database does not exist', '3D000'),
    failure('syntax error', '42601'),
    failure('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
    failure('the certificate is for another name', 'ERR_TLS_CERT_ALTNAME_INVALID'),
    failure('The server does not support SSL connections'),
    new TypeError('undefined is not a function'),
    new UserError('the PostgreSQL server is too old'),
  ]) {
    t.notOk(isPassing(error), describeFailure(error));
  }
});

t.test('the first address that failed speaks for a host with several', async (t) => {
  t.equal(
    describeFailure(new AggregateError([failure('connect ECONNREFUSED ::1:5432')], '')),
    'connect ECONNREFUSED ::1:5432',
  );
});

t.test('a URL that is none is refused without being repeated', async (t) => {
  for (const url of ['shop', 'localhost:5432/x', 'https://secret@db/x', 'postgres://u:sec/ret@host:x/db']) {
    t.throws(
      () => checkUrl(url),
      { message: /^extensions\.postgres\.url cannot be used: (?!.*sec)/, hint: String },
      url,
    );
  }
  for (const url of [
    'postgres://u:p@db:5432/x',
    'postgresql://db/x?sslmode=require',
    'postgres://u@localhost/x?host=%2Frun',
  ]) {
    t.doesNotThrow(() => checkUrl(url), url);
  }
});

t.test(
  'a user who may not make the schema is told what to do, and one for whom it was made needs no more',
  async (t) => {
    const { url, address, name } = await createDatabase(t);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const role = `app_${name}`;
    t.teardown(async () => {
      await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await client.end();
    });
    await client.query(`CREATE ROLE ${role} LOGIN; REVOKE CREATE ON DATABASE ${name} FROM PUBLIC`);
    const contact = () =>
      makeContact({ connectionString: urlOf({ ...address, user: role }) }, { ...OPTIONS, views_schema: 'shown' });
    const error = await contact().then(
      () => null,
      (reason: unknown) => reason,
    );
    t.ok(error instanceof UserError);
    t.match(error, { message: /permission denied/, hint: /sluice migrate/ });
    await client.query(`CREATE SCHEMA sluice AUTHORIZATION ${role}; CREATE SCHEMA shown AUTHORIZATION ${role}`);
    t.match(await contact(), { applied: ['0001-tables.sql'], unsafe: ['fsync', 'full_page_writes'] });
    t.match(await contact(), { applied: [] });
  },
);

t.test('a server that hangs up without a word may be one that is starting', async (t) => {
  const server = createServer((socket: Socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const error = await makeContact({ connectionString: `postgres://u:p@127.0.0.1:${port}/x` }, OPTIONS).then(
    () => null,
    (reason: unknown) => reason,
  );
  t.ok(isPassing(error), describeFailure(error));
});
