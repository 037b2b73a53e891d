-- The requests whose records are in objects of the exporter `objects`, one row for each. An object holds several requests, as compressed
-- members one after the other. Only what has a row here was accepted: other bytes of an object belong to requests that were refused or
-- not answered.
CREATE TABLE sluice.parts (
  object_id bytea NOT NULL,
  first_byte int4 NOT NULL,
  bytes int4 NOT NULL,
  codec text NOT NULL CHECK (codec IN ('gzip', 'zstd')),
  signal text NOT NULL CHECK (signal IN ('spans', 'logs', 'metric_points')),
  project text NOT NULL,
  records int4 NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (object_id, first_byte)
);
