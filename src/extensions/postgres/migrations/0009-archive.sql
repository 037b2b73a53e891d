-- The files of the archive (`sluice archive`), one row for each. The row is made before the file is written, and its id
-- is part of the file's key, so that an interrupted job is repeated under the same key. `token` is also in the file: it
-- shows that a file of this key belongs to this row. The figures are those of the file, after it was read back.
CREATE TABLE sluice.lake_jobs (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  signal text NOT NULL CHECK (signal IN ('spans', 'logs', 'metric_points')),
  day date NOT NULL,
  state text NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'published')),
  token uuid NOT NULL DEFAULT gen_random_uuid(),
  planned_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,
  records int8,
  bytes int8,
  input_tokens numeric,
  output_tokens numeric,
  total_cost numeric,
  ids_sum numeric,
  min_ns int8,
  max_ns int8,
  projects text[],
  CHECK (state = 'planned' OR (published_at IS NOT NULL AND records IS NOT NULL AND bytes IS NOT NULL))
);
CREATE INDEX lake_jobs_day ON sluice.lake_jobs (signal, day);
CREATE UNIQUE INDEX lake_jobs_planned ON sluice.lake_jobs (signal, day) WHERE state = 'planned';

-- One row for each record that was stored in a sealed table, by the trigger `sluice_archive`. The archive seals the
-- partition of a day before it reads it. A day with rows here has records that may not be in a file yet.
CREATE TABLE sluice.lake_late (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  signal text NOT NULL,
  day date NOT NULL
);
CREATE INDEX lake_late_day ON sluice.lake_late (signal, day);

-- The argument is the signal. A table has no column of the other branch, and PL/pgSQL reads only the branch it runs.
CREATE FUNCTION sluice.note_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'spans' THEN
    INSERT INTO sluice.lake_late (signal, day)
    VALUES ('spans', date '1970-01-01' + (NEW.start_time_unix_nano / 86400000000000)::int4);
  ELSE
    INSERT INTO sluice.lake_late (signal, day) VALUES (TG_ARGV[0], (NEW.received_at AT TIME ZONE 'UTC')::date);
  END IF;
  RETURN NULL;
END $$;
