/** The journal of the senders: every entry is on disk, in order, before the sender continues. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Journal, type SendEntry } from './journal.ts';

const aSend = (send: number): SendEntry => ({ entry: 'send', send, body: 1, replica: 0, at: 0 });

t.test('an entry is in the file when its write resolves, in order, though syncs are shared', async (t) => {
  const path = join(t.testdir(), 'journal.ndjson');
  const journal = await Journal.create(path);
  const writes = Array.from({ length: 200 }, async (_, send) => {
    await journal.write(aSend(send));
    t.ok(readFileSync(path, 'utf8').includes(`"send":${send},`));
  });
  await Promise.all(writes);
  await journal.close();
  t.strictSame(
    await Journal.read(path),
    Array.from({ length: 200 }, (_, send) => aSend(send)),
  );
});

t.test('an existing journal is never overwritten', async (t) => {
  const path = join(t.testdir({ 'journal.ndjson': 'old' }), 'journal.ndjson');
  await t.rejects(Journal.create(path), { code: 'EEXIST' });
});
