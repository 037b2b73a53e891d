/** Each seeded bug names a scenario that exists, and its patch still applies to the sources. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { KINDS } from '../check/findings.ts';
import { SCENARIOS } from '../scenarios/list.ts';
import { PRODUCT_ROOT } from '../testbed/testbed.ts';
import { applyPatch, buildWithBug, readBugs, removeBuild } from './bug.ts';
import { longTest } from '../../../support/long.ts';

const bugs = await readBugs();

t.ok(bugs.length > 0, 'there are seeded bugs');

for (const bug of bugs) {
  t.test(`${bug.name} applies to the sources`, async (t) => {
    t.ok(bug.about.length > 0);
    t.ok(SCENARIOS.some(({ name }) => name === bug.scenario));
    t.ok(bug.cycles > 0);
    t.ok(bug.findings.length > 0 && bug.findings.every((kind) => KINDS.includes(kind)));
    const root = t.testdir();
    for (const file of bug.files) await cp(join(PRODUCT_ROOT, file), join(root, file));
    await t.resolves(applyPatch(bug, root));
  });
}

longTest('a build has the bug, and differs from the product in nothing else', async (t) => {
  const bug = bugs.find(({ name }) => name === 'asynchronous-commit');
  if (bug === undefined) throw new Error('there is no bug asynchronous-commit');
  const root = await buildWithBug(bug);
  t.teardown(() => removeBuild(root));
  const settings = 'dist/src/extensions/postgres/ledger/session.js';
  const [product, build] = await Promise.all([PRODUCT_ROOT, root].map((folder) => readCode(join(folder, settings))));
  t.equal(build, product?.replace("ELSE 'on' END", "ELSE 'off' END"));
});

/** Compiled code without its reference to the source map. */
async function readCode(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).replace(/\n?\/\/# sourceMappingURL=.*\n?$/, '\n');
}
