/** Commands on tables without statistics, as those of a new day: each trace is read by its own spans only. */
import { join } from 'node:path';
import t from 'tap';
import { sluice } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { hex } from '../support/console-reading.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { SPANS, startWithoutStatistics, TRACES } from '../support/without-statistics.ts';

t.setTimeout(300_000);

const { reading, entriesOf } = await startWithoutStatistics(t);
const folder = folderOf({ 'a.yaml': postgresConfig({ databaseUrl: reading.url }) });
const stored = TRACES * SPANS;
/** A trace is looked up by a filter, and for its figures, its root, its calls and its roll-ups. */
const LOOKUPS = 8;

const CONVERSATION = 'c-1';
/** The traces of the conversation, a few of those stored. One span of each names it. */
const TURNS = 20;
const NAME = `UPDATE sluice.spans s SET conversation_id = $1, category = 'model_call' WHERE s.trace_id = ANY ($2::bytea[])
  AND s.start_time_unix_nano = (SELECT min(o.start_time_unix_nano) FROM sluice.spans o WHERE o.trace_id = s.trace_id)`;

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'the list': ['traces', '--limit', '400'],
  'the list with errors': ['traces', '--errors', '--limit', '400'],
  'the list of a model': ['traces', '--model', 'gpt-5', '--limit', '400'],
  'the list with a filter': ['traces', '--filter', 'model:gpt-5', '--limit', '400'],
  'the export of traces with errors': ['export', '--what', 'traces', '--errors'],
  'the export of the spans of traces': ['export', '--what', 'traces', '--as', 'otlp', '--model', 'gpt-5'],
};

for (const [what, words] of Object.entries(COMMANDS)) {
  t.test(what, async (t) => {
    const read = await entriesOf(async () => {
      const { code, err } = await sluice([...words, '-c', join(folder, 'a.yaml')], { folder });
      t.equal(code, 0, err);
    });
    t.ok(read > 0 && read <= stored * LOOKUPS, `${read} entries of indexes`);
  });
}

t.test('a conversation', async (t) => {
  const { rowCount } = await reading.client.query(NAME, [
    CONVERSATION,
    [...Array(TURNS).keys()].map((at) => hex(1 + at, 16)),
  ]);
  t.equal(rowCount, TURNS);
  const read = await entriesOf(async () => {
    const { code, out, err } = await sluice(['conversation', CONVERSATION, '--json', '-c', join(folder, 'a.yaml')], {
      folder,
    });
    t.equal(code, 0, err);
    t.equal(JSON.parse(out).call_count, TURNS);
  });
  t.ok(read > 0 && read <= TURNS * SPANS * LOOKUPS, `${read} entries of indexes`);
});

for (const [what, flag] of [
  ['the preview of the removal of a trace', '--dry-run'],
  ['the removal of a trace', '--yes'],
] as const)
  t.test(what, async (t) => {
    const read = await entriesOf(async () => {
      const words = ['prune', '--trace', hex(7, 16).slice(2), flag];
      const { code, err } = await sluice([...words, '-c', join(folder, 'a.yaml')], { folder });
      t.equal(code, 0, err);
    });
    t.ok(read >= SPANS && read <= SPANS * LOOKUPS, `${read} entries of indexes`);
  });
