import t from 'tap';
import { type Step, runLoad } from '../../../src/cli/bench/run-load.ts';

t.test('a step that the signal ended before its first request is not reported', async (t) => {
  const reported: Step[] = [];
  const { steps, spansStored } = await runLoad({
    endpoint: 'http://127.0.0.1:1',
    key: 'unused',
    connections: 1,
    spansPerRequest: 1,
    milliseconds: 1_000,
    rate: null,
    signal: AbortSignal.abort(),
    requests: { contentEncoding: 'identity', next: () => Buffer.alloc(0), done: () => undefined },
    sources: { metricsUrl: null, database: null },
    report: (step) => void reported.push(step),
  });
  t.strictSame({ steps, reported, spansStored }, { steps: [], reported: [], spansStored: 0 });
});
