/** A request forwarded as JSON equals the request forwarded as protobuf. */
import fc from 'fast-check';
import t from 'tap';
import { ENCODING_JSON, ENCODING_PROTOBUF, SIGNAL_METRICS } from '../../../src/pdata/layout.ts';
import { requestAsJson } from '../../../src/exporters/otlp-http/request-json.ts';
import { ProtobufWriter } from '../../support/generators-protobuf.ts';
import { Random } from '../../support/generators-random.ts';
import { requests } from '../../support/generators.ts';
import { compareLines } from '../../support/oracle-comparison.ts';
import { COMMON, ModuleRun } from '../../support/oracle-module.ts';
import { Oracle } from '../../support/oracle.ts';
import { loadProtos, SIGNAL_NAMES, SIGNALS } from '../../support/protos.ts';

const RUNS = 40;
const MAX_MILLISECONDS = 15_000;
const protos = loadProtos();
const oracle = new Oracle(protos);
const module = new ModuleRun();

for (const signal of SIGNALS) {
  t.test(`${SIGNAL_NAMES[signal]} are the same records in JSON`, async (t) => {
    fc.assert(
      fc.property(requests(signal), fc.integer(), (message, seed) => {
        const body = new ProtobufWriter(new Random(seed)).write(protos.requests[signal], message);
        if (!module.index(signal, ENCODING_PROTOBUF, body).accepted) throw new Error('refused');
        const json = requestAsJson(SIGNAL_NAMES[signal], module.encodeOtlp());
        const verdict = oracle.judge(signal, ENCODING_JSON, json);
        if (!verdict.accepted) throw new Error(verdict.reason);
        module.index(signal, ENCODING_JSON, json);
        const found = compareLines(oracle.rows(signal, message, COMMON), module.encodeNdjson());
        if (found !== null) throw new Error(found);
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: MAX_MILLISECONDS },
    );
    t.pass();
  });
}

t.test('negative zero keeps its sign', async (t) => {
  const point = (value: string) => `{"timeUnixNano":"1","asDouble":${value}}`;
  const body = Buffer.from(
    `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[${point('-0.0')},${point('0')}]}}]}]}]}`,
  );
  t.ok(module.index(SIGNAL_METRICS, ENCODING_JSON, body).accepted);
  t.equal(module.index(SIGNAL_METRICS, ENCODING_JSON, requestAsJson('metrics', module.encodeOtlp())).accepted, true);
  const values = module
    .encodeNdjson()
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly value: number }).value);
  t.strictSame(
    values.map((value) => Object.is(value, -0)),
    [true, false],
  );
});
