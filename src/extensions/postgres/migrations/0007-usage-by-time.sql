-- Usage by time and by response id: `counted_usage_between`, `trace_usage` and `usage_logs` of views.sql read these
-- indexes. They have only records with usage, which are few of all. A response id has any length, an entry of an index
-- has not.
--
-- A table with much data gets an index without its partitions: to build theirs here would block ingest for minutes. The
-- maintenance of the daemon builds them one at a time, beside ingest (exporters/postgres/indexes.ts), and new
-- partitions have theirs from the beginning.
DO $$
DECLARE
  added record;
BEGIN
  FOR added IN
    SELECT i.name, i.of_table, i.definition,
      (SELECT sum(pg_table_size(inhrelid)) > 64 * 1024 * 1024 FROM pg_inherits WHERE inhparent = ('sluice.' || i.of_table)::regclass) AS is_large
    FROM (VALUES
      ('spans_usage', 'spans', '(project, start_time_unix_nano) WHERE usage_scope IS NOT NULL'),
      ('spans_response', 'spans', '(project, left(response_id, 128)) WHERE usage_scope IS NOT NULL AND response_id IS NOT NULL'),
      ('logs_usage', 'logs', $i$(project, coalesce(time_unix_nano, observed_time_unix_nano)) WHERE usage_scope = 'own'$i$),
      ('logs_response', 'logs', $i$(project, left(response_id, 128)) WHERE usage_scope = 'own' AND response_id IS NOT NULL$i$)
    ) AS i (name, of_table, definition)
  LOOP
    EXECUTE format('CREATE INDEX %I ON %s sluice.%I %s', added.name, CASE WHEN added.is_large THEN 'ONLY' ELSE '' END, added.of_table,
      added.definition);
  END LOOP;
END $$;
