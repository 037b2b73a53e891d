/** Where content is not captured, none of it is stored: every entry of the lists, in every place. */
import t from 'tap';
import { DIALECTS } from '../../../src/dialects/families.ts';
import { BODY, contentOf, type ContentRow, type Dialect, type EventPart } from '../../../src/dialects/dialect.ts';
import type { Batch } from '../../../src/pdata/batch.ts';
import { DISPOSITION_DROP } from '../../../src/pdata/layout.ts';
import { SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import {
  type Attribute,
  aProject,
  ENCODINGS,
  type Encoding,
  logs,
  metrics,
  Scene,
  type Shared,
  spans,
  START,
  text,
} from './scene.ts';

const CANARY = 'canary-7f3a9c';

const scene = new Scene();
const silent = scene.processor({ capture_content: false });

/** Parts of messages that are content. */
const CONTENT_PARTS: ReadonlySet<EventPart> = new Set(['input', 'output', 'system']);

const KINDS = ['attributes', 'inEvents', 'events'] as const satisfies readonly (keyof ContentRow)[];
type Kind = (typeof KINDS)[number];

interface Entry {
  readonly key: string;
  readonly kind: Kind;
  readonly shared: Shared;
  readonly signs: readonly Attribute[];
}

const nameOf = (pattern: string): string =>
  pattern.replaceAll('{i}', '0').replaceAll('{j}', '1').replaceAll('{k}', 'part').replaceAll('*', 'rest');

/** Gives a record a sign of a dialect: its scope, marker or hint. */
function signsOf(dialect: Dialect): { shared: Shared; signs: readonly Attribute[] } {
  const [scope] = dialect.scopes ?? [];
  if (scope !== undefined) return { shared: { scope: { name: nameOf(scope) } }, signs: [] };
  const [key = '', value = 'yes'] = nameOf(dialect.markers?.[0] ?? dialect.hints?.[0] ?? '').split('=');
  return { shared: {}, signs: [text(key, value)] };
}

const entries: readonly Entry[] = DIALECTS.flatMap((dialect) =>
  contentOf(dialect).flatMap((row) => {
    const senders = row.only === undefined ? [dialect] : DIALECTS.filter(({ id }) => row.only?.includes(id));
    return KINDS.flatMap((kind) =>
      (row[kind] ?? []).flatMap((name) =>
        senders.map((sender) => ({
          key: nameOf(name),
          kind,
          ...(row.only === undefined ? { shared: {}, signs: [] } : signsOf(sender)),
        })),
      ),
    );
  }),
);

function requestsFor({ key, shared, signs }: Entry): readonly (readonly [string, 0 | 1 | 2, object])[] {
  const value = text(key, CANARY);
  const point = { timeUnixNano: START, asInt: '1', attributes: [value, ...signs] };
  const marked = {
    ...point,
    attributes: signs,
    exemplars: [{ timeUnixNano: START, asInt: '1', filteredAttributes: [value] }],
  };
  const link = { traceId: 'a1b2c3d4e5f60718293a4b5c6d7e8f90', spanId: 'a1b2c3d4e5f60718', attributes: [value] };
  const scope = { ...(shared.scope ?? { name: 'tests' }), attributes: [value] };
  const map = { kvlistValue: { values: [text('other', 'x'), value] } };
  const nested = { key: 'wrapper', value: { arrayValue: { values: [map] } } };
  return [
    ['key of a map of a span', SIGNAL_TRACES, spans({ attributes: [nested, ...signs] }, shared)],
    ['key of a map of a resource', SIGNAL_TRACES, spans({ attributes: signs }, { ...shared, resource: [nested] })],
    ['key of the body of a log', SIGNAL_LOGS, logs({ attributes: signs, body: map }, shared)],
    ['span', SIGNAL_TRACES, spans({ attributes: [value, ...signs] }, shared)],
    [
      'span event',
      SIGNAL_TRACES,
      spans({ attributes: signs, events: [{ name: 'gen_ai.x', attributes: [value] }] }, shared),
    ],
    ['span link', SIGNAL_TRACES, spans({ attributes: signs, links: [link] }, shared)],
    ['log', SIGNAL_LOGS, logs({ attributes: [value, ...signs] }, shared)],
    ['point', SIGNAL_METRICS, metrics({ name: 'm', gauge: { dataPoints: [point] } }, shared)],
    ['exemplar', SIGNAL_METRICS, metrics({ name: 'm', gauge: { dataPoints: [marked] } }, shared)],
    [
      'metadata',
      SIGNAL_METRICS,
      metrics({ name: 'm', metadata: [value], gauge: { dataPoints: [{ ...point, attributes: signs }] } }, shared),
    ],
    ['resource', SIGNAL_TRACES, spans({ attributes: signs }, { ...shared, resource: [value] })],
    ['scope', SIGNAL_LOGS, logs({ attributes: signs }, { ...shared, scope })],
  ];
}

function leaks(signal: 0 | 1 | 2, message: object, encoding: Encoding): boolean {
  return scene.stored(scene.process(silent, signal, message, encoding)).includes(CANARY);
}

t.test('no listed attribute is stored, in any place', async (t) => {
  const listed = entries.filter(({ kind }) => kind === 'attributes');
  t.ok(listed.length > 400, `${listed.length} attributes`);
  for (const encoding of ENCODINGS)
    for (const entry of listed)
      for (const [place, signal, message] of requestsFor(entry))
        if (leaks(signal, message, encoding)) t.fail(`${entry.key} as ${place} in ${encoding}`);
});

t.test('definitions of tools are content under the names of all senders', async (t) => {
  for (const key of [
    'gen_ai.tool.definitions',
    'gen_ai.tool.definitions.0.parameters',
    'gen_ai.tool_definitions',
    'gen_ai.request.tool_definitions',
    'gen_ai.request.available_tools',
    'llm.request.functions.0.parameters',
    'llm.tools.0.tool.json_schema',
    'ai.prompt.tools',
  ])
    for (const encoding of ENCODINGS)
      t.notOk(leaks(SIGNAL_TRACES, spans({ attributes: [text(key, CANARY)] }), encoding), `${key} in ${encoding}`);
});

t.test('bare names are content inside GenAI events, and only there', async (t) => {
  const bare = entries.filter(({ kind }) => kind === 'inEvents');
  t.same(bare.map(({ key }) => key).sort(), ['content', 'message', 'output', 'tool_calls']);
  for (const encoding of ENCODINGS)
    for (const { key } of bare) {
      const event = (name: string): object => spans({ events: [{ name, attributes: [text(key, CANARY)] }] });
      t.notOk(leaks(SIGNAL_TRACES, event('gen_ai.user.message'), encoding), key);
      t.ok(leaks(SIGNAL_TRACES, event('cache.miss'), encoding), `${key} of another event`);
      const record = (eventName: string): object => logs({ eventName, attributes: [text(key, CANARY)] });
      t.notOk(leaks(SIGNAL_LOGS, record('gen_ai.user.message'), encoding), key);
      t.ok(leaks(SIGNAL_LOGS, record('cache.miss'), encoding), `${key} of another record`);
    }
});

t.test('events that are content lose their attributes and bodies, and stay as events', async (t) => {
  const events = entries.filter(({ kind }) => kind === 'events');
  t.ok(events.length > 20, `${events.length} events`);
  const bodies = [
    { stringValue: CANARY },
    { kvlistValue: { values: [text('content', CANARY)] } },
    { arrayValue: { values: [{ stringValue: CANARY }] } },
  ];
  for (const encoding of ENCODINGS)
    for (const { key, shared, signs } of events) {
      const event = { name: key, attributes: [text('any.attribute', CANARY)] };
      const batch = scene.process(
        silent,
        SIGNAL_TRACES,
        spans({ attributes: signs, events: [event] }, shared),
        encoding,
      );
      const stored = scene.stored(batch);
      if (stored.includes(CANARY)) t.fail(`span event ${key} in ${encoding}`);
      if (!stored.includes(`"name":"${key}"`)) t.fail(`the event ${key} is gone`);
      for (const body of bodies) {
        const named = logs({ eventName: key, attributes: signs, body }, shared);
        if (leaks(SIGNAL_LOGS, named, encoding)) t.fail(`log event ${key} in ${encoding}`);
        const older = logs({ attributes: [...signs, text('event.name', key)], body }, shared);
        if (leaks(SIGNAL_LOGS, older, encoding)) t.fail(`log event ${key} named by an attribute in ${encoding}`);
        const other = logs({ attributes: [...signs, text('event_name', key)], body }, shared);
        if (leaks(SIGNAL_LOGS, other, encoding)) t.fail(`log event ${key} named by event_name in ${encoding}`);
      }
    }
});

t.test('counts and scores of an event that is content are kept in both encodings', async (t) => {
  for (const encoding of ENCODINGS)
    for (const value of [{ doubleValue: 0.25 }, { intValue: '25' }, { boolValue: true }]) {
      const message = spans({ events: [{ name: 'gen_ai.user.message', attributes: [{ key: 'score', value }] }] });
      const stored = scene.stored(scene.process(silent, SIGNAL_TRACES, message, encoding));
      t.match(stored, /"score":(?:0\.25|25|true)/u, `${JSON.stringify(value)} in ${encoding}`);
    }
});

t.test('messages that are read from an event of any sender are content without a sign of that sender', async (t) => {
  const read = DIALECTS.flatMap(({ messageEvents = {} }) => Object.entries(messageEvents)).flatMap(([name, parts]) =>
    Object.entries(parts).flatMap(([key, part]) => (CONTENT_PARTS.has(part) ? [{ name, key }] : [])),
  );
  t.ok(read.length > 10, `${read.length} messages`);
  for (const encoding of ENCODINGS)
    for (const { name, key } of read) {
      const attributes = [text(key, CANARY)];
      const record = key === BODY ? { body: { stringValue: CANARY } } : { attributes };
      t.notOk(leaks(SIGNAL_LOGS, logs({ eventName: name, ...record }), encoding), `${key} of the log record ${name}`);
      if (key === BODY) continue;
      const span = spans({ events: [{ name, attributes }] });
      t.notOk(leaks(SIGNAL_TRACES, span, encoding), `${key} of the span event ${name}`);
    }
});

t.test('log bodies are content by their sender and their first words', async (t) => {
  const body = { stringValue: CANARY };
  const structured = { kvlistValue: { values: [text('input', CANARY)] } };
  const cases: readonly (readonly [string, object])[] = [
    ['an event named as its scope', logs({ eventName: 'my.scope', body: structured }, { scope: { name: 'my.scope' } })],
    ['an event named as a known scope', logs({ eventName: 'strands.telemetry.tracer', body: structured })],
    [
      'a structured body beside GenAI attributes',
      logs({ attributes: [text('gen_ai.system', 'openai')], body: structured }),
    ],
    ['a line of Spring AI', logs({ body: { stringValue: `Chat Model Prompt Content:\n["${CANARY}"]` } })],
    ...[
      'Chat Model Completion',
      'Chat Client Prompt Content',
      'Chat Client Completion',
      'Image Model Prompt Content',
    ].map(
      (line) => [`a line of Spring AI: ${line}`, logs({ body: { stringValue: `${line}:\n["${CANARY}"]` } })] as const,
    ),
    ['search results of Spring AI', logs({ body: { stringValue: `Vector Store Query Response:\n["${CANARY}"]` } })],
    ['Claude Code', logs({ body }, { scope: { name: 'com.anthropic.claude_code.events' } })],
    ['Codex', logs({ body }, { resource: [text('service.name', 'codex_cli_rs')] })],
    ['Gemini CLI', logs({ body, attributes: [text('event.name', 'gemini_cli.user_prompt')] })],
    ['Qwen Code', logs({ body, eventName: 'qwen-code.user_prompt' })],
    ['an unlisted GenAI event', logs({ body, eventName: 'gen_ai.something.new' })],
  ];
  for (const encoding of ENCODINGS)
    for (const [name, message] of cases) t.notOk(leaks(SIGNAL_LOGS, message, encoding), `${name} in ${encoding}`);
});

t.test('content is found below keys that name it together', async (t) => {
  const below = (keys: readonly string[]): object =>
    keys.reduceRight<object>((value, key) => ({ kvlistValue: { values: [{ key, value }] } }), { stringValue: CANARY });
  for (const encoding of ENCODINGS) {
    t.notOk(leaks(SIGNAL_LOGS, logs({ body: below(['gen_ai', 'input', 'messages']) }), encoding), 'of a body');
    t.notOk(leaks(SIGNAL_LOGS, logs({ body: below(['data', 'gen_ai.prompt']) }), encoding), 'at any depth');
    const attribute = { key: 'gen_ai', value: below(['system', 'gen_ai.prompt']) };
    t.notOk(leaks(SIGNAL_TRACES, spans({ attributes: [attribute] }), encoding), 'of an attribute');
    const joined = { key: 'gen_ai', value: below(['input', 'messages']) };
    t.notOk(leaks(SIGNAL_TRACES, spans({ attributes: [joined] }), encoding), 'joined with the name of the attribute');
    const credential = { key: 'sent', value: below(['headers', 'authorization']) };
    t.notOk(leaks(SIGNAL_TRACES, spans({ attributes: [credential] }), encoding), 'a credential');
    t.ok(leaks(SIGNAL_LOGS, logs({ body: below(['http', 'message']) }), encoding), 'other maps stay');
  }
});

t.test('keys above a name do not hide it, and lists have indexes', async (t) => {
  type Tree = string | readonly Tree[] | { readonly [key: string]: Tree };
  const anyValueOf = (tree: Tree): object => {
    if (typeof tree === 'string') return { stringValue: tree };
    if (Array.isArray(tree)) return { arrayValue: { values: tree.map(anyValueOf) } };
    return { kvlistValue: { values: Object.entries(tree).map(([key, inner]) => ({ key, value: anyValueOf(inner) })) } };
  };
  const trees: readonly Tree[] = [
    { span: { attributes: { gen_ai: { input: { messages: CANARY } } } } },
    { wrapper: { input: { value: CANARY } } },
    { llm: { input_messages: [{ message: { text: CANARY } }] } },
    { outer: [{ retrieval: { documents: [{ document: { content: CANARY } }] } }] },
    { outer: [[{ llm: { prompts: [{ prompt: { text: CANARY } }] } }]] },
    { 'llm.input_messages': [{ message: { text: CANARY } }] },
    { records: [{ gen_ai: [{ prompt: { content: CANARY } }] }] },
  ];
  for (const encoding of ENCODINGS)
    for (const tree of trees) {
      const attributes = Object.entries(tree).map(([key, inner]) => ({ key, value: anyValueOf(inner as Tree) }));
      t.notOk(leaks(SIGNAL_TRACES, spans({ attributes }), encoding), `${JSON.stringify(tree)} of a span`);
      t.notOk(leaks(SIGNAL_LOGS, logs({ body: anyValueOf(tree) }), encoding), `${JSON.stringify(tree)} of a body`);
    }
});

t.test('a value that is written as many keys is content, whatever its indexes', async (t) => {
  const keys = [
    'gen_ai.input.messages.0.parts.0.content',
    'gen_ai.input.messages[0].content',
    'gen_ai.tool.call.arguments.location',
    'gen_ai.tool.call.result.rows.0.name',
    'gen_ai.retrieval.documents.0.content',
    'gen_ai.prompt.content',
    'gen_ai.prompt.1000000.content',
    'db.query.parameter.name',
    'llm.input_messages.1000000.message.content',
    `llm.output_messages.${'9'.repeat(400)}.message.contents.12345678.message_content.text`,
    'retrieval.documents.0012345.document.content',
  ];
  for (const encoding of ENCODINGS)
    for (const key of keys) {
      t.notOk(leaks(SIGNAL_TRACES, spans({ attributes: [text(key, CANARY)] }), encoding), `${key} in ${encoding}`);
      t.notOk(leaks(SIGNAL_LOGS, logs({ attributes: [text(key, CANARY)] }), encoding), `${key} of a log`);
    }
});

t.test('of a document that was found, at most its id and its score stay', async (t) => {
  const documents = ['retrieval.documents', 'reranker.input_documents', 'reranker.output_documents'];
  for (const encoding of ENCODINGS)
    for (const name of [...documents, ...documents.map((each) => `gen_ai.${each}`)]) {
      const stores = (part: string): boolean =>
        leaks(SIGNAL_TRACES, spans({ attributes: [text(`${name}.3.document.${part}`, CANARY)] }), encoding);
      for (const part of ['content', 'title', 'page_content', 'metadata', 'metadata.id', 'metadata.0.score'])
        t.notOk(stores(part), `${name} ${part} in ${encoding}`);
      // The names of OpenTelemetry hold whole documents, so all below them is content.
      if (name.startsWith('gen_ai.')) continue;
      for (const part of ['id', 'score']) t.ok(stores(part), `${name} ${part} in ${encoding}`);
    }
});

t.test('facts whose names continue a name of content stay', async (t) => {
  for (const encoding of ENCODINGS)
    for (const key of ['gen_ai.prompt.name', 'gen_ai.prompt.version', 'http.request.body.size'])
      t.ok(leaks(SIGNAL_TRACES, spans({ attributes: [text(key, CANARY)] }), encoding), key);
});

t.test('general names of other telemetry stay', async (t) => {
  const names = ['input', 'output', 'prompt', 'messages', 'metadata', 'tools', 'system', 'error', 'body', 'response'];
  for (const encoding of ENCODINGS)
    for (const name of names) {
      t.ok(leaks(SIGNAL_TRACES, spans({ attributes: [text(name, CANARY)] }), encoding), `${name} of a span`);
      t.ok(leaks(SIGNAL_LOGS, logs({ attributes: [text(name, CANARY)] }), encoding), `${name} of a log`);
    }
  t.ok(leaks(SIGNAL_LOGS, logs({ body: { stringValue: CANARY } }), 'json'), 'the body of an ordinary log');
  const failed = spans({ status: { code: 2, message: CANARY } });
  t.ok(leaks(SIGNAL_TRACES, failed, 'json'), 'the message of an error');
});

t.test('messages of errors, stack traces and full addresses stay', async (t) => {
  for (const encoding of ENCODINGS)
    for (const key of ['exception.message', 'exception.stacktrace', 'url.full']) {
      t.ok(leaks(SIGNAL_TRACES, spans({ attributes: [text(key, CANARY)] }), encoding), key);
      const events = [{ name: 'exception', attributes: [text(key, CANARY)] }];
      t.ok(leaks(SIGNAL_TRACES, spans({ events }), encoding), `${key} of an event`);
    }
});

t.test('usage and the names of models stay, in dropped events too', async (t) => {
  const kept = [
    text('gen_ai.request.model', 'model-name'),
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '4711' } },
  ];
  const event = {
    name: 'gen_ai.choice',
    attributes: [...kept, text('message', CANARY), text('finish_reason', 'stopped')],
  };
  for (const encoding of ENCODINGS) {
    const batch = scene.process(silent, SIGNAL_TRACES, spans({ attributes: kept, events: [event] }), encoding);
    const [line] = scene.tables.lines(batch);
    t.same(line?.['attributes'], { 'gen_ai.request.model': 'model-name', 'gen_ai.usage.input_tokens': 4711 });
    const [stored] = (line?.['events'] ?? []) as readonly { attributes: object }[];
    t.same(stored?.attributes, { ...(line?.['attributes'] as object), finish_reason: 'stopped' });
  }
});

