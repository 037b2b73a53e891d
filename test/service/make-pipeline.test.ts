/** Pipelines of a configuration that does not start leave the metrics of the running ones as they are. */
import t from 'tap';
import { Capabilities } from '../../src/component/capabilities/capability.ts';
import { makePipelines } from '../../src/service/make-pipeline.ts';
import { Registry } from '../../src/service/telemetry/registry.ts';
import { StagedMeter } from '../../src/service/telemetry/staged-meter.ts';
import { QUIET } from '../support/quiet-logger.ts';

t.test('the gauge of waiting requests is that of the pipelines that are in use', async (t) => {
  const registry = new Registry();
  const meter = new StagedMeter(registry);
  makePipelines(
    QUIET,
    registry,
    Date.now,
  )({
    ...{ id: 'traces', signal: 'traces', processors: [], exporters: [], ledger: 'memory', traces: null },
    ...{ capabilities: new Capabilities(), logger: QUIET, meter, now: Date.now },
  });
  t.notMatch(registry.print(), /sluice_requests_waiting/u);
  meter.release();
  t.match(registry.print(), /^sluice_requests_waiting 0$/mu);
});
