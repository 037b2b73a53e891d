/** The view `messages` reads content as the TypeScript module does: every captured sender, and documented shapes. */
import t from 'tap';
import { CONTENT_COLUMNS } from '../../../src/pdata/content-columns.ts';
import { type ContentRow, readRecord } from '../../../src/messages/read-record.ts';
import { connectTo } from '../../support/connection.ts';
import { isLong } from '../../support/long.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { rowsOf, senders } from '../../processors/normalization/captures.ts';
import { Normalized } from '../../processors/normalization/normalized.ts';

t.setTimeout(300_000);

const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
const client = await connectTo(t, daemon.databaseUrl);

interface Part {
  readonly message: number;
  readonly source: string;
  readonly role: string | null;
  readonly type: string;
  readonly text: string;
  readonly id: string | null;
  readonly name: string | null;
}

const ARGUMENTS = [
  ...[
    'system_instructions',
    'input_content',
    'retrieval_query',
    'tool_arguments',
    'tool_result',
    'retrieval_documents',
  ],
  ...['output_content', 'event_name', 'tool_call_id', 'tool_name'],
];

async function bySql(rows: readonly ContentRow[]): Promise<readonly (readonly Part[])[]> {
  const columns = ARGUMENTS.map((name) => rows.map((row) => (row as Record<string, unknown>)[name] ?? null));
  const { rows: found } = await client.query<Part & { n: string }>(
    `SELECT i.n, m.message, m.source, m.role, m.type, m.text, m.id, m.name
     FROM unnest(${ARGUMENTS.map((_, at) => `$${at + 1}::text[]`).join(', ')})
       WITH ORDINALITY AS i (${ARGUMENTS.map((_, at) => `c${at}`).join(', ')}, n),
       LATERAL public.record_messages(${ARGUMENTS.map((_, at) => `c${at}`).join(', ')}) m ORDER BY i.n, m."position"`,
    columns,
  );
  const lists: Part[][] = rows.map(() => []);
  for (const { n, ...part } of found) lists[Number(n) - 1]?.push(part);
  return lists;
}

function byModule(row: ContentRow): readonly Part[] {
  let message = 0;
  return readRecord(row).flatMap(({ source, messages }) =>
    messages.flatMap(({ role, parts }) => {
      if (parts.length > 0) message += 1;
      return parts.map(({ type, text, id, name }) => ({ message, source, role, type, text, id, name }));
    }),
  );
}

/** JSON of Postgres has another notation of the same value, and no U+0000. */
function comparable(parts: readonly Part[]): unknown {
  return parts.map((part) => ({ ...part, text: /^\s*[[{]/u.test(part.text) ? parsed(part.text) : part.text }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll('\\u0000', '\ufffd'));
  } catch {
    return text;
  }
}

/** Ordinary runs compare one in so many senders. */
const ORDINARY_STEP = 4;

t.test('the view has the messages of every captured sender', async (t) => {
  const normalized = new Normalized();
  const seen = new Set<string>();
  // Scenarios differ in their words, most of them not in the shape of the content.
  const isNew = (row: ContentRow): boolean => {
    const shape = JSON.stringify(CONTENT_COLUMNS.map((name) => row[name])).replaceAll(
      /CANARY[\w-]*|[\da-f-]{6,}|\d+/gu,
      '',
    );
    return seen.size < seen.add(shape).size;
  };
  for (const sender of senders().filter((_, at) => isLong || at % ORDINARY_STEP === 0)) {
    const rows = Object.values(sender.scenarios)
      .flatMap((scenario) => rowsOf(normalized, sender, scenario) as readonly ContentRow[])
      .filter((row) => CONTENT_COLUMNS.some((name) => typeof row[name] === 'string') && isNew(row));
    const found = await bySql(rows);
    const wrong = rows.flatMap((row, at) => {
      const [sql, module] = [comparable(found[at] ?? []), comparable(byModule(row))];
      return JSON.stringify(sql) === JSON.stringify(module) || isSame(sql, module) ? [] : [{ sql, module }];
    });
    t.same(wrong[0]?.sql, wrong[0]?.module, sender.sender);
  }
});

const isSame = (one: unknown, other: unknown): boolean => sortedJson(one) === sortedJson(other);
const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

t.test('documented shapes, and values that are none', async (t) => {
  const contents = [
    ...['plain', '', ' [no JSON', '{"broken":', '42', '{}', '[]', '[1,2]', '"text"', '{"a":"\\u0000"}', '[[]]'],
    '{"systemInstruction":{"parts":[{"text":"brief"}]},"contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{"a":1}}}]}]}',
    '{"model":"gpt-5","instructions":"brief","input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"https://x/y.png"}]},{"type":"function_call","call_id":"c1","id":"fc","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"seven"}]}',
    '{"candidates":[{"content":{"role":"model","parts":[{"text":"yes"}]},"finishReason":"STOP"}]}',
    '{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"},{"type":"tool_use","id":"t1","name":"f","input":{}}],"tool_calls":[{"id":"t1","function":{"name":"f","arguments":"{}"}},{"id":"t2","function":{"name":"g","arguments":"{}"}}]}',
    '{"text":"so","reasoning":[{"type":"text","text":"hm"}],"toolCalls":[{"toolCallId":"c","toolName":"f","args":{"a":1}}],"files":[]}',
    '[{"role":"user","content":"a"},"loose",{"type":"tool_call","id":"x","name":"f","arguments":{}},{"role":"assistant","content":null}]',
    '[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"file","file":{"file_id":"f1","filename":"a.pdf"}}]}]',
    `${'[{"content":'.repeat(30)}"x"${'}]'.repeat(30)}`,
  ];
  const rows = contents.flatMap((content) => [{ input_content: content }, { output_content: content }]);
  const found = await bySql(rows);
  for (const [at, row] of rows.entries())
    t.ok(isSame(comparable(found[at] ?? []), comparable(byModule(row))), JSON.stringify(row).slice(0, 80), {
      found: found[at],
      wanted: byModule(row),
    });
});

t.test('nothing that is stored makes a query fail', async (t) => {
  const hostile = [
    '{"a":"\\ud800"}',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    '{"messages":[{"role":"user","content":"\\udc00"}]}',
  ];
  const found = await bySql(hostile.map((input_content) => ({ input_content })));
  t.same(
    found.map((parts) => parts.length),
    [1, 1, 1],
  );
});

t.test('the last message of the user is one query over all senders', async (t) => {
  const ids = [newTraceId(), newTraceId()];
  const shapes = [
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages':
        '[{"role":"user","parts":[{"type":"text","content":"first"}]},{"role":"user","parts":[{"type":"text","content":"second"}]}]',
    },
    {
      'openinference.span.kind': 'LLM',
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'third',
    },
  ];
  for (const [at, attributes] of shapes.entries()) {
    const body = JSON.stringify(aTraceRequest([aSpan({ traceId: ids[at] ?? '', attributes })]));
    t.equal((await send(daemon.url, { body })).status, 200);
  }
  const { rows } = await client.query(
    `SELECT DISTINCT ON (trace_id) trace_id, text FROM messages
     WHERE project = 'demo' AND category = 'model_call' AND role = 'user' AND type = 'text'
     ORDER BY trace_id, time_unix_nano DESC, "position" DESC`,
  );
  t.same(Object.fromEntries(rows.map((row) => [row.trace_id, row.text])), {
    [ids[0] ?? '']: 'second',
    [ids[1] ?? '']: 'third',
  });
});
