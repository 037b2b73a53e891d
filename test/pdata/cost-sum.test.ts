// Costs are added exactly, in the smallest stored unit.
import t from 'tap';
import { costOf, sumCosts, unitsOf } from '../../src/pdata/cost-sum.ts';

t.test('costs are added exactly', async (t) => {
  t.equal(sumCosts(['0.1', '0.2', '0.00000001']), '0.30000001');
  t.equal(sumCosts(['9999999999.99999999', '0.00000001']), '10000000000.00000000');
  t.equal(sumCosts(['5', null]), '5.00000000');
  t.equal(sumCosts([null]), null, 'unknown is not zero');
  t.equal(costOf(unitsOf('0.00002500')), '0.00002500');
});
