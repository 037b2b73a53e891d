// The lists of columns for people: the tables of docs/storage.md and the columns of an answer of the query API.
import { markdownTable } from './markdown-table.js';

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
