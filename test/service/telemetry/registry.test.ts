// The daemon's own metrics: output format and limits.
import t from 'tap';
import { printFamilies } from '../../../src/service/telemetry/families.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';

t.test('counters add up by label, and print with their help', async (t) => {
  const registry = new Registry();
  const counter = registry.counter('sluice_things', 'Things.');
  counter.add(1);
  counter.add(2, { kind: 'a' });
  counter.add(3, { kind: 'a' });
  registry.counter('sluice_things', 'Things.').add(1, { kind: 'b"\n\\' });
  t.equal(
    registry.print(),
    '# HELP sluice_things Things.\n# TYPE sluice_things counter\nsluice_things 1\nsluice_things{kind="a"} 5\nsluice_things{kind="b\\"\\n\\\\"} 1\n',
  );
});

t.test('histograms are cumulative, with a bucket beyond the last bound', async (t) => {
  const registry = new Registry();
  const histogram = registry.histogram('sluice_seconds', 'Time.', [1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) histogram.record(value, { signal: 'traces' });
  t.match(
    registry.print(),
    [/le="1"} 2\n.*le="2"} 3\n.*le="\+Inf"} 4\n.*_sum\{signal="traces"} 12\n.*_count\{signal="traces"} 4\n/s].at(0),
  );
  histogram.record(2, { signal: 'logs' });
  t.same(registry.buckets('sluice_seconds'), { 1: 2, 2: 2, '+Inf': 1 }, 'the counts of each bucket, over all labels');
  t.same(registry.buckets('sluice_none'), {});
});

t.test('gauges are read when they are printed; the last registration is used', async (t) => {
  const registry = new Registry();
  let value = 1;
  registry.gauge('sluice_now', 'Now.', () => value);
  value = 2;
  t.match(registry.print(), /sluice_now 2\n/);
  registry.gauge('sluice_now', 'Now.', () => 7);
  t.match(registry.print(), /sluice_now 7\n/);
});

t.test('a metric cannot change its type, and label combinations are limited', async (t) => {
  const registry = new Registry();
  const counter = registry.counter('sluice_things', 'Things.');
  t.throws(() => registry.histogram('sluice_things', 'Things.', [1]));
  for (let series = 0; series < 5000; series++) counter.add(1, { series: String(series) });
  t.equal(registry.print().split('\n').length, 1003);
});

t.test('lines of several processes are grouped by metric, each with its label', async (t) => {
  const registries = ['1', '2'].map((worker) => new Registry({ worker }));
  for (const [index, registry] of registries.entries()) {
    registry.counter('sluice_things', 'Things.').add(index + 1, { kind: 'a' });
    registry.gauge('sluice_now', 'Now.', () => index);
  }
  t.equal(
    printFamilies(registries.flatMap((registry) => registry.families())),
    [
      '# HELP sluice_now Now.\n# TYPE sluice_now gauge\nsluice_now{worker="1"} 0\nsluice_now{worker="2"} 1\n',
      '# HELP sluice_things Things.\n# TYPE sluice_things counter\n',
      'sluice_things{kind="a",worker="1"} 1\nsluice_things{kind="a",worker="2"} 2\n',
    ].join(''),
  );
});
