/** The tables of the dialects are consistent: no row is unreachable or duplicated, and every reference exists. */
import t from 'tap';
import { COST_ORDER } from '../../src/dialects/costs.ts';
import { KeyPattern } from '../../src/dialects/lookup/key-pattern.ts';
import { contentOf, type SourceRow } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/families.ts';
import { MODEL_VENDORS, PROVIDER_HOSTS, PROVIDERS } from '../../src/dialects/providers.ts';

const ids = new Set(DIALECTS.map(({ id }) => id));
const rowsOf = (dialect: (typeof DIALECTS)[number]): { readonly field: string; readonly row: SourceRow }[] =>
  Object.entries(dialect.fields ?? {}).flatMap(([field, sources]) =>
    sources.map((source) => ({ field, row: typeof source === 'string' ? { attribute: source } : source })),
  );

t.test('every dialect has a name of its own', async (t) => t.equal(ids.size, DIALECTS.length));

t.test('every dialect reads something, and says where its facts come from', async (t) => {
  for (const { id, sources, ...facts } of DIALECTS) {
    t.ok((sources ?? []).length > 0, `${id} has sources`);
    t.not(Object.keys(facts).length, 0, `${id} has facts`);
  }
});

t.test('rows refer to existing dialects only', async (t) => {
  for (const dialect of DIALECTS) {
    for (const { field, row } of rowsOf(dialect)) {
      for (const id of row.only ?? []) t.ok(ids.has(id), `${dialect.id} ${field} ${row.attribute} needs ${id}`);
    }
    for (const { only, attributes } of contentOf(dialect)) {
      for (const id of only ?? []) t.ok(ids.has(id), `${dialect.id} content ${attributes?.[0]} needs ${id}`);
    }
  }
});

t.test('no dialect lists a source of a field twice', async (t) => {
  for (const dialect of DIALECTS) {
    const places = rowsOf(dialect).map(({ field, row }) =>
      JSON.stringify([field, row.attribute, row.paths, row.when, row.before]),
    );
    t.equal(new Set(places).size, places.length, dialect.id);
  }
});

t.test('every stated cost has a place in the order of costs', async (t) => {
  const read = DIALECTS.flatMap((dialect) =>
    rowsOf(dialect)
      .filter(({ field, row }) => field.startsWith('cost_') && row.excluded !== true)
      .map(({ row }) => row.attribute),
  );
  t.strictSame([...new Set(read)].sort(), [...COST_ORDER].sort());
});

t.test('words of operations belong to an attribute that is read as an operation', async (t) => {
  const read = new Set(
    DIALECTS.flatMap((dialect) =>
      rowsOf(dialect)
        .filter(({ field }) => field === 'operation')
        .map(({ row }) => row.attribute),
    ),
  );
  for (const { id, operations } of DIALECTS) {
    for (const attribute of Object.keys(operations ?? {})) t.ok(read.has(attribute), `${id} ${attribute}`);
  }
});

t.test('every source of a content column is content, so that it can be dropped', async (t) => {
  const listed = new Set(DIALECTS.flatMap(contentOf).flatMap(({ attributes = [] }) => attributes));
  const patterns = [...listed].map((attribute) => new KeyPattern(attribute));
  const covers = (attribute: string): boolean => patterns.some((pattern) => pattern.match(sampleOf(attribute)) >= 0);
  const missing = DIALECTS.flatMap((dialect) =>
    rowsOf(dialect)
      .filter(({ field, row }) => CONTENT_FIELDS.has(field) && row.excluded !== true && row.attribute !== '(body)')
      .filter(({ row }) => !covers(row.attribute))
      .map(({ field, row }) => `${dialect.id} ${field} ${row.attribute}`),
  );
  t.strictSame(missing, []);
});
/** A key that the pattern matches; of flattened documents and messages, the part with the text. */
const sampleOf = (attribute: string): string =>
  attribute
    .replace(/\{[ij]\}/g, '0')
    .replace('{k}', 'tool')
    .replace(/\*$/, 'content');
const CONTENT_FIELDS = new Set([
  'input_content',
  'output_content',
  'system_instructions',
  'tool_arguments',
  'tool_result',
  'retrieval_documents',
]);

t.test('hosts and model names give providers of the table', async (t) => {
  const names = new Set(PROVIDERS.map(({ name }) => name));
  for (const [, provider] of [...PROVIDER_HOSTS, ...MODEL_VENDORS]) t.ok(names.has(provider), provider);
});

t.test('no spelling belongs to two providers', async (t) => {
  const spellings = PROVIDERS.flatMap(({ spellings, priceSpellings }) => [...spellings, ...priceSpellings]);
  t.equal(new Set(spellings).size, spellings.length);
});
