-- Indexes that begin with a column of many values: comparisons of keys then rarely read a second one, and the project
-- is the same in most of them. `spans_identity` replaces the primary key, `spans_by_conversation` and
-- `spans_by_response` the indexes of a similar name.
--
-- As in 0007, a table with much data gets an index without its partitions, and the maintenance of the daemon builds
-- them. It then drops the former indexes (exporters/postgres/indexes.ts).
DO $$
DECLARE
  is_large bool := (SELECT sum(pg_table_size(inhrelid)) > 64 * 1024 * 1024 FROM pg_inherits WHERE inhparent = 'sluice.spans'::regclass);
  place text := CASE WHEN is_large THEN 'ONLY sluice.spans' ELSE 'sluice.spans' END;
BEGIN
  EXECUTE format('CREATE UNIQUE INDEX spans_identity ON %s (trace_id, span_id, project, start_time_unix_nano)', place);
  EXECUTE format('CREATE INDEX spans_by_conversation ON %s (left(conversation_id, 128), project) WHERE conversation_id IS NOT NULL', place);
  EXECUTE format('CREATE INDEX spans_by_response ON %s (left(response_id, 128), project)
    WHERE usage_scope IS NOT NULL AND response_id IS NOT NULL', place);
  IF NOT is_large THEN
    ALTER TABLE sluice.spans DROP CONSTRAINT spans_pkey;
    DROP INDEX sluice.spans_conversation, sluice.spans_response;
  END IF;
END $$;
