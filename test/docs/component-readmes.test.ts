/** The README of a component agrees with its definition. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import type { Definition } from '../../src/component/definition.ts';
import { COMPONENTS } from '../../src/components.ts';
import { codeBlocks, read, ROOT } from './markdown.ts';

const pathOf = ({ kind, type }: Definition): string => `src/${kind}s/${type.replaceAll('_', '-')}/README.md`;
const markerOf = ({ kind, type }: Definition): string => `<!-- options: ${kind} ${type} -->`;
/** The words in backquotes; null when there is no such sentence. */
const named = (text: string | undefined): readonly string[] | null =>
  text === undefined ? null : [...text.matchAll(/`([a-z]+)`/g)].map(([, word = '']) => word);

const written = COMPONENTS.filter((definition) => {
  const path = pathOf(definition);
  return existsSync(`${ROOT}${path}`) && read(path).includes(markerOf(definition));
});

t.ok(written.length >= 8, 'the READMEs were found');

for (const definition of written) {
  const { kind, type } = definition;
  t.test(`the README of the ${kind} ${type} states its purpose and requirements, with a configuration`, async (t) => {
    const text = read(pathOf(definition));
    const [example = ''] = codeBlocks(text, 'yaml');
    t.ok(parse(example)[`${kind}s`], `shows a configuration of the section ${kind}s`);
    const facts = /^Requires (.*?)[;,] provides (.*?)\./m.exec(text);
    if (definition.kind === 'processor') {
      t.same(named(facts?.[1]), definition.requires, 'what it requires');
      t.same(named(facts?.[2]), definition.provides, 'what it provides');
    }
    if (definition.kind === 'exporter') {
      t.same(named(/^Requires ([^.]*)\./m.exec(text)?.[1]), definition.requires, 'what it requires');
    }
  });
}

/** The names of the files of the component, and of the folders of `src` that its README names. */
function filesAround(path: string, text: string): ReadonlySet<string> {
  const folders = [dirname(path), ...[...text.matchAll(/`(src\/[\w/-]+?)\/?`/g)].map(([, folder = '']) => folder)];
  const files = folders.flatMap((folder) => readdirSync(`${ROOT}${folder}`, { recursive: true }) as string[]);
  return new Set(files.map((file) => basename(file)));
}

t.test('the files that a README names are in the folder of the component, or in one that it names', async (t) => {
  for (const definition of written) {
    const path = pathOf(definition);
    const text = read(path);
    const files = filesAround(path, text);
    const names = [...text.matchAll(/`([\w/-]+\.tsx?)`/g)].map(([, name = '']) => name);
    const isThere = (name: string): boolean =>
      files.has(name) || [ROOT, `${ROOT}${dirname(path)}/`].some((folder) => existsSync(folder + name));
    t.same(
      names.filter((name) => !isThere(name)),
      [],
      path,
    );
  }
});
