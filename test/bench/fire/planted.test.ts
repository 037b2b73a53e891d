/** The planted faults still fit the product: an edit that no longer finds its place would prove nothing. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CAMPAIGNS } from '../../campaigns/crash/campaigns/list.ts';
import { applyEdit } from '../../campaigns/crash/planted/bug.ts';
import { LEDGER_BUGS } from '../../campaigns/crash/planted/ledger-bugs.ts';
import { SERVICE_BUGS } from '../../campaigns/crash/planted/service-bugs.ts';

const PRODUCT = new URL('../../../src/', import.meta.url);

for (const bug of [...LEDGER_BUGS, ...SERVICE_BUGS]) {
  t.test(`${bug.name} can be planted`, async (t) => {
    t.ok(CAMPAIGNS.some(({ name }) => name === bug.campaign));
    const texts = new Map<string, string>();
    for (const edit of bug.edits) {
      const path = fileURLToPath(new URL(edit.file, PRODUCT));
      const before = texts.get(path) ?? readFileSync(path, 'utf8');
      const after = applyEdit(before, edit);
      t.not(after, before);
      texts.set(path, after);
    }
  });
}
