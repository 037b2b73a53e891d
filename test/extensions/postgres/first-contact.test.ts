// The first contact with a database: the faults that may pass, and those that the operator must correct.
import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import t from 'tap';
import { UserError } from '../../../src/errors.ts';
import { urlOf } from '../../../src/extensions/postgres/embedded/address.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import {
  describeFailure,
  type FirstContact,
  isPassing,
  makeContact,
  unreachable,
} from '../../../src/extensions/postgres/first-contact.ts';
import { openSession } from '../../../src/extensions/postgres/ledger/session.ts';
import { connectTo } from '../../support/connection.ts';
import { longTest } from '../../support/long.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { createDatabase, makeServer } from '../../support/postgres.ts';

t.setTimeout(300_000);

const OPTIONS = { url: '', data_dir: '', views_schema: 'public', allow_unsafe: true };

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

t.test('a database that is unavailable, starting or full may become available', async (t) => {
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

t.test('a wrong address, a certificate or an internal error does not pass', async (t) => {
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

t.test('each failure of the first connection has its remedy', async (t) => {
  for (const [error, hint] of [
    [failure('password authentication failed for user "u"', '28P01'), /^Correct the user and the password/],
    [failure('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), /^Write it as postgres:/],
    [failure('database "x" does not exist', '3D000'), /^Create it/],
    [failure('no pg_hba.conf entry for host "h", user "u", database "x", no encryption', '28000'), /^Add sslmode/],
    [failure('role "u" does not exist', '28000'), /^Correct the user of the URL, or allow/],
    [failure('The server does not support SSL connections'), /^Remove sslmode/],
    [failure('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'), /sslrootcert=/],
    [failure('unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /sslrootcert=/],
    [failure("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'), /host name/],
    [failure('the server is read-only', '25006'), /primary/],
    [failure('cannot execute SELECT in a read-only transaction', '25006'), /primary/],
    [failure('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'), /^Check host and port/],
    [new AggregateError([failure('connect ECONNREFUSED ::1:1', 'ECONNREFUSED')], ''), /^Check host and port/],
    [failure('could not extend file "base/5/1": No space left on device', '53100'), /^Free some space/],
    [failure('could not fsync file "base/5/1": Input/output error', '58030'), /^Check the disk/],
    [failure('Connection terminated unexpectedly'), /^Check host and port of the URL: another program/],
    [failure('There was an error establishing an SSL connection'), /^Check host and port of the URL: another program/],
    [failure('something else'), /^Check extensions\.postgres\.url/],
  ] as const)
    t.match(unreachable(error).hint, hint, describeFailure(error));
});

t.test('a server with a full disk is not called unreachable', async (t) => {
  const full = failure('could not extend file "base/5/1": No space left on device', '53100');
  t.match(unreachable(full), { message: /^the database cannot use its disk: could not extend file/ });
});

t.test('for a host with several addresses the first failure is reported', async (t) => {
  t.equal(
    describeFailure(new AggregateError([failure('connect ECONNREFUSED ::1:5432')], '')),
    'connect ECONNREFUSED ::1:5432',
  );
});

t.test('a user without the right to create the schema gets a remedy, and an existing schema suffices', async (t) => {
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
});

t.test('a server that closes the connection silently may be starting', async (t) => {
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

t.test('with the messages alone a role without any right can be given all it needs', async (t) => {
  const { url, address, name } = await createDatabase(t);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `least_${name}`;
  t.teardown(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
  });
  await admin.query(
    `CREATE ROLE ${role} LOGIN; REVOKE ALL ON DATABASE ${name} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC`,
  );
  const lines: string[] = [];
  for (let step = 0; step < 5; step++) {
    const outcome = await makeContact({ connectionString: urlOf({ ...address, user: role }) }, OPTIONS).catch(
      (reason) => reason,
    );
    const texts =
      outcome instanceof UserError
        ? [outcome.message, outcome.hint ?? '']
        : (outcome as FirstContact).warnings.map(({ fix }) => fix);
    const found = texts.flatMap((text) => text.match(/GRANT [^;]*;/gu) ?? []);
    lines.push(...found);
    for (const line of found) await admin.query(line);
    if (found.length === 0) {
      t.match(outcome, { applied: Array, warnings: [] });
      break;
    }
  }
  t.strictSame(lines, [
    `GRANT CONNECT ON DATABASE "${name}" TO "${role}";`,
    `GRANT CREATE ON DATABASE ${name} TO ${role};`,
    `GRANT USAGE, CREATE ON SCHEMA public TO ${role};`,
    `GRANT TEMPORARY ON DATABASE ${name} TO ${role};`,
  ]);
});

longTest('all faults are reported at once', async (t) => {
  const { url, address, name } = await createDatabase(t);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `several_${name}`;
  t.teardown(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
  });
  await admin.query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA sluice; REVOKE ALL ON SCHEMA public FROM PUBLIC`);
  const connectionString = urlOf({ ...address, user: role });
  const error = await makeContact({ connectionString }, { ...OPTIONS, allow_unsafe: false }).catch((reason) => reason);
  t.ok(error instanceof UserError);
  t.match(error.message, /lacks 3 things/u);
  t.match(error.message, /fsync = off/u);
  t.match(error.message, /GRANT USAGE, CREATE ON SCHEMA sluice TO/u);
  t.match(error.message, /GRANT USAGE, CREATE ON SCHEMA public TO/u);
});

longTest('an encoding other than UTF-8 is refused with a remedy', async (t) => {
  for (const encoding of ['WIN1252', 'LATIN1', 'SQL_ASCII']) {
    const { url, address } = await createDatabase(t);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const database = `odd_${encoding.toLowerCase()}_${address.database}`;
    await admin.query(
      `CREATE DATABASE ${database} ENCODING '${encoding}' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'`,
    );
    t.teardown(async () => {
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await admin.end();
    });
    const error = await makeContact({ connectionString: urlOf({ ...address, database }) }, OPTIONS).catch(
      (reason) => reason,
    );
    t.match(error, { message: /server_encoding/, hint: /createdb -E UTF8 -T template0/ });
    t.ok(error instanceof UserError);
  }
});

t.test('tables of another owner are reported with the statement that grants their rights', async (t) => {
  const { url, address, name } = await createDatabase(t);
  await makeContact({ connectionString: url }, OPTIONS);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `other_${name}`;
  t.teardown(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
  });
  await admin.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE, CREATE ON SCHEMA sluice TO ${role}`);
  const contact = () => makeContact({ connectionString: urlOf({ ...address, user: role }) }, OPTIONS);
  const error = await contact().catch((reason) => reason);
  t.match(error, { message: /belong to/, hint: new RegExp(`GRANT \\S+ TO ${role};`) });
  await admin.query(/GRANT [^;]*;/u.exec(error.hint)?.[0] ?? '');
  t.match(await contact(), { applied: [] });
});

longTest('foreign objects with names of our views stay unchanged', async (t) => {
  for (const theirs of [
    'CREATE VIEW public.logs AS SELECT 1 AS line',
    'CREATE TABLE public.traces (id int)',
    'CREATE MATERIALIZED VIEW public.spans AS SELECT 1 AS line',
    'CREATE SEQUENCE public.steps',
    "CREATE TYPE public.logs AS ENUM ('a')",
    'CREATE FUNCTION public.has_rollup_above() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
  ]) {
    const { url } = await createDatabase(t);
    const admin = await connectTo(t, url);
    await admin.query(theirs);
    const error = await makeContact({ connectionString: url }, OPTIONS).catch((reason) => reason);
    t.match(error, { message: /objects of others/, hint: /views_schema/ }, theirs);
    const { rows } = await admin.query("SELECT to_regnamespace('sluice') IS NULL AS untouched");
    t.strictSame(rows, [{ untouched: true }], 'and nothing was made');
    t.match(await makeContact({ connectionString: url }, { ...OPTIONS, views_schema: 'elsewhere' }), { warnings: [] });
  }
});

longTest('views that change keep their rights and dependent objects', async (t) => {
  const { url, name } = await createDatabase(t);
  await makeContact({ connectionString: url }, OPTIONS);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `reader_${name}`;
  t.teardown(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
  });
  const again = async (change: string) => {
    await admin.query(`UPDATE sluice.migrations SET name = 'views public 0' WHERE name LIKE 'views %'; ${change}`);
    return makeContact({ connectionString: url }, OPTIONS);
  };
  const isGranted = async () =>
    (
      await admin.query(
        `SELECT has_table_privilege('${role}', 'public.logs', 'SELECT')
           AND has_column_privilege('${role}', 'public.spans', 'name', 'SELECT')
           AND NOT has_column_privilege('${role}', 'public.spans', 'input_content', 'SELECT')
           AND has_function_privilege('${role}', 'public.usage_between(text, timestamptz, timestamptz, interval)', 'EXECUTE') AS granted`,
      )
    ).rows[0]?.granted;
  await admin.query(`CREATE ROLE ${role}; GRANT SELECT ON public.logs TO ${role}; CREATE SCHEMA reports;
    GRANT SELECT (project, name) ON public.spans TO ${role}; GRANT SELECT (body) ON public.logs TO ${role};
    GRANT EXECUTE ON FUNCTION public.usage_between TO ${role};
    CREATE VIEW reports.services AS SELECT DISTINCT service_name FROM public.spans`);
  t.match(await again(''), { applied: ['views'], warnings: [] }, 'replaced in place');
  t.equal(await isGranted(), true);
  t.equal((await admin.query('SELECT * FROM reports.services')).rowCount, 0);

  const other = 'ALTER VIEW public.logs RENAME COLUMN body TO former_body';
  t.match(
    await again(other),
    { applied: [], held: { message: /reports\.services/, hint: /sluice migrate/ } },
    'held by others',
  );
  t.equal((await admin.query('SELECT former_body FROM public.logs')).rowCount, 0, 'the former views stay');
  await admin.query('DROP VIEW reports.services');
  t.match(await again(''), { applied: ['views'], warnings: [] }, 'made again');
  t.equal((await admin.query('SELECT body FROM public.logs')).rowCount, 0);
  t.equal(await isGranted(), true, 'with the same rights');
});

longTest('views of a version before the mark are ours', async (t) => {
  const { url } = await createDatabase(t);
  await makeContact({ connectionString: url }, OPTIONS);
  const admin = await connectTo(t, url);
  const { rows } = await admin.query(
    `SELECT 'VIEW ' || oid::regclass AS object FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace
     UNION ALL SELECT 'FUNCTION ' || oid::regprocedure FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  for (const { object } of rows) await admin.query(`COMMENT ON ${object} IS NULL`);
  await admin.query("UPDATE sluice.migrations SET name = 'views public 0' WHERE name LIKE 'views %'");
  t.match(await makeContact({ connectionString: url }, OPTIONS), { applied: ['views'], warnings: [] });
});

longTest('missing views are created, whatever the schema has recorded', async (t) => {
  const { url } = await createDatabase(t);
  await makeContact({ connectionString: url }, OPTIONS);
  const admin = await connectTo(t, url);
  await admin.query('DROP VIEW public.usage_daily');
  t.match(await makeContact({ connectionString: url }, OPTIONS), { applied: ['views'] });
});

longTest('a newer schema that permits this version to write is used unchanged', async (t) => {
  const { url } = await createDatabase(t);
  await makeContact({ connectionString: url }, OPTIONS);
  const admin = await connectTo(t, url);
  await admin.query("INSERT INTO sluice.migrations (name, min_writer) VALUES ('9998-additive.sql', 4)");
  await admin.query("UPDATE sluice.migrations SET name = 'views public 0' WHERE name LIKE 'views %'");
  t.match(await makeContact({ connectionString: url }, OPTIONS), { applied: [], warnings: [] }, 'its views too');
  await admin.query("INSERT INTO sluice.migrations (name, min_writer) VALUES ('9999-other.sql', 9999)");
  await t.rejects(makeContact({ connectionString: url }, OPTIONS), { message: /migrated by a newer version.*9999/ });
});

longTest('a warning about few connections contains the figures', async (t) => {
  const { url, address, name } = await createDatabase(t);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `few_${name}`;
  t.teardown(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
  });
  await admin.query(
    `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 20; GRANT ALL ON DATABASE ${name} TO ${role}; GRANT ALL ON SCHEMA public TO ${role}`,
  );
  const address20 = { connectionString: urlOf({ ...address, user: role }) };
  t.match(await makeContact(address20, OPTIONS), { warnings: [] });
  t.match(await makeContact(address20, OPTIONS, 9), {
    warnings: [{ message: /can use 90 connections \(9 × 10\).* 20$/ }],
  });
});

longTest('a warning about few locks contains the figures', async (t) => {
  const server = await makeServer(t, { max_connections: '20', max_locks_per_transaction: '10' });
  await server.start();
  const { url: connectionString } = server;
  t.match(await makeContact({ connectionString }, OPTIONS), { warnings: [] });
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  for (let day = 1; day <= 5; day++) {
    await admin.query(
      `CREATE TABLE sluice.logs_2026010${day} PARTITION OF sluice.logs FOR VALUES FROM ('2026-01-0${day}Z') TO ('2026-01-0${day + 1}Z')`,
    );
  }
  await admin.end();
  t.match(await makeContact({ connectionString }, OPTIONS), {
    warnings: [{ message: /lock 220 tables and indexes.* 200 locks/, fix: /max_locks_per_transaction = 32;/ }],
  });
});

t.test('a read-only server may become writable, so the daemon waits', async (t) => {
  const { url, name } = await createDatabase(t);
  const admin = await connectTo(t, url);
  await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  const error = await makeContact({ connectionString: url }, OPTIONS).catch((reason) => reason);
  t.ok(isPassing(error), describeFailure(error));
  const { log } = await startPostgresDaemon(t, { databaseUrl: url });
  t.match(
    log.filter(({ message }) => /requests are answered 503/.test(message)),
    [{ fields: { error: /read-only/, fix: /address of the primary/ } }],
  );
});

t.test('the default isolation level of a role has no effect', async (t) => {
  const { url, name } = await createDatabase(t);
  const admin = await connectTo(t, url);
  await admin.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  await makeContact({ connectionString: url }, OPTIONS);
  const session = await openSession(new Database().use({ connectionString: url }));
  t.teardown(() => session.end());
  await session.query('BEGIN');
  t.strictSame((await session.query('SHOW transaction_isolation')).rows, [{ transaction_isolation: 'read committed' }]);
});
