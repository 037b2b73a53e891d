/** Streams of slow clients leave a connection for other queries. */
import t from 'tap';
import type { PostgresReader, ReaderRow } from '../../../../src/component/capabilities/postgres-reader.ts';
import type { ConsoleError } from '../../../../src/extensions/console/errors.ts';
import { RequestReaders } from '../../../../src/extensions/console/server/request-reader.ts';

const CONNECTIONS = 3;

/** A database of which every stream has rows without end. */
const ENDLESS = {
  views: 'public',
  query: async () => [{ asked: true }],
  prepared: async () => [],
  async *stream(): AsyncGenerator<readonly ReaderRow[]> {
    for (;;) yield [{}];
  },
} satisfies PostgresReader;

/** Reads the first rows, and the others never. */
async function begin(readers: RequestReaders, caller: string): Promise<AsyncIterator<readonly ReaderRow[]>> {
  const rows = readers.for(caller, new AbortController().signal).stream('')[Symbol.asyncIterator]();
  await rows.next();
  return rows;
}

t.test('one connection fewer than there are can stream, to all callers together', async (t) => {
  const readers = new RequestReaders(ENDLESS, CONNECTIONS);
  const [first] = await Promise.all(['ada', 'bob'].map((caller) => begin(readers, caller)));
  const refused = await begin(readers, 'eve').catch((error: ConsoleError) => error.code);
  t.equal(refused, 'busy');
  t.same(await readers.for('eve', new AbortController().signal).query(''), [{ asked: true }]);
  const waiting = begin(readers, 'eve');
  await first?.return?.();
  await waiting;
});
