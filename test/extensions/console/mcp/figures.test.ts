/** Durations in answers to agents. */
import t from 'tap';
import { tookOf } from '../../../../src/extensions/console/mcp/figures.ts';

t.test('a duration has the unit that fits; only none at all is zero', async (t) => {
  const durations = [null, '0', '1', '40', '1500', '1200000', '1820000000'].map(tookOf);
  t.same(durations, ['-', '0µs', '1ns', '40ns', '2µs', '1.2ms', '1.82s']);
});
