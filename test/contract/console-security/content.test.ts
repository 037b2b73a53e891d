/**
 * A person or a token without the right to content gets none of it from any reading route, and cannot search in it. A
 * new route is covered as soon as it is in the list.
 */
import t from 'tap';
import { ROUTES } from '../../../src/extensions/console/api/routes.ts';
import { startConsole } from '../../support/console.ts';
import { send } from '../../support/otlp-client.ts';
import { aLogRequest, aSpan, attributes, aTraceRequest } from '../../support/payloads.ts';

const TRACE = 'ab'.repeat(16);
const SPAN = 'cd'.repeat(8);
const LINKED = 'ef'.repeat(16);
/** Each content field has its own words, which are nowhere else. */
const WORDS = {
  'gen_ai.input.messages': 'wordofinput',
  'gen_ai.output.messages': 'wordofoutput',
  'gen_ai.system_instructions': 'wordofsystem',
  'gen_ai.tool.call.arguments': 'wordofarguments',
  'gen_ai.tool.call.result': 'wordofresult',
  'my.attribute': 'wordofattribute',
};
const OTHER_WORDS = ['wordofstatus', 'wordofevent', 'wordofbody', 'wordoflog', 'wordoflink', 'wordofscope'];
const SECRETS = [...Object.values(WORDS), ...OTHER_WORDS];
const FIELDS = [
  'input_content',
  'output_content',
  'system_instructions',
  'tool_arguments',
  'tool_result',
  'retrieval_query',
  'retrieval_documents',
  'status_message',
  'attributes',
  'events',
  'links',
];
/** Queries that routes need or that show more. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  export: ['traces', 'spans', 'logs'].flatMap((what) => ['ndjson', 'csv', 'otlp'].map((as) => `what=${what}&as=${as}`)),
  top: ['by=cost', 'by=errors'],
  otlp: ['as=json', 'as=protobuf'],
  metrics: [''],
};

t.test('content and the right to it', async (t) => {
  const console = await startConsole(t, {
    processors: 'auth, environment, normalization',
    options: 'query: { connections: 8 }',
  });
  const { text: key } = await console.administration.createKey('shop', null, null);
  const startNs = BigInt(Date.now()) * 1_000_000n;
  const span = {
    ...aSpan({
      traceId: TRACE,
      spanId: SPAN,
      name: 'chat',
      start: startNs,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-5',
        'gen_ai.conversation.id': 'c1',
        ...WORDS,
      },
    }),
    status: { code: 2, message: 'wordofstatus' },
    events: [{ timeUnixNano: String(startNs), name: 'noted', attributes: attributes({ what: 'wordofevent' }) }],
    links: [{ traceId: LINKED, spanId: SPAN, attributes: attributes({ why: 'wordoflink' }) }],
  };
  const scope = { name: 'test', attributes: attributes({ of: 'wordofscope' }) };
  const record = {
    timeUnixNano: String(startNs),
    traceId: TRACE,
    spanId: SPAN,
    body: { stringValue: 'wordofbody' },
    attributes: attributes({ a: 'wordoflog' }),
  };
  for (const [path, body] of [
    ['/v1/traces', aTraceRequest([span], { 'service.name': 'shop' }, scope)],
    ['/v1/logs', aLogRequest([record])],
  ] as const)
    t.equal(
      (await send(console.daemon.url, { path, authorization: `Bearer ${key}`, body: JSON.stringify(body) })).status,
      200,
    );

  const paths = ROUTES.filter(({ method, readToken }) => method === 'GET' && readToken).flatMap(({ path }) => {
    const filled = path
      .replace('{project}', 'shop')
      .replace('{trace}', TRACE)
      .replace('{span}', SPAN)
      .replace('{conversation}', 'c1')
      .replace('{tag}', 'span.my.attribute')
      .replace('{service}', 'unknown_service')
      .replace('{id}', path.includes('conversations') ? 'c1' : TRACE);
    const named = filled.includes('{field}') ? FIELDS.map((field) => filled.replace('{field}', field)) : [filled];
    const variants = VARIANTS[path.split('/').at(-1) ?? ''] ?? [''];
    return named.flatMap((each) => variants.map((query) => (query === '' ? each : `${each}?${query}`)));
  });
  t.notOk(
    paths.some((path) => path.includes('{')),
    'every parameter has a value',
  );

  const people = {
    seeing: (await console.logIn({ name: 'seeing', projects: ['shop'] })).headers,
    blind: (await console.logIn({ name: 'blind', projects: ['shop'], seesContent: false })).headers,
    token: { authorization: `Bearer ${await console.token('shop')}` },
  };
  const found = new Set<string>();
  const filters = SECRETS.map((word) => `/api/v1/projects/shop/traces?q=${encodeURIComponent(`"${word}"`)}`);
  for (const path of [...paths, ...filters]) {
    const [seeing, ...others] = await Promise.all(
      [people.seeing, people.blind, people.token].map((headers) => console.ask(path, { headers })),
    );
    for (const word of SECRETS) if (seeing?.text.includes(word) === true) found.add(word);
    for (const answer of others) {
      t.ok(answer.status < 500, `${path}: ${answer.status}`);
      const asked = decodeURIComponent(path);
      t.same(
        SECRETS.filter((word) => answer.text.includes(word) && !asked.includes(word)),
        [],
        path,
      );
      if (filters.includes(path)) t.notMatch(answer.text, TRACE, `${path} finds nothing`);
    }
    if (filters.includes(path) && seeing?.text.includes(TRACE) === true) found.add(`search ${path}`);
  }
  t.same(
    SECRETS.filter((word) => !found.has(word)),
    [],
    'with the right everything is shown somewhere',
  );
  const trace = `/api/v1/projects/shop/traces/${TRACE}`;
  for (const path of [`${trace}/spans/${SPAN}`, `${trace}/spans/${SPAN}/content/links`, `${trace}/otlp`])
    t.match((await console.ask(path, { headers: people.blind })).text, LINKED, `${path} has where a link leads`);
  t.ok(
    [...found].some((each) => each.startsWith('search')),
    'and found',
  );
});
