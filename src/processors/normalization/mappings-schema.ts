/** JSON Schema of the mappings, and what it cannot express. */
import type { OptionFault } from '../../component/component.ts';
import { objectOption } from '../../component/option-schema.ts';
import { OPERATIONS } from '../../dialects/categories.ts';
import { BODY } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/families.ts';
import { DERIVED_COLUMNS } from '../../pdata/columns.ts';
import {
  fieldsOf,
  hasSigns,
  MAPPED_COLUMNS,
  type MappedColumn,
  type MappingOption,
  type SourceOption,
  type SourceOptions,
} from './mappings.ts';

/** Limits of the mappings: lookup tables of a fixed size hold the words of all of them. */
const MAX_MAPPINGS = 32;
const MAX_NAMES = 64;
const MAX_SOURCES = 16;
const MAX_PATHS = 16;
const MAX_WORDS_OF_ATTRIBUTE = 200;
/** All words of all mappings: operations and values of markers. */
const MAX_WORDS = 1024;
const MAX_NAME_LENGTH = 256;
/** A name may have indexes and one placeholder for any text: with more, a hostile key could take quadratic time. */
const ATTRIBUTE = '^(?:[^*{=]|\\{[ij]\\})*(?:\\*|\\{k\\})?(?:[^*{=]|\\{[ij]\\})*$';
const MARKER = '^(?:[^*{=]|\\{[ij]\\})*(?:\\*|\\{k\\})?(?:[^*{=]|\\{[ij]\\})*(?:=.+)?$';
const WORD = '^[^*]*\\*?[^*]*$';
const PATH = '^(?:\\$|\\$?\\.?(?:[^.$[\\]]+|\\[(?:\\*|\\d{1,6})\\])(?:\\.[^.[\\]]+|\\[(?:\\*|\\d{1,6})\\])*)$';

const text = (description: string, pattern?: string) => ({
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  ...(pattern === undefined ? {} : { pattern }),
  description,
});

const names = (description: string, item: string, pattern: string) => ({
  type: 'array',
  minItems: 1,
  maxItems: MAX_NAMES,
  uniqueItems: true,
  items: text(item, pattern),
  description,
});

const operation = (description: string) => ({ type: 'string', enum: [...OPERATIONS], description });

const words = (description: string) => ({
  type: 'object',
  maxProperties: MAX_WORDS_OF_ATTRIBUTE,
  propertyNames: { minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: WORD },
  additionalProperties: operation('The operation that this word means.'),
  description,
});

const ATTRIBUTE_TEXT =
  'The name of an attribute, or (body) for the body of a log record. {i} and {j} match an index, {k} and * any text; the keys of a pattern with {i}, {j}, a final {k} or * form one value.';

const source = objectOption('An attribute with the conditions under which it is read.', ['attribute'], {
  attribute: text(ATTRIBUTE_TEXT, ATTRIBUTE),
  paths: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_PATHS,
    items: text('A path, such as usage.input, choices[0].text or [*].reason; $ is the document.', PATH),
    description: 'The attribute holds JSON: the first of these paths with a value is used.',
  },
  sum: { type: 'boolean', description: 'Counts only: the sum of the values at all paths.' },
  unit: {
    type: 'string',
    enum: ['s', 'ms', 'ns', 'timestamp', 'micro_usd'],
    description:
      'Of a duration: s, ms (the default), ns, or timestamp for an instant after the start. Of a cost: micro_usd; without it, USD.',
  },
  when: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: operation('An operation.'),
    description: 'The attribute is read for these operations only.',
  },
  on: { type: 'string', enum: ['span', 'log'], description: 'Where it is read; default: both.' },
  before: text('Only the text before this is used.'),
  after: text('Only the text after this is used.'),
  proves: {
    type: 'string',
    enum: ['inside', 'outside'],
    description:
      'Cached and reasoning tokens only: where the attribute is sent, the input or output includes these tokens, or not.',
  },
  aggregate: { type: 'boolean', description: 'The value is a sum over other records.' },
});

const ONE = [text(ATTRIBUTE_TEXT, ATTRIBUTE), source];
const SOURCES = {
  anyOf: [
    ...ONE,
    { type: 'array', minItems: 1, maxItems: MAX_SOURCES, items: { anyOf: ONE }, description: 'Best first.' },
  ],
} as const;
const COLUMN_NAMES: readonly MappedColumn[] = [...MAPPED_COLUMNS.keys()];
const MEANINGS = new Map<string, string>(DERIVED_COLUMNS.map(({ name, meaning }) => [name, meaning]));
const meaningOf = (column: MappedColumn): string => {
  const meaning = MEANINGS.get(column) ?? 'no column, but decides the price';
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
};
/** `patternProperties` has the one schema of all columns; `properties` names them for hints and documentation. */
const fields = {
  type: 'object',
  additionalProperties: false,
  description: 'What fills the columns: an attribute, or a list of which the first usable one counts.',
  properties: Object.fromEntries(COLUMN_NAMES.map((column) => [column, { description: meaningOf(column) }])),
  patternProperties: { [`^(?:${COLUMN_NAMES.join('|')})$`]: SOURCES },
} as const;

