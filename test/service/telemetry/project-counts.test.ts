/** Metrics by project: records, tokens and cost of what was stored, with a bounded number of series. */
import t from 'tap';
import { ProjectCounts } from '../../../src/service/telemetry/project-counts.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { FILE_CONFIG, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newSpanId, newTraceId } from '../../support/payloads.ts';

const MAX_PROJECTS = 100;

t.test('projects beyond the limit share one series, and known ones keep theirs', async (t) => {
  const registry = new Registry();
  const counts = new ProjectCounts(registry);
  for (let project = 0; project < MAX_PROJECTS + 5; project++) counts.stored(`project-${project}`, 'traces', 1, null);
  counts.stored('project-0', 'logs', 2, null);
  const by = registry.by('sluice_project_records', 'project');
  t.equal(Object.keys(by).length, MAX_PROJECTS + 1);
  t.equal(by['other'], 5);
  t.equal(by['project-0'], 3);
});

t.test('tokens and cost of stored calls, without roll-ups, replays and refused requests', async (t) => {
  const config = FILE_CONFIG.replace(
    '  environment: {}',
    '  environment: {}\n  normalization: {}\n  pricing: {}',
  ).replaceAll('[auth, environment]', '[auth, environment, normalization, pricing]');
  const { url, registry } = await startDaemon(t, { config });
  const traceId = newTraceId();
  const usage = (operation: string, input: number, output: number, cost: number) => ({
    'gen_ai.operation.name': operation,
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.cost': cost,
  });
  const agentId = newSpanId();
  const agent = aSpan({ traceId, spanId: agentId, attributes: usage('invoke_agent', 30, 12, 0.5) });
  const calls = [
    aSpan({ traceId, parentSpanId: agentId, attributes: usage('chat', 10, 5, 0.125) }),
    aSpan({ traceId, parentSpanId: agentId, attributes: usage('chat', 20, 7, 0.25) }),
  ];
  const body = JSON.stringify(aTraceRequest([agent, ...calls, aSpan({ traceId })]));
  t.equal((await send(url, { body })).status, 200);
  t.equal((await send(url, { body })).status, 200, 'a replay');
  t.equal((await send(url, { body, authorization: `Bearer ${OTHER_KEY}` })).status, 409);
  const printed = registry.print();
  const printedValue = (series: string): string | undefined =>
    printed
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1);
  const labels = 'project="demo",signal="traces"';
  t.equal(printedValue(`sluice_project_records{${labels}}`), '4');
  t.equal(printedValue(`sluice_project_tokens{${labels},type="input"}`), '30');
  t.equal(printedValue(`sluice_project_tokens{${labels},type="output"}`), '12');
  t.equal(printedValue(`sluice_project_cost_dollars{${labels}}`), '0.375');
  t.notMatch(printed, /project="other"/);
});
