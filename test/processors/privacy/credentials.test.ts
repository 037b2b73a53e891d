/** Copies of headers with credentials are never stored, even when content is. */
import t from 'tap';
import { SIGNAL_LOGS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { isCredentialKey } from '../../../src/processors/privacy/credentials.ts';
import { ENCODINGS, logs, Scene, spans, text } from './scene.ts';

const CREDENTIALS = [
  'authorization',
  'Authorization',
  'cookie',
  'x-api-key',
  'http.request.header.authorization',
  'http.request.header.proxy-authorization',
  'http.request.header.x_api_key',
  'http.request.header.cookie',
  'http.response.header.set-cookie',
  'rpc.grpc.request.metadata.authorization',
  'rpc.request.metadata.x-goog-api-key',
  'rpc.connect_rpc.response.metadata.set-cookie',
  'ai.request.headers.authorization',
  'ai.request.headers.helicone-property-user',
  'llm.headers',
  'gen_ai.headers',
  'gen_ai.request.headers',
  'http.request.headers',
  'http.response.headers',
  'client.api_key',
  'http.request.header.authorization.0',
  'http.request.header.x-api-key[0]',
  'http.request.header.cookie.session',
  'http.request.header.xi-api-key',
  'http.request.header.dd_api_key',
  'http.request.header.private-token',
  'http.request.header.cf-access-client-secret',
  'http.request.header.x-langfuse-secret-key',
  'rpc.grpc.request.metadata.x-session-token',
];
const OTHERS = [
  'http.request.header.content-type',
  'http.request.method',
  'rpc.grpc.request.metadata.user-agent',
  'user.id',
  'gen_ai.usage.input_tokens',
  'browser.cookie',
  'authorization.policy',
  'headers.count',
  'http.request.header.idempotency-key',
  'http.response.header.x-ratelimit-remaining-tokens',
  'langsmith.metadata.last_token',
  'metadata.token',
  'browser.cookie.count',
  'db.statement',
];

t.test('names of credentials are known in every spelling, and others are not', async (t) => {
  for (const key of CREDENTIALS) t.ok(isCredentialKey(key), key);
  for (const key of OTHERS) t.notOk(isCredentialKey(key), key);
});

t.test('credentials are not stored although content is captured', async (t) => {
  const scene = new Scene();
  const processor = scene.processor();
  for (const encoding of ENCODINGS)
    for (const key of CREDENTIALS) {
      const span = { attributes: [text(key, 'canary')], events: [{ name: 'e', attributes: [text(key, 'canary')] }] };
      const shared = { resource: [text(key, 'canary')], scope: { name: 's', attributes: [text(key, 'canary')] } };
      t.notMatch(scene.stored(scene.process(processor, SIGNAL_TRACES, spans(span, shared), encoding)), /canary/, key);
      const record = { attributes: [text(key, 'canary')], body: { stringValue: 'kept' } };
      const stored = scene.stored(scene.process(processor, SIGNAL_LOGS, logs(record), encoding));
      t.notMatch(stored, /canary/, key);
      t.match(stored, /kept/);
    }
});

t.test('keys beyond the table of lasting symbols have a policy too', async (t) => {
  const scene = new Scene();
  const processor = scene.processor({ capture_content: false });
  const many = Array.from({ length: 17_000 }, (_, index) => text(`filler.${index}`, 'x'));
  scene.process(processor, SIGNAL_TRACES, spans({ attributes: many }), 'json');
  const late = [
    text('http.request.header.x-vault-token', 'canary'),
    text('ai.prompt.system', 'canary'),
    text('plain', 'kept'),
  ];
  const batch = scene.process(processor, SIGNAL_TRACES, spans({ attributes: late }), 'json');
  t.ok(batch.tables.localSymbolCount > 0, 'these keys live for the request only');
  t.notMatch(scene.stored(batch), /canary/);
  t.match(scene.stored(batch), /kept/);
});
