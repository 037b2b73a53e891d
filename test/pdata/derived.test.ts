/** Costs on a derived row: the same eight bytes for a number and for a bigint. */
import fc from 'fast-check';
import t from 'tap';
import { DerivedCursor } from '../../src/pdata/derived.ts';
import { COST_INPUT, COST_OUTPUT, COST_TOTAL } from '../../src/pdata/layout.ts';
import { Intake } from '../../src/pdata/index-body.ts';

t.test('a cost given as a number is stored as the bigint of the same amount', async (t) => {
  const derived = new DerivedCursor(new Intake().tables.memory);
  derived.create();
  const edges = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER];
  const amount = fc.oneof(fc.constantFrom(...edges), fc.maxSafeNat());
  fc.assert(
    fc.property(amount, (units) => {
      derived.setCost(COST_INPUT, null);
      derived.setCost(COST_TOTAL, units);
      t.equal(derived.cost(COST_TOTAL), BigInt(units));
      t.equal(derived.cost(COST_INPUT), null, 'its neighbour does not change');
      derived.setCost(COST_OUTPUT, BigInt(units));
      t.equal(derived.cost(COST_OUTPUT), BigInt(units));
      return true;
    }),
  );
});
