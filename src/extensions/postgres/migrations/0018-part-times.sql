-- What a reader of objects must know about a part: the outermost times of its records, about and in nanoseconds, and whether the tables
-- have the records too. Null: unknown, of an earlier version. `in_tables` of a file: of all its parts.
ALTER TABLE sluice.parts
  ADD COLUMN first_ns int8,
  ADD COLUMN last_ns int8,
  ADD COLUMN in_tables boolean NOT NULL DEFAULT false;
ALTER TABLE sluice.lake_jobs ADD COLUMN in_tables boolean NOT NULL DEFAULT false;