t.test('later stages can still read a dropped value', async (t) => {
  const blob = '{"usage":{"input_tokens":12}}';
  const keys = [
    'genkit:output',
    'gcp.vertex.agent.llm_response',
    'ai.response.providerMetadata',
    'haystack.component.output',
  ];
  for (const encoding of ENCODINGS) {
    const message = spans({ attributes: keys.map((key) => text(key, blob)) });
    const batch = scene.process(silent, SIGNAL_TRACES, message, encoding);
    t.same(
      dispositions(batch),
      keys.map(() => DISPOSITION_DROP),
    );
    t.same(
      keys.map((_, row) => batch.textOf(row)),
      keys.map(() => blob),
    );
  }
});

function dispositions(batch: Batch): readonly number[] {
  return Array.from({ length: batch.attributeCount }, (_, row) => batch.attributes.goto(row).disposition);
}

t.test('the project setting comes before the configuration, for each environment', async (t) => {
  const configured = scene.processor({
    capture_content: true,
    environments: { ' Production ': { capture_content: false }, staging: {} },
  });
  const stored = aProject(
    new Map([
      ['production', { captureContent: true }],
      ['staging', { captureContent: false }],
      ['test', { captureContent: null }],
    ]),
  );
  const captures = (environment: string, project = aProject()): boolean => {
    const attributes = [text('deployment.environment.name', environment)];
    const message = spans({ attributes: [text('gen_ai.input.messages', CANARY)] }, { resource: attributes });
    const batch = scene.process(configured, SIGNAL_TRACES, message, 'json', project);
    t.equal(scene.stored(batch).includes(CANARY), batch.captureOf(0), environment);
    return batch.captureOf(0);
  };
  t.equal(captures('production'), false);
  t.equal(captures('PRODUCTION '), false);
  t.equal(captures('staging'), true);
  t.equal(captures('other'), true);
  t.equal(captures('production', stored), true);
  t.equal(captures('staging', stored), false);
  t.equal(captures('test', stored), true);
});

