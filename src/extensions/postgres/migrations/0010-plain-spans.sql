-- COPY leaves these columns out when no span of a request has anything in them, so that the server need not parse the
-- empty lists of each row. Versions before write the same values themselves.
ALTER TABLE sluice.spans
  ALTER COLUMN events SET DEFAULT '[]',
  ALTER COLUMN links SET DEFAULT '[]',
  ALTER COLUMN dropped_attributes_count SET DEFAULT 0,
  ALTER COLUMN dropped_events_count SET DEFAULT 0,
  ALTER COLUMN dropped_links_count SET DEFAULT 0;

-- Short texts need no attempt at compression when a row with large contents is stored: that goes through all columns
-- once for each of them. A text that does not fit into a page is still moved out of the row.
DO $$
DECLARE
  short record;
BEGIN
  FOR short IN
    SELECT t.relname, a.attname FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid
    WHERE t.oid IN ('sluice.spans'::regclass, 'sluice.logs'::regclass) AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attstorage = 'x' AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
      AND a.attname NOT IN ('input_content', 'output_content', 'system_instructions', 'tool_arguments', 'tool_result',
        'retrieval_query', 'retrieval_documents', 'status_message')
  LOOP
    EXECUTE format('ALTER TABLE sluice.%I ALTER COLUMN %I SET STORAGE MAIN', short.relname, short.attname);
  END LOOP;
END $$;
