-- Conversations that log records name and no span does: their records by the beginning of the id, and the newest of all.
-- An id has any length, an entry of an index has not.
--
-- As in 0007, a table with much data gets an index without its partitions, and the maintenance of the daemon builds them.
DO $$
DECLARE
  added record;
BEGIN
  FOR added IN
    SELECT i.name, i.columns,
      (SELECT sum(pg_table_size(inhrelid)) > 64 * 1024 * 1024 FROM pg_inherits WHERE inhparent = 'sluice.logs'::regclass) AS is_large
    FROM (VALUES
      ('logs_conversation', '(project, left(conversation_id, 128))'),
      ('logs_conversation_time', '(project, coalesce(time_unix_nano, observed_time_unix_nano))')
    ) AS i (name, columns)
  LOOP
    EXECUTE format('CREATE INDEX %I ON %s sluice.logs %s WHERE conversation_id IS NOT NULL', added.name,
      CASE WHEN added.is_large THEN 'ONLY' ELSE '' END, added.columns);
  END LOOP;
END $$;
