/** The contract of object stores, over every implementation. */
import { join } from 'node:path';
import t from 'tap';
import { FolderStore } from '../../../src/archive/store/folder-store.ts';
import { CONTRACT, type OpenStore } from './contract.ts';

const STORES: readonly (readonly [string, () => OpenStore])[] = [
  ['folder', () => () => new FolderStore(join(t.testdir(), 'not', 'made', 'yet'))],
];

for (const [name, make] of STORES) {
  t.test(name, async (t) => {
    const open = make();
    for (const [title, check] of CONTRACT) await t.test(title, (t) => check(t, open));
  });
}
