/**
 * Completes the texts of the views, so that they repeat neither columns nor queries. A line `-- columns: spans` is
 * replaced by the columns of the catalogue. A line `-- query of VIEW: FROM TABLE ALIAS WHERE CONDITION` is replaced by
 * the query of that view with a further condition.
 */
import { type Column, DERIVED_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from '../../pdata/columns.ts';
import { SHARED_COLUMNS } from '../../pdata/stored-text.ts';

const PLACE = /^ *-- columns: (.+)$/gm;
const QUERY = /^ *-- query of (\w+): (FROM \S+ \w+ WHERE) (.+)$/gm;
/** The view has one column for the two of the table. The text keeps every digit of a float8. */
const METRIC_VALUE = 'coalesce(s.value_int::numeric, s.value_double::text::numeric) AS value';

const LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['spans', SPAN_COLUMNS.flatMap(expressionOf)],
  ['logs', LOG_COLUMNS.flatMap(expressionOf)],
  ['metric_points', METRIC_COLUMNS.flatMap(expressionOf)],
  ['derived', DERIVED_COLUMNS.map(({ name }) => name)],
]);

export function withColumns(views: string): string {
  return views.replaceAll(PLACE, (_, name: string) => {
    const list = LISTS.get(name);
    if (list === undefined) throw new Error(`the views name no columns "${name}"`);
    return `  ${list.join(', ')}`;
  });
}

export function withQueries(views: string): string {
  return views.replaceAll(QUERY, (_, name: string, place: string, condition: string) => {
    const [, query = ''] = new RegExp(`^CREATE VIEW views\\.${name} AS\n([^;]*);$`, 'mu').exec(views) ?? [];
    if (!query.includes(place)) throw new Error(`the view ${name} has no place for the condition`);
    return query.replace(place, `${place} ${condition} AND`);
  });
}

function expressionOf({ name, type }: Pick<Column, 'name' | 'type'>): readonly string[] {
  if (name === 'value_int') return [METRIC_VALUE];
  if (name === 'value_double') return [];
  if (type === 'trace_id' || type === 'span_id') return [`encode(s.${name}, 'hex') AS ${name}`];
  const expression = SHARED_COLUMNS[name];
  return [expression === undefined ? `s.${name}` : `${expression} AS ${name}`];
}
