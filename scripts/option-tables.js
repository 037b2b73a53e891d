// Fills the generated tables of the documentation. In a Markdown file they are between two comments:
//   <!-- options: receiver otlp --> … <!-- end -->   the options of a component, or of `service`
//   <!-- components --> … <!-- end -->               the list of shipped components
import { SERVICE_SCHEMA } from '../dist/src/config/service-schema.js';
import { writtenForm } from '../dist/src/config/written-form.js';
import { markdownTable } from './markdown-table.js';

const BLOCK = /(<!-- (options|components)(?:: ([a-z_ ]+?))? -->\n)[\s\S]*?(<!-- end -->)/g;
const KINDS = ['receiver', 'processor', 'exporter', 'extension'];
/** Deeper nested lists are documented only in the editor's schema. */
const MAX_LISTS = 2;

/** The text with every table generated again. Throws when a table names an unknown component. */
export function withTables(text, definitions) {
  return text.replace(BLOCK, (_whole, begin, what, name, end) => {
    const table = what === 'components' ? componentTable(definitions) : optionTable(schemaOf(name, definitions));
    return `${begin}\n${table}\n\n${end}`;
  });
}

/** docs/configuration.md with a section for every component: a new one comes behind the others of its kind. */
export function withSections(text, definitions) {
  return definitions.reduce((page, { kind, type }) => {
    const marker = `<!-- options: ${kind} ${type} -->\n`;
    if (page.includes(marker)) return page;
    const last = page.lastIndexOf(`\n### ${kind} `);
    const next = page.indexOf('\n### ', last + 1);
    const end = last === -1 || next === -1 ? page.length : next;
    return `${page.slice(0, end)}\n### ${kind} \`${type}\`\n\n${marker}<!-- end -->\n${page.slice(end)}`;
  }, text);
}

function schemaOf(name, definitions) {
  if (name === 'service') return SERVICE_SCHEMA;
  const found = definitions.find(({ kind, type }) => `${kind} ${type}` === name);
  if (found === undefined) throw new Error(`there is no component "${name}"`);
  return found.schema;
}

function componentTable(definitions) {
  const sorted = KINDS.flatMap((wanted) => definitions.filter(({ kind }) => kind === wanted));
  return markdownTable(
    ['Kind', 'Type', 'What it does', 'State'],
    sorted.map(({ kind, type, summary, stability }) => [
      kind,
      `[\`${type}\`](src/${kind}s/${type.replaceAll('_', '-')})`,
      summary.replace(/\.?$/, '.'),
      stability,
    ]),
  );
}

export function optionTable(schema) {
  const rows = optionRows(writtenForm(schema), '');
  return rows.length === 0 ? 'No options.' : markdownTable(['Option', 'Default', 'What it does'], rows);
}

/** One row for each option; a nested option has its whole path. */
function optionRows(schema, prefix) {
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, option]) => {
    const path = `${prefix}${name}`;
    const inner = insideOf(option, path);
    const rows = inner === null ? [] : optionRows(...inner);
    const group = option.properties !== undefined && rows.length > 0 && option.description === undefined;
    return group ? rows : [[`\`${path}\``, defaultOf(option, required.includes(name)), describe(option)], ...rows];
  });
}

/** The schema inside an option, and the path to it; null for a plain value. */
function insideOf(option, path) {
  if (option.properties !== undefined) return [option, `${path}.`];
  const { items, additionalProperties } = option;
  if (items?.properties !== undefined && path.split('[]').length <= MAX_LISTS) return [items, `${path}[].`];
  return additionalProperties?.properties === undefined ? null : [additionalProperties, `${path}.<name>.`];
}

function defaultOf(option, isRequired) {
  if (option.default === undefined) return isRequired ? 'required' : '–';
  // The default of a map follows from those of its options.
  if (option.properties !== undefined) return '';
  return option.default === ''
    ? '`""`'
    : `\`${typeof option.default === 'string' ? option.default : JSON.stringify(option.default)}\``;
}

function describe(option) {
  const limits = [
    option.atLeast ?? option.minimum ?? option.minItems,
    option.atMost ?? (option.maximum >= Number.MAX_SAFE_INTEGER ? undefined : option.maximum),
  ].map((limit) => (limit === undefined || limit === 0 ? undefined : unit(limit, option.format)));
  const [least, most] = limits;
  return [
    option.description ?? '',
    option.enum === undefined ? '' : `One of ${option.enum.map((value) => `\`${value}\``).join(', ')}.`,
    least !== undefined && most !== undefined ? `From ${least} to ${most}.` : '',
    least !== undefined && most === undefined ? `At least ${least}.` : '',
    least === undefined && most !== undefined ? `At most ${most}.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** Schemas state limits in milliseconds and bytes. */
function unit(limit, format) {
  if (typeof limit !== 'number') return limit;
  const scales = {
    duration: [
      ['d', 86400000],
      ['h', 3600000],
      ['m', 60000],
      ['s', 1000],
      ['ms', 1],
    ],
    byte_size: [
      ['GiB', 2 ** 30],
      ['MiB', 2 ** 20],
      ['KiB', 1024],
      [' B', 1],
    ],
  }[format] ?? [['', 1]];
  const [name, size] = scales.find(([, each]) => limit % each === 0) ?? ['', 1];
  return `${limit / size}${name}`;
}
