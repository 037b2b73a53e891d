/** Links inside the documentation are valid. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';
import { anchorOf, documents, links, read, ROOT } from './markdown.ts';

for (const path of documents()) {
  t.test(`every link in ${path} leads to a file of the repository and to an existing heading`, async (t) => {
    const broken = links(read(path)).filter((link) => !resolves(path, link));
    t.same(broken, []);
  });
}

function resolves(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : normalize(join(dirname(from), file));
  if (target.startsWith('..') || !existsSync(`${ROOT}${target}`)) return false;
  if (anchor === undefined) return true;
  const headings = read(target)
    .split('\n')
    .filter((line) => /^#+ /.test(line));
  return headings.some((heading) => anchorOf(heading) === anchor);
}
