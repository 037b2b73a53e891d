/** The transcript of a trace: roles and parts, what is new, its limit, and the right to content. */
import t from 'tap';
import { showMarkdown } from '../../../../src/extensions/console/api/markdown.ts';
import { LONGEST_TRANSCRIPT } from '../../../../src/extensions/console/api/transcript.ts';
import { hex, spanRow, startReading, store } from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const reading = await startReading(t);
const call = { category: 'model_call', provider: 'openai', response_model: 'gpt-5-mini', usage_scope: 'own' };
const idOf = (number: number): string => hex(number, 16).slice(2);
const asking = (number: number) => ({ path: { trace: idOf(number) } });

const system = { role: 'system', content: 'You plan trips.' };
const question = { role: 'user', content: 'Rain in Lisbon?\n```\nnot a fence\n```' };
const wish = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Lisbon"}' } }],
};
const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' };
const LONG = 'é'.repeat(40_000);

await store(reading, [
  spanRow({
    trace: 1,
    name: 'agent *travel*\n# no heading',
    category: 'agent',
    user_id: 'u-17',
    conversation_id: 'c-1',
  }),
  spanRow({
    ...call,
    trace: 1,
    at: 1,
    name: 'chat',
    input_tokens: 9_007_199_254_740_993n,
    output_tokens: 5,
    total_cost: '0.5',
    input_content: JSON.stringify([system, question]),
    output_content: JSON.stringify([wish]),
  }),
  spanRow({
    trace: 1,
    at: 2,
    name: 'execute_tool',
    category: 'tool_step',
    tool_name: 'get_weather',
    tool_arguments: '{"city":"Lisbon"}',
    status: 'error',
    is_error: true,
    error_type: 'timeout',
    status_message: 'no answer from the forecast',
  }),
  spanRow({
    ...call,
    trace: 1,
    at: 3,
    name: 'chat',
    input_content: JSON.stringify([system, question, wish, result]),
    output_content: JSON.stringify([{ role: 'assistant', content: 'No rain.' }]),
  }),
  spanRow({ trace: 1, at: 4, name: 'GET /forecast', status: 'error', status_message: 'refused by the peer' }),
  spanRow({ trace: 1, at: 5, name: 'an inner span' }),
  // Too much for one text: many steps, each with a long prompt.
  ...Array.from({ length: 420 }, (_, at) =>
    spanRow({
      ...call,
      trace: 2,
      at,
      name: `chat ${at}`,
      input_content: `${at} ${LONG.slice(0, 2000)}`,
      output_content: `answer ${at}`,
    }),
  ),
  // One step that fits only with its text cut.
  spanRow({ ...call, trace: 3, name: 'chat', input_content: LONG.repeat(3), output_content: 'fine' }),
]);

t.test('the steps in order, each with what is new in it', async (t) => {
  const text = await reading.text(showMarkdown, asking(1));
  t.match(text, /^# agent \\\*travel\\\* \\# no heading\n\n- Trace: 0+1\n- Project: demo, environment default\n/u);
  t.match(text, '- Spans: 6, 2 with an error, 2 model calls\n');
  t.match(text, '- User: u-17\n');
  t.match(
    text,
    /\n## 1\. chat\n\nmodel\\_call · gpt-5-mini · at \+1 ms · took 5 ms · 9007199254740993 → 5 tokens · \$0\.5/u,
  );
  t.match(text, '\n**system**\n\n```\nYou plan trips.\n```\n');
  t.match(text, '\n**user**\n\n````\nRain in Lisbon?\n```\nnot a fence\n```\n````\n', 'a text cannot close its fence');
  t.match(text, '\n**assistant calls get\\_weather call\\_1**\n\n```\n{"city":"Lisbon"}\n```\n');
  t.match(text, /## 2\. execute\\_tool\n\n.*failed: timeout/u);
  t.match(text, '\n**status message**\n\n```\nno answer from the forecast\n```\n');
  t.match(text, 'The first 3 messages are those of an earlier step.');
  t.equal(text.split('You plan trips.').length, 2, 'the history is shown once');
  t.match(text, /\*\*result of call\\_1\*\*\n\n```\nsunny\n```/u);
  t.match(text, /No rain\./u);
  t.match(text, '## 4. GET /forecast');
  t.notMatch(text, 'an inner span');
});

t.test('a reader without the right to content gets the outline only', async (t) => {
  const text = await reading.text(showMarkdown, { ...asking(1), seesContent: false });
  t.match(text, 'the caller has no right to content');
  t.match(text, /## 1\. chat/u);
  for (const secret of ['Lisbon', 'rain', 'sunny', 'no answer', 'refused by', '```']) t.notMatch(text, secret);
});

t.test('it is never longer than its limit, and names what is left out', async (t) => {
  const text = await reading.text(showMarkdown, asking(2));
  t.ok(Buffer.byteLength(text) <= LONGEST_TRANSCRIPT);
  t.ok(Buffer.byteLength(text) > LONGEST_TRANSCRIPT / 2);
  t.match(text, '## 1. chat 0\n');
  t.match(text, /\(\d+ steps are left out here/u);
  t.match(text, /\(\d+ further steps are left out\.\)/u);
  const cut = await reading.text(showMarkdown, asking(3));
  t.ok(Buffer.byteLength(cut) <= LONGEST_TRANSCRIPT);
  t.match(cut, /é\n… cut\n```/u);
  t.match(cut, 'fine');
  t.notMatch(cut, '\u{fffd}');
});

t.test('a trace of another project', async (t) => {
  t.match(await reading.refusal(showMarkdown, { ...asking(1), project: 'other' }), { code: 'not_found' });
  t.match(await reading.refusal(showMarkdown, asking(9)), { code: 'not_found' });
});
