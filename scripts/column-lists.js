// The lists of columns for people: the SELECT lists of the views and the tables of docs/storage.md.
import { markdownTable } from './markdown-table.js';

/** Rows refer to their resource and scope; rows of earlier versions contain them. */
const SHARED = {
  resource: 'coalesce(s.resource, r.body)',
  scope_name: 'coalesce(s.scope_name, c.name)',
  scope_version: 'coalesce(s.scope_version, c.version)',
  scope_attributes: 'coalesce(s.scope_attributes, c.attributes)',
};
/** The view has one column for the two of the table. The text keeps every digit of a float8. */
const METRIC_VALUE = 'coalesce(s.value_int::numeric, s.value_double::text::numeric) AS value';

/** Columns that are named without an expression fill the lines. */
const LINE_WIDTH = 118;

function wrapped(items) {
  const lines = [];
  for (const [index, item] of items.entries()) {
    const text = index === items.length - 1 ? item : `${item},`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= LINE_WIDTH) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}

/** The blocks of views.sql. The aliases are those of its FROM clauses. */
export function viewColumns({ SPAN_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS, DERIVED_COLUMNS }) {
  const select = (columns) =>
    columns.flatMap(expression).map((text, index, { length }) => text + (index < length - 1 ? ',' : ''));
  const derived = wrapped(DERIVED_COLUMNS.map(({ name }) => name));
  return {
    spans: select(SPAN_COLUMNS),
    logs: select(LOG_COLUMNS),
    metric_points: select(METRIC_COLUMNS),
    'derived, of spans': derived,
    'derived, of logs': derived,
  };
}

function expression({ name, type }) {
  if (name === 'value_int') return [METRIC_VALUE];
  if (name === 'value_double') return [];
  if (type === 'trace_id' || type === 'span_id') return [`encode(s.${name}, 'hex') AS ${name}`];
  return [SHARED[name] === undefined ? `s.${name}` : `${SHARED[name]} AS ${name}`];
}

/** The types of columns in answers of the query API, as OpenAPI has them. */
const ANSWERED = {
  text: '{ type: [string, "null"] }',
  count: '{ type: [number, "null"] }',
  double: '{ type: [number, "null"] }',
  money: '{ oneOf: [{ $ref: "#/components/schemas/Cost" }, { type: "null" }] }',
  boolean: '{ type: [boolean, "null"] }',
  json: '{}',
};

/** The blocks of docs/openapi-console.yaml. An answer has content in an object of its own. */
export function answeredColumns({ DERIVED_COLUMNS }, contentColumns) {
  const columns = DERIVED_COLUMNS.filter(({ name }) => !contentColumns.includes(name));
  const schemaOf = ({ type, words }) =>
    words === undefined ? ANSWERED[type] : `{ enum: [${words.map(String).join(', ')}] }`;
  return {
    'derived, required': columns.map(({ name }) => `- ${name}`),
    derived: columns.map((column) => `${column.name}: ${schemaOf(column)}`),
  };
}

/** The blocks of docs/storage.md: each column of a signal is in one of its sections. */
export function documentedColumns(catalogue) {
  const { OWNER_COLUMNS, SOURCE_COLUMNS, DERIVED_COLUMNS, SPAN_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS } = catalogue;
  const common = [...OWNER_COLUMNS, ...SOURCE_COLUMNS, ...DERIVED_COLUMNS];
  const own = (columns) => columns.filter((column) => !common.includes(column));
  const table = (columns) => [
    '',
    ...markdownTable(
      ['Column', 'Type', 'Meaning'],
      columns.map(({ name, type, meaning }) => [`\`${name}\``, catalogue.COLUMN_TYPES[type].view, meaning]),
    ).split('\n'),
    '',
  ];
  return {
    owner: table(OWNER_COLUMNS),
    spans: table(own(SPAN_COLUMNS)),
    logs: table(own(LOG_COLUMNS)),
    'metric points': table(own(METRIC_COLUMNS)),
    derived: table(DERIVED_COLUMNS),
    source: table(SOURCE_COLUMNS),
  };
}
