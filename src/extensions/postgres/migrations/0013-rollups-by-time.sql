-- Roll-ups of a time: `other_usage_between` of views.sql looks for them before it reads any. In `spans_usage` they lie
-- between all calls.
--
-- As in 0007, a table with much data gets an index without its partitions, and the maintenance of the daemon builds them.
DO $$
BEGIN
  EXECUTE format($i$CREATE INDEX spans_rollup ON %s sluice.spans (project, start_time_unix_nano) WHERE usage_scope = 'rollup'$i$,
    CASE WHEN (SELECT sum(pg_table_size(inhrelid)) > 64 * 1024 * 1024 FROM pg_inherits WHERE inhparent = 'sluice.spans'::regclass)
      THEN 'ONLY' ELSE '' END);
END $$;
