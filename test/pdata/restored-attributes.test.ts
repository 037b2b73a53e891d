/** What OTLP of a stored row adds to its attributes: the cost, and derived columns where no attribute may be seen. */
import t from 'tap';
import { otlpJson } from '../../src/pdata/otlp-json.ts';
import { tracesProtobuf } from '../../src/pdata/otlp-protobuf.ts';
import { lengthField, numberField } from '../../src/pdata/protobuf-fields.ts';
import type { StoredText } from '../../src/pdata/stored-text.ts';
import { loadProtos } from '../support/protos.ts';

const ROW: StoredText = {
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  span_id: '00f067aa0ba902b7',
  name: 'chat gpt-5',
  kind: 'client',
  status: 'error',
  status_message: 'too long',
  start_time_unix_nano: '1795132800000000001',
  end_time_unix_nano: '1795132801000000009',
  flags: '257',
  resource: '{"service.name":"web"}',
  scope_name: 'instrumentation',
  attributes:
    '{"long":9223372036854775807,"least":-9223372036854775808,"half":0.1234567890123456789,"base64":"AP8=","list":[1,null,"é",{"deep":true}]}',
  events:
    '[{"time_unix_nano":"1795132800000000002","name":"noted","attributes":{"n":-1},"dropped_attributes_count":3}]',
  links: '[{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4737","span_id":"00f067aa0ba902b8","attributes":{},"flags":1}]',
  operation: 'chat',
  provider: 'openai',
  request_model: 'gpt-5',
  input_tokens: '12',
  finish_reasons: '["stop"]',
  total_cost: '1.00000000',
  cost_source: 'derived',
};

/** The attributes of the only span, by key. */
function attributesOf(row: StoredText): Readonly<Record<string, unknown>> {
  const request = JSON.parse(otlpJson('traces', [row]));
  const list: readonly { key: string; value: unknown }[] = request.resourceSpans[0].scopeSpans[0].spans[0].attributes;
  return Object.fromEntries(list.map(({ key, value }) => [key, value]));
}

t.test('the cost is an attribute of its own, always a double', async (t) => {
  t.match(attributesOf(ROW), {
    'sluice.cost_usd': { doubleValue: 1 },
    'sluice.cost_source': { stringValue: 'derived' },
    long: { intValue: '9223372036854775807' },
    base64: { stringValue: 'AP8=' },
  });
  t.notOk(Object.hasOwn(attributesOf({ ...ROW, total_cost: null, cost_source: null }), 'sluice.cost_usd'));
  t.notOk(Object.hasOwn(attributesOf(ROW), 'gen_ai.request.model'), 'the attributes tell the rest');
});

t.test('where the attributes may not be seen, the derived columns are attributes', async (t) => {
  t.same(attributesOf({ ...ROW, attributes: null }), {
    'gen_ai.operation.name': { stringValue: 'chat' },
    'gen_ai.provider.name': { stringValue: 'openai' },
    'gen_ai.request.model': { stringValue: 'gpt-5' },
    'gen_ai.usage.input_tokens': { intValue: '12' },
    'gen_ai.response.finish_reasons': { arrayValue: { values: [{ stringValue: 'stop' }] } },
    'sluice.cost_usd': { doubleValue: 1 },
    'sluice.cost_source': { stringValue: 'derived' },
  });
});

t.test('a total that the sender did not report is not sent', async (t) => {
  const row = { ...ROW, output_tokens: '5', input_content: '[{"role":"user"}]' };
  t.notOk(Object.hasOwn(attributesOf({ ...row, total_tokens: '17' }), 'gen_ai.usage.total_tokens'), 'the sum');
  t.match(attributesOf({ ...row, total_tokens: '21' }), { 'gen_ai.usage.total_tokens': { intValue: '21' } });
});

