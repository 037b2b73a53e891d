/** Mistakes in the arguments of `sluice project`, which are found before the database is opened. */
import t from 'tap';
import { folderOf } from '../support/config-files.ts';
import { sluice } from '../support/command-line.ts';

t.test('a quota is a whole number in digits', async (t) => {
  const folder = folderOf({});
  for (const quota of [' ', '1e3', '0x10', '-1', '1.5', '99999999999999999999']) {
    const { code, err } = await sluice(['project', 'create', 'shop', `--monthly-spans=${quota}`], { folder });
    t.match(err, `--monthly-spans takes a whole number, not "${quota}"`, quota);
    t.equal(code, 2, quota);
  }
  const empty = await sluice(['project', 'create', 'shop', '--monthly-spans='], { folder });
  t.match(empty, { code: 2, err: '--monthly-spans needs a value' });
});
