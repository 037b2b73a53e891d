/** The README of a component agrees with its definition. */
import { existsSync } from 'node:fs';
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