t.test('another reader of protobuf finds the same values', async (t) => {
  const type = loadProtos().root.lookupType('opentelemetry.proto.trace.v1.TracesData');
  const data = type.decode(tracesProtobuf(otlpJson('traces', [ROW, { ...ROW, resource: '{"service.name":"db"}' }])));
  const { resourceSpans } = type.toObject(data, { longs: String, bytes: String, enums: Number, arrays: true });
  t.match(
    resourceSpans.map((each: { resource: unknown }) => each.resource),
    [
      { attributes: [{ key: 'service.name', value: { stringValue: 'web' } }] },
      { attributes: [{ key: 'service.name', value: { stringValue: 'db' } }] },
    ],
  );
  const [{ scope, spans }] = resourceSpans[0].scopeSpans;
  t.match(scope, { name: 'instrumentation' });
  const [span] = spans;
  const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
  t.match(span, {
    traceId: base64('4bf92f3577b34da6a3ce929d0e0e4736'),
    spanId: base64('00f067aa0ba902b7'),
    kind: 3,
    flags: 257,
    startTimeUnixNano: '1795132800000000001',
    endTimeUnixNano: '1795132801000000009',
    status: { message: 'too long', code: 2 },
    events: [
      {
        timeUnixNano: '1795132800000000002',
        name: 'noted',
        attributes: [{ key: 'n', value: { intValue: '-1' } }],
        droppedAttributesCount: 3,
      },
    ],
    links: [{ traceId: base64('4bf92f3577b34da6a3ce929d0e0e4737'), spanId: base64('00f067aa0ba902b8'), flags: 1 }],
  });
  const attributes = Object.fromEntries(
    span.attributes.map(({ key, value }: { key: string; value: unknown }) => [key, value]),
  );
  t.match(attributes, {
    long: { intValue: '9223372036854775807' },
    least: { intValue: '-9223372036854775808' },
    half: { doubleValue: 0.12345678901234568 },
    list: {
      arrayValue: {
        values: [
          { intValue: '1' },
          {},
          { stringValue: 'é' },
          { kvlistValue: { values: [{ key: 'deep', value: { boolValue: true } }] } },
        ],
      },
    },
    'sluice.cost_usd': { doubleValue: 1 },
  });
});

t.test('fields around it are read too, whatever their length', async (t) => {
  const type = loadProtos().root.lookupType('opentelemetry.proto.trace.v1.Span.Event');
  for (const length of [0, 1, 127, 128, 16_384, 300_000]) {
    const name = Buffer.alloc(length, 'x');
    const event = type.decode(Buffer.concat([...lengthField(2, name), numberField(4, length)]));
    t.match(event, { name: name.toString(), droppedAttributesCount: length });
  }
});

t.test('counts of ADK that only its document had replace the smaller ones of its attributes', async (t) => {
  const row: StoredText = {
    ...ROW,
    dialect: 'google-adk',
    attributes: '{"gen_ai.usage.output_tokens":3,"gen_ai.response.finish_reasons":["stop"]}',
    input_content: '{"model":"gemini-2.5-flash","contents":[]}',
    output_tokens: '7',
    reasoning_tokens: '4',
    total_tokens: '19',
    finish_reasons: '["STOP"]',
  };
  const output = (attributes: Readonly<Record<string, unknown>>) => attributes['gen_ai.usage.output_tokens'];
  const restored = attributesOf(row);
  t.same(output(restored), { intValue: '7' });
  t.match(restored['gen_ai.response.finish_reasons'], { arrayValue: { values: [{ stringValue: 'STOP' }] } });
  t.same(
    output(attributesOf({ ...row, dialect: 'openai' })),
    { intValue: '3' },
    'other dialects read attributes first',
  );
  const apart = '{"gen_ai.usage.output_tokens":3,"gen_ai.usage.experimental.reasoning_tokens":4}';
  t.same(output(attributesOf({ ...row, attributes: apart })), { intValue: '3' }, 'a receiver adds the thoughts');
});
