/** Prices that change while the daemon runs: there is always room for the audit text of a new price. */
import t from 'tap';
import { CONSTANTS_CAPACITY, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { ModelMemo } from '../../../src/processors/pricing/model-memo.ts';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { TestTables } from '../../support/tables.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

t.test('every price has its audit text after any number of changes', async (t) => {
  const tables = new TestTables();
  const aBatch = () => tables.batch(SIGNAL_TRACES, { json: JSON.stringify(aTraceRequest([aSpan()])) });
  const memo = new ModelMemo([]);
  const model = (await PriceBook.load()).find('openai', 'gpt-4o');
  if (model === null) return t.fail('no price');
  const text = model.auditAt(0);
  const changes = Math.ceil((2 * CONSTANTS_CAPACITY) / text.length);
  let missing = 0;
  for (let change = 0; change < changes; change++) {
    const batch = aBatch();
    memo.begin(batch.tables);
    const priced = memo.find(batch) ?? memo.note(model);
    // What a reload does: the same model at another price.
    const changed = Object.assign(Object.create(model), { auditAt: () => `${text}${change}` }) as typeof model;
    const audit = priced.audit(batch.tables, changed, change);
    if (audit === null || batch.tables.string(audit.offset, audit.length, audit.flags) !== `${text}${change}`)
      missing++;
  }
  t.equal(missing, 0);
  t.equal(tables.intake.tables.constant('still room').length, 10);
});
