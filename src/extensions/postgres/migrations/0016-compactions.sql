-- Parts whose records become files of the lake together (`sluice compact`). One at a time of each signal is unfinished: an interrupted run
-- repeats it. A part without one is not published yet. The parts and the row are removed some time after the publication; then nothing
-- names their objects any more.
CREATE TABLE sluice.compactions (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  signal text NOT NULL CHECK (signal IN ('spans', 'logs', 'metric_points')),
  planned_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz
);
CREATE UNIQUE INDEX compactions_unfinished ON sluice.compactions (signal) WHERE published_at IS NULL;

ALTER TABLE sluice.parts ADD COLUMN compaction int8;
CREATE INDEX parts_unpublished ON sluice.parts (signal, received_at) WHERE compaction IS NULL;
CREATE INDEX parts_compaction ON sluice.parts (compaction) WHERE compaction IS NOT NULL;
