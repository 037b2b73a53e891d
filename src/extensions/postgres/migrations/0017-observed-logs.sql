-- Log records with the time of their observation only, which lists and exports show among the others.
--
-- As in 0007, a table with much data gets an index without its partitions, and the maintenance of the daemon builds them.
DO $$
BEGIN
  EXECUTE format('CREATE INDEX logs_observed ON %s sluice.logs (project, observed_time_unix_nano) WHERE time_unix_nano IS NULL',
    CASE WHEN (SELECT sum(pg_table_size(inhrelid)) > 64 * 1024 * 1024 FROM pg_inherits WHERE inhparent = 'sluice.logs'::regclass)
      THEN 'ONLY' ELSE '' END);
END $$;
