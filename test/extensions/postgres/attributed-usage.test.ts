// The user, the conversation and the agent of a call that names none, in the function, the view and `sluice usage`,
// compared with the rule written out for one trace at a time, for random trees in a random order of arrival.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { sluice } from '../../support/command-line.ts';
import { openFolder } from '../../support/executable.ts';
import { Random } from '../../support/generators-random.ts';
import { cases } from '../../support/long.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { postgresConfig, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { byTrace, type NodeContents, randomTree, sendNodes, type TreeNode } from '../../support/random-trees.ts';
import '../../support/long-file.ts';

t.setTimeout(300_000);

const TRACES = cases(400);
const LARGEST = 10;
const SEED = 1_123;
const NOW_NS = BigInt(Date.now()) * 1_000_000n;
const NOW = `${NOW_NS}, ${NOW_NS + 1n}`;
const COLUMNS = ['user_id', 'conversation_id', 'agent_name'] as const;
type Column = (typeof COLUMNS)[number];
type Names = Readonly<Partial<Record<Column, string>>>;
const KEYS: Readonly<Record<Column, string>> = {
  user_id: 'user.id',
  conversation_id: 'gen_ai.conversation.id',
  agent_name: 'gen_ai.agent.name',
};

interface Node extends TreeNode {
  readonly isCall: boolean;
  readonly names: Names;
}

function randomTrace(random: Random, number: number): readonly Node[] {
  // Some traces name nothing, some one value, some several.
  const several = 1 + random.below(3);
  const chance = random.below(6);
  const names = (): Names =>
    Object.fromEntries(
      COLUMNS.flatMap((column) =>
        random.below(8) < chance ? [[column, `${column}-${number}-${random.below(several)}`]] : [],
      ),
    );
  return randomTree(random, { number, largest: LARGEST, lost: 12 }).map((node) => {
    const isCall = random.once(2);
    return { ...node, isCall, isLog: isCall && random.once(5), names: names() };
  });
}

/** The rule for the calls of one trace. A log record that names a call is the same call. */
function ownersOf(nodes: readonly Node[]): readonly Names[] {
  const spans = nodes.filter(({ isLog }) => !isLog);
  const span = (id: string | null): Node | undefined => spans.find((node) => node.id === id);
  const counting = nodes.filter(({ isCall, isLog, parent }) => isCall && !(isLog && span(parent)?.isCall === true));
  return counting.map((call) =>
    Object.fromEntries(
      COLUMNS.flatMap((column) => {
        const told = new Set(nodes.flatMap(({ names }) => names[column] ?? []));
        let at: Node | undefined = call;
        while (at !== undefined && at.names[column] === undefined) at = span(at.parent);
        const only = told.size === 1 && column !== 'agent_name' ? [...told][0] : undefined;
        const owner = at?.names[column] ?? only;
        return owner === undefined ? [] : [[column, owner]];
      }),
    ),
  );
}

const attributesOf = ({ isCall, names }: Node): Record<string, string | number> => ({
  ...(isCall ? { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 1 } : {}),
  ...Object.fromEntries(
    COLUMNS.flatMap((column) => (names[column] === undefined ? [] : [[KEYS[column], names[column]]])),
  ),
});

const CONTENTS: NodeContents<Node> = { startNs: NOW_NS, attributesOf };

type Counts = Readonly<Record<string, number>>;

/** The number of calls of each owner, for one column. */
const countsOf = (rows: readonly { readonly name: unknown; readonly calls: unknown }[]): Counts =>
  Object.fromEntries(
    rows
      .map(({ name, calls }): [string, number] => [String(name), Number(calls)])
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

function expectedCounts(nodes: readonly Node[], column: Column): Counts {
  const counts = new Map<string, number>();
  for (const its of byTrace(nodes).values())
    for (const names of ownersOf(its)) {
      const name = names[column] ?? 'null';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  return countsOf([...counts].map(([name, calls]) => ({ name, calls })));
}

const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
const folder = openFolder(t);
writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl: daemon.databaseUrl }));
const usage = async (...args: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const { out, err } = await sluice(['usage', '--json', '-c', 'a.yaml', ...args], { folder });
  if (out === '') throw new Error(err);
  return (JSON.parse(out) as { usage: Readonly<Record<string, unknown>>[] }).usage;
};

