/** Documented shapes of content that no capture has, and values that are none of them. */
import t from 'tap';
import { MAX_PARTS, type Message, part } from '../../src/messages/message.ts';
import { readMessages } from '../../src/messages/read-messages.ts';
import { readRecord } from '../../src/messages/read-record.ts';

/** `role [name]: type=text …` of each message. */
function told(content: unknown, role = 'user'): readonly string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return readMessages(text, role).messages.map(line);
}

function line({ role, parts, finishReason }: Message): string {
  const words = parts.map(({ type, text, name, id, mediaType, bytes }) =>
    [type, name, id, mediaType, bytes, text].filter((each) => each !== null && each !== '').join(' '),
  );
  return `${role}: ${words.join(' | ')}${finishReason === null ? '' : ` (${finishReason})`}`;
}

t.test('plain text is one message with exactly that text', async (t) => {
  for (const text of [
    'hello',
    ' two\nlines ',
    '[not JSON',
    '{"broken": ',
    '{',
    '[]x',
    '42',
    'null',
    '"quoted"',
    '\ufffd',
  ])
    t.same(readMessages(text, 'user').messages, [
      { role: 'user', name: null, finishReason: null, parts: [part('text', text)] },
    ]);
  t.same(readMessages('', 'user').messages, []);
});

t.test('requests of providers are read into messages', async (t) => {
  t.same(
    told({
      systemInstruction: { parts: [{ text: 'brief' }] },
      contents: [
        { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        { role: 'model', parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'f', args: { a: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { b: 2 } } }] },
      ],
    }),
    [
      'system: text brief',
      'user: text hi | media image/png 3',
      'assistant: reasoning hm | tool_call f {"a":1}',
      'user: tool_result f {"b":2}',
    ],
  );
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  for (const request of [
    { model: 'gemini', contents, config: { systemInstruction: 'brief', labels: {} } },
    { model: 'gemini', contents, config: { system_instruction: { role: 'user', parts: [{ text: 'brief' }] } } },
    { model: 'gemini', content: contents, config: { systemInstruction: { parts: [{ text: 'brief' }] } } },
    { Model: 'gemini', Contents: contents, Config: { systemInstruction: { parts: [{ text: 'brief' }] } } },
  ])
    t.same(told(request), ['system: text brief', 'user: text hi'], 'a request of the Agent Development Kit');
  for (const content of [{ parts: [{ text: 'brief' }] }, { role: 'user', parts: [{ text: 'brief' }] }])
    t.same(told(content, 'system'), ['system: text brief'], 'its instructions alone');
  t.same(told({ Content: { role: 'model', parts: [{ text: 'hello' }] }, UsageMetadata: {} }, 'assistant'), [
    'assistant: text hello',
  ]);
  t.same(
    told({
      model: 'gpt-5',
      instructions: 'brief',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hi' },
            { type: 'input_image', image_url: 'https://x/y.png' },
          ],
        },
        { type: 'function_call', call_id: 'c1', id: 'fc_1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'seven' },
      ],
    }),
    [
      'system: text brief',
      'user: text hi | media image https://x/y.png',
      'assistant: tool_call f c1 {"a":1}',
      'tool: tool_result c1 seven',
    ],
  );
  t.same(
    told([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAAAA==' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAAAAAA' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_id: 'file-1', filename: 'a.pdf' } },
          { image: { format: 'png', source: { bytes: 'AAAA' } } },
        ],
      },
    ]),
    ['user: media image/jpeg 4 | media image/png 6 | media wav 3 | media a.pdf file-1 file | media png 3'],
  );
});

t.test('answers of providers are read into messages', async (t) => {
  t.same(
    told({ id: 'r', choices: [{ finish_reason: 'stop', index: 0, message: { role: 'assistant', content: 'yes' } }] }),
    ['assistant: text yes (stop)'],
  );
  t.same(told({ candidates: [{ content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP' }] }), [
    'assistant: text yes (STOP)',
  ]);
  t.same(
    told({
      role: 'assistant',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'let me see' },
        { type: 'tool_use', id: 't1', name: 'f', input: {} },
      ],
    }),
    ['assistant: reasoning hm | text let me see | tool_call f t1 {} (tool_use)'],
  );
  t.same(told({ role: 'assistant', content: 'yes', reasoning_content: 'hm', refusal: null }), [
    'assistant: reasoning hm | text yes',
  ]);
});

t.test('indexed keys in any order, with more than ten messages', async (t) => {
  const flat = Object.fromEntries(
    [11, 2, 0, 1, 10, 3, 4, 5, 6, 7, 8, 9].flatMap((at) => [
      [`llm.input_messages.${at}.message.content`, `m${at}`],
      [`llm.input_messages.${at}.message.role`, at % 2 === 0 ? 'user' : 'assistant'],
    ]),
  );
  t.same(
    told(flat),
    Array.from({ length: 12 }, (_, at) => `${at % 2 === 0 ? 'user' : 'assistant'}: text m${at}`),
  );
});

t.test('a call that is reported twice is one call', async (t) => {
  t.same(
    told({
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }],
      tool_calls: [
        { name: 'f', args: { a: 1 }, id: 't1' },
        { name: 'g', args: {}, id: 't2' },
      ],
    }),
    ['assistant: tool_call f t1 {"a":1} | tool_call g t2 {}'],
  );
});