t.test('two environments in one request are kept apart', async (t) => {
  const processor = scene.processor({ environments: { quiet: { capture_content: false } } });
  const block = (environment: string, value: string): object =>
    (
      spans(
        { attributes: [text('gen_ai.prompt', value)] },
        { resource: [text('deployment.environment', environment)] },
      ) as {
        resourceSpans: object[];
      }
    ).resourceSpans[0] as object;
  for (const encoding of ENCODINGS) {
    const message = {
      resourceSpans: [block('quiet', 'secret-one'), block('loud', 'open-two'), block('quiet', 'secret-three')],
    };
    const stored = scene.stored(scene.process(processor, SIGNAL_TRACES, message, encoding));
    t.notMatch(stored, /secret-/);
    t.match(stored, /open-two/);
  }
});

t.test('settings that cannot be read refuse the request, before its body and after', async (t) => {
  const broken = aProject('invalid');
  const message = spans({});
  t.throws(() => scene.process(silent, SIGNAL_TRACES, message, 'json', broken), {
    code: 'privacy_configuration_invalid',
  });
  const batch = scene.process(silent, SIGNAL_TRACES, message, 'json');
  batch.context.credential = { project: broken, environment: null, keyId: 'static:0' };
  t.throws(() => silent.admit?.({ signal: 'traces', transport: 'http', authorization: undefined }, batch.context), {
    code: 'privacy_configuration_invalid',
  });
});

t.test('two settings of one environment are refused at start', async (t) => {
  const on = { capture_content: true };
  const off = { capture_content: false };
  t.throws(() => scene.processor({ environments: { Production: off, ' production': on } }), {
    message: /processors\.privacy\.environments: "Production" and " production" are the same environment/,
  });
  t.throws(() => scene.processor({ environments: { ' ': off } }), { message: /has no name/ });
});
