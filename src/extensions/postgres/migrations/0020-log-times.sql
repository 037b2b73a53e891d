-- The time of a log record: its own, else that of its observation, else that of its arrival. Senders may leave out both
-- of the first. Lists, exports, conversations and usage go by this time, and the indexes that they read with it.
CREATE FUNCTION sluice.log_ns(time_unix_nano int8, observed_time_unix_nano int8, received_at timestamptz) RETURNS int8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(time_unix_nano, observed_time_unix_nano, (extract(epoch FROM received_at AT TIME ZONE 'UTC') * 1000000)::int8 * 1000)
$$;

-- As in 0007, a table with much data gets an index without its partitions, and the maintenance of the daemon builds them.
-- `logs_untimed` has entries only for records without their own time.
DROP INDEX sluice.logs_observed, sluice.logs_conversation_time, sluice.logs_usage;
DO $$
DECLARE
  added record;
BEGIN
  FOR added IN
    SELECT i.name, i.condition,
      (SELECT sum(pg_table_size(inhrelid)) > 64 * 1024 * 1024 FROM pg_inherits WHERE inhparent = 'sluice.logs'::regclass) AS is_large
    FROM (VALUES
      ('logs_untimed', 'time_unix_nano IS NULL'),
      ('logs_conversation_time', 'conversation_id IS NOT NULL'),
      ('logs_usage', $i$usage_scope = 'own'$i$)
    ) AS i (name, condition)
  LOOP
    EXECUTE format('CREATE INDEX %I ON %s sluice.logs (project, sluice.log_ns(time_unix_nano, observed_time_unix_nano, received_at)) WHERE %s',
      added.name, CASE WHEN added.is_large THEN 'ONLY' ELSE '' END, added.condition);
  END LOOP;
END $$;
