/**
 * Temporary tables of a session that hold archived rows, and the readable views over them together with PostgreSQL's
 * own tables. A query of the tables or views is rewritten for the combined ones, so that archived days are counted by
 * the same definitions.
 */
import type { Query } from '../../component/capabilities/postgres.ts';
import type { LakeSignal } from '../lake-table.ts';

const SIGNALS: readonly LakeSignal[] = ['spans', 'logs', 'metric_points'];
/**
 * The views of records and figures, and what they need. The other views do not read the tables, or no command reads
 * them.
 */
const VIEWS = new Set([
  ...['spans', 'logs', 'codex_spans_report'],
  ...[
    'usage_spans',
    'usage_spans_near',
    'usage_records',
    'usage_records_between',
    'usage_logs',
    'counting_rollups',
    'usage_rollups',
    'counted_spans',
  ],
  ...['counted_usage', 'trace_usage', 'trace_usage_of', 'traces', 'trace_conversations'],
  ...['other_usage_between', 'counted_usage_between', 'values_above', 'owners_of', 'attributed_usage_between'],
]);
const DEFINITIONS = /^CREATE (?:VIEW views\.(\w+)[\s\S]*?;$|FUNCTION views\.(\w+)[\s\S]*?\$\$;$)/gmu;
/** A table in a query. A name in a string is the table itself, as in `'sluice.spans'::regclass`. */
const TABLE = /(?<!')\bsluice\.(spans|logs|metric_points|traces)\b/gu;
/** The schema of the combined tables and views, in place of the schema of the views. */
export const COMBINED = 'pg_temp';

/** The query over the combined tables. */
export const combined = (text: string): string => text.replaceAll(TABLE, `${COMBINED}.all_$1`);

/** Within a transaction that may write. `views`: the definitions of the readable views. */
export async function createTables(query: Query, views: string): Promise<void> {
  for (const name of [...SIGNALS, 'traces']) {
    await query(`CREATE TEMP TABLE lake_${name} (LIKE sluice.${name}) ON COMMIT DROP`);
    const { rows } = await query(
      `SELECT attname AS name, attnotnull AS required FROM pg_attribute
       WHERE attrelid = 'pg_temp.lake_${name}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    );
    const required = rows
      .filter((row) => row['required'] === true)
      .map((row) => `ALTER "${row['name']}" DROP NOT NULL`);
    if (required.length > 0) await query(`ALTER TABLE pg_temp.lake_${name} ${required.join(', ')}`);
    // `tableoid` and `ctid` distinguish records without an id. A view does not have them unless it selects them.
    const list = ['tableoid', 'ctid', ...rows.map((row) => `"${row['name']}"`)].join(', ');
    // The claim of an archived trace is in the temporary table, joined with the one in PostgreSQL.
    const own = name === 'traces' ? CLAIMS : '';
    await query(
      `CREATE TEMP VIEW all_${name} AS SELECT ${list} FROM sluice.${name} t ${own} UNION ALL SELECT ${list} FROM pg_temp.lake_${name}`,
    );
  }
  await query(combined([...definitionsOf(views)].join('\n')));
}

const CLAIMS =
  'WHERE NOT EXISTS (SELECT FROM pg_temp.lake_traces l WHERE l.trace_id = t.trace_id AND l.project = t.project)';

function* definitionsOf(views: string): Generator<string> {
  for (const [text, view, routine] of views.matchAll(DEFINITIONS))
    if (VIEWS.has(view ?? routine ?? '')) yield text.replaceAll(/\bviews\./gu, `${COMBINED}.`);
}

/**
 * After rows were copied. A trace without a claim has expired in PostgreSQL; it arrived with its first record. So did
 * one that was claimed again later.
 */
export async function completeTables(query: Query): Promise<void> {
  await query(`
    TRUNCATE pg_temp.lake_traces;
    INSERT INTO pg_temp.lake_traces (trace_id, project, environment, first_ns, last_ns, created_at)
    SELECT l.trace_id, l.project, coalesce(t.environment, l.environment), least(t.first_ns, l.first_ns),
      greatest(t.last_ns, l.last_ns), CASE WHEN t.created_at < l.received_at + interval '1 day' THEN t.created_at ELSE l.received_at END
    FROM (
      SELECT trace_id, project, min(environment) AS environment, min(time_ns) AS first_ns, max(time_ns) AS last_ns, min(received_at) AS received_at
      FROM (SELECT trace_id, project, environment, start_time_unix_nano AS time_ns, received_at FROM pg_temp.lake_spans
        UNION ALL SELECT trace_id, project, environment, NULL, received_at FROM pg_temp.lake_logs WHERE trace_id IS NOT NULL) r
      GROUP BY trace_id, project
    ) l LEFT JOIN sluice.traces t ON t.trace_id = l.trace_id AND t.project = l.project;
    CREATE INDEX IF NOT EXISTS lake_spans_trace ON pg_temp.lake_spans (trace_id, project, span_id, start_time_unix_nano);
    CREATE INDEX IF NOT EXISTS lake_spans_start ON pg_temp.lake_spans (project, start_time_unix_nano);
    CREATE INDEX IF NOT EXISTS lake_spans_response ON pg_temp.lake_spans (project, left(response_id, 128))
      WHERE usage_scope IS NOT NULL AND response_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS lake_spans_conversation ON pg_temp.lake_spans (project, left(conversation_id, 128))
      WHERE conversation_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS lake_logs_conversation ON pg_temp.lake_logs (project, left(conversation_id, 128))
      WHERE conversation_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS lake_logs_trace ON pg_temp.lake_logs (trace_id);
    CREATE INDEX IF NOT EXISTS lake_logs_response ON pg_temp.lake_logs (project, left(response_id, 128)) WHERE response_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS lake_traces_id ON pg_temp.lake_traces (trace_id);
    ANALYZE pg_temp.lake_spans; ANALYZE pg_temp.lake_logs; ANALYZE pg_temp.lake_traces`);
}