async function compareSql(t: Test, nodes: readonly Node[], ranges: readonly string[]): Promise<void> {
  for (const column of COLUMNS) {
    const expected = expectedCounts(nodes, column);
    for (const range of ranges) {
      for (const more of ['', `, '{${column}}'`]) {
        const rows = await daemon.query(
          `SELECT ${column} AS name, count(*) AS calls FROM attributed_usage_between('demo', ${range}${more}) GROUP BY 1`,
        );
        t.strictSame(countsOf(rows as never), expected, `${column}, ${range}${more}`);
      }
    }
  }
  const rows = await daemon.query('SELECT conversation_id AS name, call_count AS calls FROM conversations');
  const { null: _, ...named } = expectedCounts(nodes, 'conversation_id');
  t.strictSame(countsOf(rows as never), named, 'the view conversations');
}

t.test(`the calls of ${TRACES} random trees have the nearest owner, whatever has arrived`, async (t) => {
  const random = new Random(SEED);
  const trees = Array.from({ length: TRACES }, (_, number) => randomTrace(random, number));
  const shuffled = random.shuffle(trees.flat());
  const half = Math.floor(shuffled.length / 2);
  await sendNodes(daemon.url, shuffled.slice(0, half), CONTENTS);
  await compareSql(t, shuffled.slice(0, half), [NOW]);
  await sendNodes(daemon.url, shuffled.slice(half), CONTENTS);
  await compareSql(t, shuffled, [NOW, 'NULL, NULL']);
  for (const [by, column] of [
    ['user', 'user_id'],
    ['conversation', 'conversation_id'],
    ['agent', 'agent_name'],
  ] as const) {
    const expected = expectedCounts(shuffled, column);
    const rows = await usage('--by', by);
    t.strictSame(countsOf(rows.map((row) => ({ name: row[column], calls: row['call_count'] }))), expected, by);
    const [name = ''] = Object.keys(expected).filter((each) => each !== 'null');
    t.match(await usage(`--${by}`, name, '--since', 'all'), [{ model: 'm', call_count: expected[name] }], `--${by}`);
    t.match(await usage(`--${by}`, name, '--since', '1h'), [{ model: 'm', call_count: expected[name] }], `--${by}`);
  }
});

t.test('a circle of parents and a span with two rows end', async (t) => {
  const span = (spanId: string, parentSpanId: string, start = NOW_NS, names: Record<string, string> = {}): object =>
    aSpan({
      traceId: 'f'.repeat(32),
      spanId,
      parentSpanId,
      start,
      attributes: { ...attributesOf({ isCall: true, names: {} } as unknown as Node), ...names },
    });
  const [a, b, c] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)];
  const spans = [span(a, b), span(b, a), span(c, a), span(a, c, NOW_NS + 1n), span('d'.repeat(16), 'd'.repeat(16))];
  const other = span('e'.repeat(16), c, NOW_NS, { 'user.id': 'x' });
  const another = span('1'.repeat(16), 'e'.repeat(16), NOW_NS, { 'user.id': 'y' });
  const { status } = await send(daemon.url, { body: JSON.stringify(aTraceRequest([...spans, other, another])) });
  t.equal(status, 200);
  const rows = await daemon.query(
    "SELECT user_id AS name, count(*) AS calls FROM attributed_usage_between('demo', NULL, NULL) WHERE trace_id = decode($1, 'hex') GROUP BY 1",
    ['f'.repeat(32)],
  );
  t.equal(countsOf(rows as never)['x'], 1);
  t.equal(countsOf(rows as never)['y'], 1);
});