const mapping = objectOption('One sender.', ['name'], {
  name: {
    type: 'string',
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
    description: 'The name in the column dialect.',
  },
  markers: names(
    'Attributes that only this sender has. One of them is enough to detect it.',
    'The name of an attribute, a pattern, or name=value.',
    MARKER,
  ),
  scopes: names(
    'Instrumentation scopes of this sender. They detect it together with an attribute of fields, a span name or an event.',
    'The name of a scope; * matches any text.',
    WORD,
  ),
  services: names(
    'Values of service.name. They detect the sender as scopes do.',
    'The name of a service; * matches any text.',
    WORD,
  ),
  fields,
  operations: {
    type: 'object',
    maxProperties: MAX_SOURCES,
    additionalProperties: words('By value of the attribute: the operation. Case does not matter.'),
    description:
      'By attribute: what its values mean, in addition to the names of the operations themselves. The attribute is read as operation.',
  },
  span_names: words('By span name: the operation, where no attribute states it.'),
  events: words('By event name of log records: the operation.'),
  cached_tokens: {
    type: 'string',
    enum: ['inside', 'outside'],
    description: 'Whether input_tokens as sent includes the cached tokens. Left out: the numbers decide, else inside.',
  },
  reasoning_tokens: {
    type: 'string',
    enum: ['inside', 'outside'],
    description:
      'Whether output_tokens as sent includes the reasoning tokens. Left out: the numbers decide, else inside.',
  },
  content: names(
    'Further attributes, of spans, logs and events, that hold what people or models wrote. Attributes that fill a column of content are content already.',
    'The name of an attribute, or a pattern.',
    ATTRIBUTE,
  ),
});

export const MAPPINGS_SCHEMA = {
  type: 'array',
  default: [],
  maxItems: MAX_MAPPINGS,
  description:
    'How senders of your own name things. They precede the built-in dialects on the records that they detect; see docs/dialects.md.',
  items: mapping,
} as const;

const DURATIONS: readonly MappedColumn[] = ['latency_ms', 'time_to_first_token_ms'];
const COSTS: readonly MappedColumn[] = ['input_cost', 'output_cost', 'total_cost'];
/** Columns that are filled from whole attributes only. */
const WHOLE: readonly MappedColumn[] = ['error_type', 'is_error'];
const isCount = (column: MappedColumn): boolean => column.endsWith('_tokens');

export function mappingFaults(mappings: readonly MappingOption[]): readonly OptionFault[] {
  const faults: OptionFault[] = [];
  const report = (option: OptionFault['option'], message: string, hint: string | null = null): void => {
    faults.push({ option, severity: 'error', message, hint });
  };
  const builtIn = new Set(DIALECTS.map(({ id }) => id));
  const seen = new Set<string>();
  mappings.forEach((each, index) => {
    const at = ['mappings', index] as const;
    if (builtIn.has(each.name.toLowerCase()))
      report([...at, 'name'], `"${each.name}" is a built-in dialect`, 'give it another name');
    if (seen.has(each.name)) report([...at, 'name'], `another mapping is named "${each.name}"`, 'give it another name');
    seen.add(each.name);
    if (Object.keys(each).length === 1) report([...at], `the mapping "${each.name}" maps nothing`, 'give it fields');
    for (const [column, sources] of fieldsOf(each)) {
      sources.forEach((one, number) => {
        const place = Array.isArray(each.fields?.[column] as SourceOptions) ? [number] : [];
        const fault = sourceFault(each, column, one);
        if (fault !== null) report([...at, 'fields', column, ...place, ...fault.option], fault.message, fault.hint);
      });
    }
    if (each.content?.includes(BODY) === true && !hasSigns(each)) report([...at, 'content'], BODY_FAULT, BODY_HINT);
  });
  const count = mappings.reduce((sum, each) => sum + wordsOf(each), 0);
  if (count > MAX_WORDS) report(['mappings'], `the mappings have ${count} words, and ${MAX_WORDS} are allowed`);
  return faults;
}

const BODY_FAULT = 'without markers, scopes or services the body of every log record would be read';
const BODY_HINT = 'say which records are meant';

function sourceFault(each: MappingOption, column: MappedColumn, one: SourceOption) {
  const fault = (option: string, message: string, hint: string | null) => ({ option: [option], message, hint });
  if (one.attribute === BODY && !hasSigns(each)) return { option: [], message: BODY_FAULT, hint: BODY_HINT };
  if (one.unit !== undefined) {
    const allowed = DURATIONS.includes(column) ? UNITS.duration : COSTS.includes(column) ? UNITS.cost : [];
    if (!allowed.includes(one.unit)) {
      const hint = allowed.length === 0 ? 'units are for durations and costs' : `one of ${allowed.join(', ')}`;
      return fault('unit', `${column} has no unit "${one.unit}"`, hint);
    }
  }
  if (one.sum === true && !isCount(column)) return fault('sum', `${column} is no count, so nothing is added up`, null);
  if (one.sum === true && one.paths === undefined) return fault('sum', 'sum needs paths, whose values it adds', null);
  if (one.paths !== undefined && WHOLE.includes(column))
    return fault('paths', `${column} is read from whole attributes only`, 'leave paths out');
  return null;
}
const UNITS: Readonly<Record<'duration' | 'cost', readonly string[]>> = {
  duration: ['s', 'ms', 'ns', 'timestamp'],
  cost: ['micro_usd'],
};

function wordsOf({ operations = {}, markers = [] }: MappingOption): number {
  const values = markers.filter((marker) => marker.includes('=')).length;
  return Object.values(operations).reduce((sum, each) => sum + Object.keys(each).length, values);
}
