/** Requests without one environment: it is found as the processor finds it, and other resources keep every byte. */
import t from 'tap';
import { tracesProtobuf } from '../../src/pdata/otlp-protobuf.ts';
import { withoutEnvironment } from '../../src/pdata/without-environment.ts';
import { aSpan } from '../support/payloads.ts';
import { encodeProtobuf, loadProtos } from '../support/protos.ts';

const [NAME, OLDER] = ['deployment.environment.name', 'deployment.environment'];
type Attributes = readonly (readonly [key: string, value: object])[];
const text = (stringValue: string): object => ({ stringValue });

const bodyOf = (resources: readonly Attributes[]): Buffer =>
  Buffer.from(
    tracesProtobuf(
      JSON.stringify({
        resourceSpans: resources.map((attributes) => ({
          resource: { attributes: attributes.map(([key, value]) => ({ key, value })) },
          scopeSpans: [{ spans: [aSpan({ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), start: 1n })] }],
        })),
      }),
    ),
  );

t.test('the environment of a resource', async (t) => {
  const of: readonly (readonly [environment: string, attributes: Attributes])[] = [
    ['prod', [[NAME, text('prod')]]],
    [
      'prod',
      [
        [NAME, text(' PROD\n')],
        [OLDER, text('other')],
      ],
    ],
    [
      'prod',
      [
        [OLDER, text('prod')],
        [NAME, text('  ')],
      ],
    ],
    [
      'prod',
      [
        [NAME, text('other')],
        [NAME, text('prod')],
      ],
    ],
    [
      'prod',
      [
        [NAME, text('prod')],
        [NAME, { intValue: '7' }],
      ],
    ],
    ['x'.repeat(255), [[NAME, text('x'.repeat(300))]]],
    ['default', []],
    ['default', [[NAME, { intValue: '7' }]]],
    ['default', [['service.name', text('prod')]]],
  ];
  const other: Attributes = [[NAME, text('stays')]];
  for (const [environment, attributes] of of) {
    const choice = { environment, isDefault: environment === 'default' };
    const found = withoutEnvironment(bodyOf([other, attributes, other]), 'traces', choice);
    t.match(found, { records: 2, removed: 1 }, JSON.stringify(attributes).slice(0, 80));
    t.ok(found.body?.equals(bodyOf([other, other])));
    const whole = withoutEnvironment(bodyOf([attributes]), 'traces', choice);
    t.same(whole, { body: null, records: 0, removed: 1 });
    const kept = withoutEnvironment(bodyOf([attributes]), 'traces', { environment: 'none', isDefault: false });
    t.ok(kept.body?.equals(bodyOf([attributes])));
  }
});

t.test('log records and metric points are counted', async (t) => {
  const [, ofRecords, ofPoints] = loadProtos().requests;
  const resource = { attributes: [{ key: NAME, value: text('prod') }] };
  const logs = {
    resourceLogs: [{ resource, scopeLogs: [{ logRecords: [{ body: text('a') }, { body: text('b') }] }] }],
  };
  const choice = { environment: 'prod', isDefault: false };
  const ofLogs = Buffer.from(encodeProtobuf(ofRecords, logs as never));
  t.same(withoutEnvironment(ofLogs, 'logs', choice), { body: null, records: 0, removed: 2 });
  const gauge = { name: 'a', gauge: { dataPoints: [{ asDouble: 1 }] } };
  const sum = { name: 'b', sum: { dataPoints: [{ asDouble: 1 }, { asDouble: 2 }] } };
  const metrics = { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [gauge, sum] }] }] };
  const ofMetrics = Buffer.from(encodeProtobuf(ofPoints, metrics as never));
  t.same(withoutEnvironment(ofMetrics, 'metrics', choice), { body: null, records: 0, removed: 3 });
  t.match(withoutEnvironment(ofMetrics, 'metrics', { ...choice, environment: 'x' }), { records: 3, removed: 0 });
});

t.test('damaged bytes are refused', async (t) => {
  const whole = bodyOf([[[NAME, text('prod')]]]);
  for (let length = 1; length < whole.length; length++)
    t.throws(() => withoutEnvironment(whole.subarray(0, length), 'traces', { environment: 'prod', isDefault: false }));
});
