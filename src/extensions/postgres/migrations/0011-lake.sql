-- Days that `sluice restore-day` brought back from the archive. Retention keeps them until this time.
CREATE TABLE sluice.lake_restored (
  signal text NOT NULL CHECK (signal IN ('spans', 'logs', 'metric_points')),
  day date NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (signal, day)
);

-- A file whose records were erased in part is replaced by another one, with a job of its own: `replaces` is the former
-- job. The former file is in the state `removed` until it is deleted; then its row is deleted too.
ALTER TABLE sluice.lake_jobs DROP CONSTRAINT lake_jobs_state_check;
ALTER TABLE sluice.lake_jobs ADD CONSTRAINT lake_jobs_state_check CHECK (state IN ('planned', 'published', 'removed'));
ALTER TABLE sluice.lake_jobs ADD COLUMN replaces int8;
DROP INDEX sluice.lake_jobs_planned;
CREATE UNIQUE INDEX lake_jobs_planned ON sluice.lake_jobs (signal, day, coalesce(replaces, 0)) WHERE state = 'planned';

-- Records to erase in the files of the archive, after they were removed here. A row is deleted when no file contains
-- them. Null: all. Records that arrive after the request stay: a project may be made again under its name.
CREATE TABLE sluice.lake_erasures (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  requested_at timestamptz NOT NULL DEFAULT now(),
  project text,
  environment text,
  trace_id text CHECK (trace_id ~ '^[0-9a-f]{32}$'),
  CHECK (num_nonnulls(project, trace_id) > 0)
);
