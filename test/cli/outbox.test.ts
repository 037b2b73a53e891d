// The commands of the outbox, with a daemon whose remote refuses everything.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { accept, refuse, spanNames, startRemote } from '../support/fake-remote.ts';
import { eventually } from '../support/eventually.ts';
import { forwarderConfig, sendSpan, startForwarder } from '../exporters/otlp-http/forwarder.ts';

t.setTimeout(300_000);

const remote = await startRemote(t);
remote.answer = refuse(400, { 'content-type': 'application/json' }, '{"message":"no\\u001b[2J"}');
const forwarder = await startForwarder(t, remote.url);
const { folder } = forwarder;
writeFileSync(join(folder, 'a.yaml'), forwarderConfig(remote.url, forwarder.databaseUrl));
const sluice = (...args: string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });

async function read(...args: string[]): Promise<readonly Record<string, unknown>[]> {
  const { code, out, err } = await sluice(...args, '--json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

t.test('an empty outbox is reported as empty', async (t) => {
  t.match(await sluice('outbox', 'list'), { code: 0, out: 'The outbox is empty.\n' });
  t.match(await sluice('outbox', 'dead'), { code: 0, out: 'There are no dead letters.\n' });
  t.strictSame(await read('outbox', 'list'), []);
});

t.test('dead letters are listed and shown without control characters', async (t) => {
  for (const name of ['a', 'b', 'c']) t.equal(await sendSpan(forwarder.url, name), 200);
  const dead = "SELECT FROM sluice.outbox WHERE state = 'dead'";
  await eventually('all are dead', async () => (await forwarder.query(dead)).length === 3);
  const letters = await read('outbox', 'dead', '--limit', '2');
  t.match(letters, [{ destination: 'otlp_http', signal: 'traces', project: 'demo', records: 1, state: 'dead' }, {}]);
  t.equal(letters.length, 2, 'the newest of them');
  const table = await sluice('outbox', 'dead', '--destination', 'otlp_http');
  t.match(table.out, /^SEQUENCE +DESTINATION/u);
  t.match(table.out, '400 no [2J');
  t.notOk(table.out.includes('\u001b'));
  t.match(await read('outbox', 'list'), [{ destination: 'otlp_http', waiting: 0, dead: 3 }]);
  const shown = await sluice('outbox', 'show', String(letters[0]?.['sequence']));
  t.match(shown.out, '"name": "c"');
  t.match(shown.out, /attempts +1\n/u);
});

t.test('one dead letter or all of a destination can be replayed, in their original order', async (t) => {
  remote.answer = accept;
  const [newest, , oldest] = await read('outbox', 'dead');
  t.match(await sluice('outbox', 'drop', String(newest?.['sequence'])), { code: 0, out: '1 request removed.\n' });
  t.match(await sluice('outbox', 'replay', String(oldest?.['sequence'])), { out: '1 request will be sent again.\n' });
  await eventually('it arrives', () => remote.accepted.length === 1);
  t.match(await sluice('outbox', 'replay', '-d', 'otlp_http'), { out: '1 request will be sent again.\n' });
  await eventually('the other arrives', () => remote.accepted.length === 2);
  t.strictSame(spanNames(remote.accepted), ['a', 'b']);
});

t.test('dropping a destination keeps waiting requests unless --waiting is given', async (t) => {
  await remote.close();
  t.equal(await sendSpan(forwarder.url, 'd'), 200);
  t.match(await sluice('outbox', 'drop', '-d', 'otlp_http'), { out: '0 requests removed.\n' });
  t.match(await sluice('outbox', 'list'), { out: /otlp_http +1 / });
  t.match(await sluice('outbox', 'drop', '-d', 'otlp_http', '--waiting'), { out: '1 request removed.\n' });
});

t.test('mistakes are explained', async (t) => {
  t.match(await sluice('outbox', 'show', '4711'), { code: 1, err: /there is no request 4711/u });
  t.match(await sluice('outbox', 'replay', '4711'), { code: 1, err: /there is no dead letter 4711/u });
  t.match(await sluice('outbox', 'show', 'x'), { code: 2, err: /"x" is not the number/u });
  t.match(await sluice('outbox', 'show'), { code: 2, err: /SEQUENCE is missing/u });
  t.match(await sluice('outbox', 'drop'), { code: 2, err: /name one request, or a destination/u });
  t.match(await sluice('outbox', 'drop', '1', '-d', 'x'), { code: 2 });
});
