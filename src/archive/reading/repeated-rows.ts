/** Removes rows that were copied from the lake and are shown from another place. */
import type { Query } from '../../component/capabilities/postgres.ts';
import { SHARED_COLUMNS, SHARED_JOINS } from '../../pdata/stored-text.ts';
import { conditionOf, tableOf } from '../lake-table.ts';
import type { ArchivedFile } from './archived-files.ts';

/** A span that was sent again in other bytes can be in several objects, and in a file. The first one is shown. */
export const removeRepeated = async (query: Query): Promise<void> =>
  void (await query(`
    DELETE FROM pg_temp.lake_spans l USING (
      SELECT ctid AS place, row_number() OVER (
        PARTITION BY project, trace_id, span_id, start_time_unix_nano ORDER BY received_at, ctid) AS copy
      FROM pg_temp.lake_spans
    ) r WHERE l.ctid = r.place AND r.copy > 1`));

/**
 * Records of an archived day that PostgreSQL has are read there: those that arrived after the day was dropped, and
 * those of the default partition. Spans have a unique key. Of equal log records and points, as many are removed as
 * PostgreSQL has; the archive treats late records in the same way.
 */
export async function removeStored(
  query: Query,
  loaded: readonly string[],
  { signal, day }: Pick<ArchivedFile, 'signal' | 'day'>,
): Promise<void> {
  const table = tableOf(signal);
  const within = conditionOf(table, day);
  const { rows } = await query(`SELECT FROM sluice.${signal} WHERE ${within} LIMIT 1`);
  if (rows.length === 0) return;
  if (signal === 'spans') {
    await query(`DELETE FROM pg_temp.lake_spans l WHERE ${within} AND EXISTS (
      SELECT FROM sluice.spans s WHERE ${within.replaceAll(table.key, `s.${table.key}`)} AND s.project = l.project
        AND s.trace_id = l.trace_id AND s.span_id = l.span_id AND s.start_time_unix_nano = l.start_time_unix_nano)`);
    return;
  }
  const names = loaded.filter((name) => name !== 'value_int' && name !== 'value_double');
  const value = signal === 'metric_points' ? ['coalesce(s.value_int::float8, s.value_double)'] : [];
  const keyIn = (isCopy: boolean): string => {
    const own = names.map((name) => (isCopy ? `s."${name}"` : (SHARED_COLUMNS[name] ?? `s."${name}"`)));
    return `md5(ROW(${[...own, ...value].join(', ')})::text)`;
  };
  await query(`
    WITH stored AS (
      SELECT ${keyIn(false)} AS key, count(*) AS copies FROM sluice.${signal} s ${SHARED_JOINS}
      WHERE ${within} GROUP BY 1
    ), archived AS (
      SELECT s.ctid AS place, ${keyIn(true)} AS key, row_number() OVER (PARTITION BY ${keyIn(true)}) AS copy
      FROM pg_temp.lake_${signal} s WHERE ${within}
    )
    DELETE FROM pg_temp.lake_${signal} l USING archived JOIN stored USING (key)
    WHERE l.ctid = archived.place AND archived.copy <= stored.copies`);
}
