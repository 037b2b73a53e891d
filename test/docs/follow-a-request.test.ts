/** The page that follows a request needs at most seven files, and names what exists. */
import t from 'tap';
import { REFUSALS } from '../../src/errors.ts';
import { codeBlocks, read, tableIn } from './markdown.ts';

const PAGE = 'docs/follow-a-request.md';
const paths = tableIn(read(PAGE)).map(([, link = '']) => /\[(src\/[^\]]+)\]/u.exec(link)?.[1] ?? '');
const files = paths.map((path) => read(path)).join('\n');

t.test('seven files are enough', async (t) => {
  t.ok(paths.length > 0 && paths.length <= 7);
  for (const path of paths) t.match(path, /^src\/.+\.ts$/u);
});

t.test('every class and method of the page is in these files, and every code is in the catalogue', async (t) => {
  const [chain = ''] = codeBlocks(read(PAGE), 'text');
  const inProse = [...read(PAGE).matchAll(/`([^`\n]+)`/gu)].map(([, code = '']) => code).join('\n');
  const names = `${chain}\n${inProse}`.matchAll(/([A-Z]\w+)\.(#?[a-z]\w+)|(#[a-z]\w+)|\b(answerSuccess|makeClaim)\b/gu);
  for (const [name, owner, member, own, free] of names)
    for (const word of [owner, member, own, free]) if (word !== undefined) t.ok(files.includes(word), name);
  for (const [, status = '', code = ''] of read(PAGE).matchAll(/\b([1-5]\d\d) `([a-z_]+)`/gu))
    t.equal(String(REFUSALS[code as keyof typeof REFUSALS]?.status), status, code);
});
