/** Answers to agents say which archived records they lack, as those of the API do. */
import t from 'tap';
import { getTrace } from '../../../../src/extensions/console/mcp/get-trace.ts';
import { getConversation } from '../../../../src/extensions/console/mcp/get-conversation.ts';
import { searchTraces } from '../../../../src/extensions/console/mcp/search-traces.ts';
import { type Tool, ToolValues } from '../../../../src/extensions/console/mcp/tool.ts';
import { usage } from '../../../../src/extensions/console/mcp/usage.ts';

const FROM = '1795132800000000000';
const SUMS = {
  call_count: 0,
  input_tokens: null,
  output_tokens: null,
  total_cost: null,
  unpriced_count: 0,
  p50_ms: null,
};
const TIMES = {
  ...{ first_time_unix_nano: FROM, last_time_unix_nano: FROM, start_time_unix_nano: FROM },
  duration_ns: null,
};
const ANSWERS: Readonly<Record<string, object>> = {
  '/usage': { from: FROM, to: FROM, group: 'model', interval: '1h', series: [], total: SUMS, before: SUMS },
  '/tools': { from: FROM, to: FROM, items: [], examined: 0, complete: true },
  '/traces/top': { by: 'cost', items: [] },
  '/traces': { items: [], next: null, examined: 0, reached: null, more: false },
  '/conversations/c/turns': {
    conversation: { ...SUMS, conversation_id: 'c', trace_count: 0, error_count: 0, user_id: null, ...TIMES },
    items: [],
    next: null,
  },
  '/traces/t': {
    ...SUMS,
    trace_id: 't',
    name: 'n',
    services: [],
    environment: 'default',
    models: [],
    error_count: 0,
    ...TIMES,
  },
};
const SPANS = '{"columns":[]}\n{"end":true,"spans":0,"of":0,"next":null}\n';

/** The answer of the tool when answers of the API have these members too. */
function answerOf(tool: Tool, values: object, more: object): Promise<string> {
  const get = async (url: string): Promise<string> => {
    const [path = ''] = url.slice('/api/v1/projects/shop'.length).split('?');
    return path.endsWith('/spans') ? SPANS : JSON.stringify({ ...ANSWERS[path], ...more });
  };
  return tool.run(new ToolValues(tool, { project: 'shop', ...values }), { api: { get }, explain: null, sql: null });
}

const CASES: readonly (readonly [name: string, tool: Tool, values: object])[] = [
  ['usage', usage, {}],
  ['times of tools', usage, { group: 'tool' }],
  ['the highest traces', searchTraces, { sort: 'cost' }],
  ['the last page of a search', searchTraces, {}],
  ['a conversation', getConversation, { conversation: 'c' }],
];
const ALL: typeof CASES = [...CASES, ['a trace', getTrace, { trace: 't' }]];

t.test('an answer with a file of the archive that cannot be read names it', async (t) => {
  for (const [name, tool, values] of ALL)
    t.match(
      await answerOf(tool, values, { complete_from: FROM, unread: 'lake/x.parquet has 0 bytes' }),
      /^Incomplete before 2026-11-20T00:00:00\.000Z: lake\/x\.parquet has 0 bytes$/mu,
      name,
    );
});

t.test('an answer without the earlier archived days says from when it is complete', async (t) => {
  for (const [name, tool, values] of CASES)
    t.match(
      await answerOf(tool, values, { complete_from: FROM }),
      /^Incomplete before 2026-11-20T00:00:00\.000Z: /mu,
      name,
    );
});

t.test('a complete answer, and a page that continues, say nothing of it', async (t) => {
  for (const [name, tool, values] of ALL) t.notMatch(await answerOf(tool, values, {}), /Incomplete/u, name);
  t.notMatch(await answerOf(searchTraces, {}, { complete_from: FROM, next: 'abc' }), /Incomplete/u);
});
