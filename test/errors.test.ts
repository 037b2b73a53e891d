/** The code of an error, whatever made it. */
import { statSync } from 'node:fs';
import t from 'tap';
import { errorCode } from '../src/errors.ts';

t.test('the code of an error of the system or of PostgreSQL is read, and anything else has none', async (t) => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };
  t.equal(errorCode(thrownBy(() => statSync('/no/such/file'))), 'ENOENT');
  t.equal(errorCode(Object.assign(new Error('relation "a" does not exist'), { code: '42P01' })), '42P01');
  t.equal(errorCode(new Error('without a code')), '');
  t.equal(errorCode(new DOMException('its code is a number', 'AbortError')), '');
  for (const thrown of [null, undefined, 'ENOENT', 7]) t.equal(errorCode(thrown), '', String(thrown));
});
