// The meaning of a database failure by its code.
import t from 'tap';
import { isConnectionFailure, meaningOf, sqlstateOf } from '../../../src/extensions/postgres/sqlstate.ts';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });

t.test('a system error is a lost connection, also when its code has the form of a SQLSTATE', async (t) => {
  for (const code of ['EPIPE', 'ECONNRESET', 'ECONNREFUSED']) {
    t.equal(sqlstateOf(failure(code)), null, code);
    t.ok(isConnectionFailure(failure(code)), code);
    t.equal(meaningOf(failure(code)), 'unavailable', code);
  }
});

t.test('codes of the server are distinguished by class', async (t) => {
  for (const [code, meaning] of [
    ['40P01', 'retry'],
    ['55P03', 'retry'],
    ['23505', 'duplicate'],
    ['22P05', 'data'],
    ['54000', 'data'],
    ['53100', 'unavailable'],
    ['XX000', 'unavailable'],
  ] as const) {
    t.equal(meaningOf(failure(code)), meaning, code);
  }
  t.notOk(isConnectionFailure(failure('53100')), 'a full disk is reported over a working connection');
  t.ok(isConnectionFailure(failure('57P01')), 'the server is shutting down');
});
