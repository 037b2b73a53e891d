-- Resources and scopes are stored once for each content, and rows refer to them. `id`: the first 16 bytes of the
-- SHA-256 of kind, project and content as the daemon writes them. `used_on`: a day on which a row that refers to it
-- arrived, by which it is removed long after the last such row. Versions before keep writing resource and scope into
-- the rows themselves; the views show both alike.
CREATE TABLE sluice.resources (
  id bytea PRIMARY KEY,
  project text NOT NULL,
  body jsonb NOT NULL,
  used_on date NOT NULL
);
CREATE INDEX resources_used ON sluice.resources (used_on);

CREATE TABLE sluice.scopes (
  id bytea PRIMARY KEY,
  project text NOT NULL,
  name text,
  version text,
  attributes jsonb,
  used_on date NOT NULL
);
CREATE INDEX scopes_used ON sluice.scopes (used_on);

ALTER TABLE sluice.resources SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE sluice.scopes SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

DO $$
DECLARE
  has_lz4 bool := EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals));
  large text[];
BEGIN
  FOREACH large SLICE 1 IN ARRAY ARRAY[['resources', 'body'], ['scopes', 'attributes']] LOOP
    EXECUTE format('ALTER TABLE sluice.%I ALTER COLUMN %I %s', large[1], large[2],
      CASE WHEN has_lz4 THEN 'SET COMPRESSION lz4' ELSE 'SET STORAGE EXTERNAL' END);
  END LOOP;
END $$;

-- A copy of the default partition that is under way has the former columns: its run fails and begins again.
DROP TRIGGER IF EXISTS mirror ON sluice.spans_default;
DROP TABLE IF EXISTS sluice.spans_next;

-- No table is rewritten or read: this takes as long for a million rows as for none.
ALTER TABLE sluice.spans ADD COLUMN resource_id bytea, ADD COLUMN scope_id bytea, ALTER COLUMN resource DROP NOT NULL;
ALTER TABLE sluice.logs ADD COLUMN resource_id bytea, ADD COLUMN scope_id bytea, ALTER COLUMN resource DROP NOT NULL;
ALTER TABLE sluice.metric_points ADD COLUMN resource_id bytea, ADD COLUMN scope_id bytea, ALTER COLUMN resource DROP NOT NULL;
