/** What commands say about failures of the database. */
import t from 'tap';
import { explainOpening } from '../../src/cli/database.ts';
import { UserError } from '../../src/errors.ts';

t.test('a server without room for more locks is not called unreachable', async (t) => {
  const hint = 'You might need to increase max_locks_per_transaction.';
  const failure = Object.assign(new Error('out of shared memory'), { code: '53200', hint });
  const explained = explainOpening(failure);
  t.ok(explained instanceof UserError);
  t.match(explained, { message: 'the database server cannot run the query: out of shared memory', hint });
});
