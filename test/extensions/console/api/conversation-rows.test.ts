/** How much the rows of conversations read: the records of these conversations, and not those of the whole project. */
import t from 'tap';
import { Partitions } from '../../../../src/exporters/postgres/partitions.ts';
import { listConversations } from '../../../../src/extensions/console/api/conversations.ts';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import { DAY_MS, MS_NS } from '../../../../src/pdata/time-units.ts';
import { BASE_NS, spanRow, store } from '../../../support/console-reading.ts';
import { startWithoutStatistics } from '../../../support/without-statistics.ts';
import '../../../support/long-file.ts';

const LISTED = 5;
const DAYS = 40;
const OF_A_DAY = 100;
/** Days before those of the other spans. */
const BEFORE = 3;
const { reading, entriesOf } = await startWithoutStatistics(t);
const database = new Database().use({ connectionString: reading.url });
const partitions = new Partitions(database);
const kept = { name: 'spans', key: 'nanoseconds', retentionMs: 100 * DAY_MS } as const;
for (let day = BEFORE + 7; day <= BEFORE + DAYS; day += 7)
  await partitions.open(kept, Number(BASE_NS / MS_NS) - day * DAY_MS);
await database.close();
await store(
  reading,
  Array.from({ length: DAYS * OF_A_DAY }, (_, at) =>
    spanRow({
      trace: 10_000 + at,
      at: -BEFORE * DAY_MS - Math.floor((at * DAY_MS) / OF_A_DAY),
      conversation_id: `c-${Math.floor(at / 2)}`,
    }),
  ),
);

t.test('conversations whose spans have no input', async (t) => {
  const question = { query: { limit: LISTED, to: String(BASE_NS - BigInt(BEFORE * DAY_MS) * MS_NS) } };
  const { items } = await reading.ask(listConversations, question);
  t.equal(items.length, LISTED);
  await reading.client.query('ANALYZE sluice.spans, sluice.traces');
  const read = await entriesOf(() => reading.text(listConversations, question));
  t.ok(read < DAYS * OF_A_DAY, `${read} entries of indexes`);
});
