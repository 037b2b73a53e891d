/** A program that puts objects into a folder until it is killed, and prints the number of each after its put. */
import { FolderStore } from '../../src/object-store/folder-store.ts';

const [, , root = '', first = '0'] = process.argv;
const store = new FolderStore(root);

for (let index = Number(first); ; index++) {
  const body = Buffer.alloc(400_000, `${index};`);
  await store.put(`d/${index % 3}/${index}`, body, { ifAbsent: index % 2 === 0 });
  process.stdout.write(`${index}\n`);
}
