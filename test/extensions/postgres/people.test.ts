/** People, links, sessions and read tokens in the database, and the audit of every change. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { Administration } from '../../../src/extensions/postgres/administration.ts';
import { PostgresPeople } from '../../../src/extensions/postgres/people.ts';
import { openMigrated } from '../../support/migrated.ts';

const BY = { id: null, name: 'a test' };
const LONG = { ageMs: 3_600_000, idleMs: 3_600_000 };
const DEVICE = { address: '127.0.0.1', agent: 'a browser' };

t.test('people of the console', async (t) => {
  const { database } = await openMigrated(t);
  const people = new PostgresPeople(database);
  const audit = async (): Promise<readonly string[]> =>
    (await database.query('SELECT actor, action FROM sluice.audit ORDER BY id')).rows.map(
      ({ actor, action }) => `${actor}: ${action}`,
    );
  const link = async (id: string, lifetimeMs: number): Promise<Buffer> => {
    const hash = randomBytes(32);
    t.ok(await people.addLink(id, { hash, lifetimeMs }, BY));
    return hash;
  };

  const ada = await people.create({ name: 'ada', role: 'admin', projects: ['shop'], seesContent: false }, BY);
  const bob = await people.create({ name: 'bob', projects: ['shop'], seesContent: false }, BY);

  t.test('an admin has all projects and sees content', async (t) => {
    t.match(ada, { role: 'admin', projects: null, seesContent: true });
    t.match(bob, { role: 'viewer', projects: ['shop'], seesContent: false });
    await t.rejects(people.create({ name: 'ada' }, BY), { message: /exists already/u });
    await t.rejects(people.create({ name: '\u202eada' }, BY), { message: /cannot be the name/u });
    t.same(await people.findByName('bob'), bob);
    t.match(await people.change(bob.id, { role: 'admin' }, BY), { projects: null, seesContent: true });
    t.match(await people.change(bob.id, { role: 'editor', projects: ['blog'], seesContent: false }, BY), {
      role: 'editor',
      projects: ['blog'],
      seesContent: false,
    });
    t.match(await people.change(bob.id, { seesContent: true }, BY), { projects: ['blog'], seesContent: true });
    t.equal(await people.change('none', { role: 'admin' }, BY), null);
  });

  t.test('a link works once, and opens a session', async (t) => {
    const hash = await link(ada.id, 60_000);
    const sessions = [randomBytes(32), randomBytes(32)];
    const opened = await Promise.all(sessions.map((each) => people.useLink(hash, { hash: each, ...DEVICE })));
    t.equal(opened.filter((each) => each !== null).length, 1);
    t.equal(await people.useLink(await link(ada.id, -1), { hash: randomBytes(32), ...DEVICE }), null);
    const session = sessions[opened[0] === null ? 1 : 0] ?? Buffer.alloc(0);
    t.match(await people.findSession(session, LONG), { person: ada });
    t.equal(await people.findSession(session, { ageMs: 0, idleMs: 1000 }), null);
    t.equal(await people.findSession(session, { ageMs: 1000, idleMs: 0 }), null);
    t.match((await people.list())[0], { name: 'ada', sessions: [DEVICE] });
    await people.endSession(session, { id: ada.id, name: ada.name });
    t.equal(await people.findSession(session, LONG), null);
    t.equal(await people.addLink('none', { hash, lifetimeMs: 1 }, BY), false);
  });

  t.test('the sessions of a removed person end', async (t) => {
    const carol = await people.create({ name: 'carol' }, BY);
    const session = randomBytes(32);
    await people.useLink(await link(carol.id, 60_000), { hash: session, ...DEVICE });
    t.ok(await people.remove(carol.id, BY));
    t.equal(await people.findSession(session, LONG), null);
    t.notOk(await people.remove(carol.id, BY));
  });

  t.test('a read token belongs to a project', async (t) => {
    await new Administration(database, BY).createProject('shop', 'paid', null);
    const draft = { label: 'grafana', seesContent: false, expiresAt: null };
    const secret = { publicId: 'abcdefgh', hash: randomBytes(32) };
    await t.rejects(people.addToken({ project: 'none', ...draft }, secret, BY), { message: /no project/u });
    await people.addToken({ project: 'shop', ...draft }, secret, { id: ada.id, name: ada.name });
    t.match(await people.listTokens('shop'), [
      { publicId: 'abcdefgh', createdBy: ada.id, creator: 'ada', usedAt: null },
    ]);
    t.match(await people.findToken('abcdefgh'), { hash: secret.hash, isExpired: false });
    for (const [index, expiresAt] of [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)].entries()) {
      const publicId = `expires${index}`;
      await people.addToken({ project: 'shop', ...draft, expiresAt }, { publicId, hash: randomBytes(32) }, BY);
      t.match(await people.findToken(publicId), { isExpired: index === 0 }, 'by the clock of the database');
    }
    t.ok((await people.listTokens('shop'))[0]?.usedAt instanceof Date);
    t.notOk(await people.revokeToken('blog', 'abcdefgh', BY));
    t.ok(await people.revokeToken('shop', 'abcdefgh', BY));
    t.ok((await people.findToken('abcdefgh'))?.revokedAt instanceof Date);
  });

  t.test('changes by the command line and the console are audited', async (t) => {
    const administration = new Administration(database);
    const { publicId } = await administration.createKey('shop', null, 'a key');
    await administration.revokeKey(publicId);
    await t.rejects(administration.revokeKey(publicId, 'blog'), { message: /no key/u });
    await t.rejects(administration.createKey('none', null, null), { message: /no project/u });
    await administration.setEnvironment('shop', ' Production', false);
    await administration.setPlan('shop', 'free', 10);
    t.same(await administration.listEnvironments('shop'), [
      { project: 'shop', environment: 'production', settings: { capture_content: false } },
    ]);
    t.same((await audit()).slice(-4), [
      'the command line: key.create',
      'the command line: key.revoke',
      'the command line: environment.set',
      'the command line: project.plan',
    ]);
    t.same(
      (await audit()).filter((line) => line.startsWith('ada')),
      ['ada: session.open', 'ada: session.end', 'ada: token.create'],
    );
  });

  t.test('a trace is deleted before the answer is sent', async (t) => {
    const id = 'ab'.repeat(16);
    await database.query(
      `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns) VALUES (decode($1, 'hex'), 'shop', 'x', 1, 2)`,
      [id],
    );
    const administration = new Administration(database, { id: ada.id, name: ada.name });
    t.equal(await administration.deleteTrace('blog', id), null);
    t.same(await administration.deleteTrace('shop', id), { spans: 0, logs: 0, outboxEntries: 0 });
    t.equal(await administration.deleteTrace('shop', id), null);
    t.equal((await audit()).at(-1), 'ada: trace.delete');
  });
});
