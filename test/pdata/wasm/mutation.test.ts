/**
 * A short campaign of damaged bodies for each signal and encoding; `test/campaigns/mutation/mutation.ts` runs long
 * ones.
 */
import t from 'tap';
import { ENCODING_JSON, ENCODING_PROTOBUF } from '../../../src/pdata/layout.ts';
import { Campaign, isClean } from '../../campaigns/mutation/campaign.ts';
import { isLong } from '../../support/long.ts';
import { ModuleRun } from '../../support/oracle-module.ts';
import { Oracle } from '../../support/oracle.ts';
import { ENCODING_NAMES, loadProtos, SIGNAL_NAMES, SIGNALS } from '../../support/protos.ts';

const COUNT = isLong ? 700 : 200;
const SPECIMENS = isLong ? 60 : 20;
const SEED = 20260101;
/** At least this part of the damaged bodies must be accepted, and refused; otherwise the damage tests nothing. */
const MIN_SHARE = 0.05;

const protos = loadProtos();
const oracle = new Oracle(protos);
const module = new ModuleRun();

for (const signal of SIGNALS) {
  for (const encoding of [ENCODING_PROTOBUF, ENCODING_JSON]) {
    t.test(`damaged ${SIGNAL_NAMES[signal]} in ${ENCODING_NAMES[encoding]} never pass a broken rule`, async (t) => {
      const report = new Campaign(protos, module, oracle, {
        signal,
        encoding,
        count: COUNT,
        seed: SEED,
        specimens: SPECIMENS,
      }).run();
      const violations = report.kept
        .filter(({ kind }) => kind !== 'stricter')
        .map(({ kind, reason, body }) => `${kind}: ${reason} (${body.toString('base64')})`);
      t.strictSame(violations, []);
      t.ok(isClean(report));
      t.ok(report.accepted > COUNT * MIN_SHARE, `${report.accepted} were accepted`);
      t.ok(report.refused > COUNT * MIN_SHARE, `${report.refused} were refused`);
    });
  }
}