t.test('a value of unknown shape stays whole', async (t) => {
  for (const value of [
    { a: 1, text: 'x', image: {} },
    { agent: { role: 'r' }, context: 'c' },
    { input: 'x', k: 3 },
    { path: 'a.txt', content: ['x', 'y'], config: { mode: 'append' } },
    [1, 2],
    {},
  ])
    t.same(told(value, 'user'), [`user: json ${JSON.stringify(value)}`]);
});

t.test('integers keep all their digits', async (t) => {
  const content =
    '[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{"n":12345678901234567890,"s":"1e400 \\"12345678901234567890\\""}}}]}]';
  t.same(told(content), ['assistant: tool_call f c {"n":12345678901234567890,"s":"1e400 \\"12345678901234567890\\""}']);
});

t.test('columns of tools and retrievals', async (t) => {
  const sections = readRecord({
    tool_name: 'f',
    tool_call_id: 'c1',
    tool_arguments: '{"a": 1}',
    tool_result: '[{"type":"text","text":"seven"}]',
    retrieval_query: '{"query_str":"where"}',
    retrieval_documents: '[{"id":"d1","page_content":"here","metadata":{}},"there"]',
  });
  t.same(
    sections.map(({ source, messages }) => `${source} ${messages.map(line).join('; ')}`),
    [
      'retrieval_query null: query where',
      'tool_arguments assistant: tool_call f c1 {"a": 1}',
      'tool_result tool: tool_result f c1 seven',
      'retrieval_documents null: document d1 here | document there',
    ],
  );
});

t.test('the name of a log record tells the role of its message', async (t) => {
  const [section] = readRecord({ event_name: 'gen_ai.tool.message', input_content: '{"content":"seven","id":"c1"}' });
  t.same(section?.messages.map(line), ['tool: tool_result c1 seven']);
});

t.test('reading is bounded', async (t) => {
  const many = readMessages(
    JSON.stringify(Array.from({ length: MAX_PARTS + 5 }, () => ({ role: 'user', content: 'x' }))),
    'user',
  );
  t.equal(many.isComplete, false);
  t.ok(many.messages.reduce((sum, { parts }) => sum + parts.length, 0) <= MAX_PARTS);
  for (const depth of [30, 5_000, 50_000]) {
    const deep = `${'[{"content":'.repeat(depth)}"x"${'}]'.repeat(depth)}`;
    t.ok(readMessages(deep, 'user').messages.length > 0, `${depth} levels`);
    const values = `${'{"type":"a","value":'.repeat(depth)}1${'}'.repeat(depth)}`;
    for (const column of ['input_content', 'tool_result', 'retrieval_documents'] as const)
      t.equal(readRecord({ [column]: values })[0]?.messages.length, 1, `${column}, ${depth} levels`);
    t.ok(readMessages(`[{"role":"tool","content":${values}}]`, 'user').messages.length > 0);
  }
});

t.test('long lists take linear time', async (t) => {
  const many = (each: string): string => `[${Array.from({ length: 30_000 }, () => each).join(',')}]`;
  for (const content of [
    many('{"role":"user"}'),
    `[${many('{"role":"user"}')}]`,
    many('{"text":"a"}'),
    // More than a call takes as arguments.
    `[{"type":"text","content":[${'"a",'.repeat(150_000)}"a"]}]`,
    `{"role":"user","content":${many('{"type":"text","text":"a"}')},"parts":${many('"a"')}}`,
    `{"role":"assistant","tool_calls":${many('{"id":"1","name":"f","arguments":{}}')}}`,
  ])
    t.ok(readMessages(content, 'user').messages.length > 0);
});

t.test('nothing throws, and plain strings are never lost', async (t) => {
  const random = generator(7);
  for (let round = 0; round < 5_000; round++) {
    const texts: string[] = [];
    const value = randomValue(random, texts, 4);
    const { messages } = readMessages(JSON.stringify(value), 'user');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) continue;
    const read = messages.flatMap(({ parts }) => parts.map(({ text }) => text)).join('\n');
    if (Array.isArray(value))
      for (const text of value.filter((each) => typeof each === 'string'))
        if (!read.includes(text)) t.fail(`lost ${text} of ${JSON.stringify(value)}`);
  }
  t.pass();
});

const KEYS = [
  ...[
    'role',
    'content',
    'parts',
    'type',
    'text',
    'tool_calls',
    'function',
    'arguments',
    'name',
    'id',
    'message',
    'messages',
  ],
  ...[
    'choices',
    'output',
    'kwargs',
    'lc',
    'data',
    'toolUse',
    'image',
    'url',
    'llm.input_messages.0.message.role',
    '__proto__',
  ],
];
const WORDS = ['user', 'text', 'tool_use', 'tool_result', 'image', 'reasoning', 'ai', 'function', ''];

function randomValue(random: () => number, texts: string[], depth: number): unknown {
  const pick = random();
  if (depth === 0 || pick < 0.3) {
    const text = random() < 0.5 ? `word${texts.push('')}` : (WORDS[Math.floor(random() * WORDS.length)] ?? '');
    return random() < 0.8 ? text : [null, true, 3][Math.floor(random() * 3)];
  }
  const size = Math.floor(random() * 4);
  if (pick < 0.55) return Array.from({ length: size }, () => randomValue(random, texts, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [
      KEYS[Math.floor(random() * KEYS.length)] ?? '',
      randomValue(random, texts, depth - 1),
    ]),
  );
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
