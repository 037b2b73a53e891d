/** The tables of options and components in the documentation equal those generated from the schemas. */
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import type { Definition } from '../../src/component/definition.ts';
import { documents, read, ROOT } from './markdown.ts';

interface Tables {
  withTables(text: string, definitions: readonly Definition[]): string;
  optionTable(schema: object): string;
}

const { withTables, optionTable } = (await import(`file://${ROOT}scripts/option-tables.js`)) as Tables;

for (const path of documents().filter((path) => /^<!-- (options|components)/m.test(read(path)))) {
  t.test(`the tables of ${path} are current; if not, run \`npm run docs\``, async (t) => {
    t.equal(read(path), withTables(read(path), COMPONENTS));
  });
}

t.test('docs/configuration.md has the options of every shipped component and of the service', async (t) => {
  const text = read('docs/configuration.md');
  for (const { kind, type } of COMPONENTS) t.match(text, `\n<!-- options: ${kind} ${type} -->\n`);
  t.match(text, '\n<!-- options: service -->\n');
});

t.test(
  'a table shows nested options by their path, defaults as they are written, and limits in their unit',
  async (t) => {
    const table = optionTable({
      type: 'object',
      required: ['key'],
      properties: {
        key: { type: 'string', description: 'A | B.' },
        wait: { type: 'integer', format: 'duration', minimum: 1000, default: '5s', description: 'How long.' },
        list: {
          type: 'array',
          default: [],
          description: 'Some.',
          items: { properties: { name: { enum: ['a', 'b'] } } },
        },
      },
    });
    t.same(table.split('\n').slice(2), [
      '| `key` | required | A \\| B. |',
      '| `wait` | `5s` | How long. At least 1s. |',
      '| `list` | `[]` | Some. |',
      '| `list[].name` | – | One of `a`, `b`. |',
    ]);
  },
);
