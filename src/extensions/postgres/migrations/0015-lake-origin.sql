-- Where the records of a file come from: the tables (`sluice archive`), or the parts of objects. Only a file of the first kind means that a
-- day of a table is archived.
ALTER TABLE sluice.lake_jobs ADD COLUMN origin text NOT NULL DEFAULT 'tables' CHECK (origin IN ('tables', 'parts'));
DROP INDEX sluice.lake_jobs_planned;
CREATE UNIQUE INDEX lake_jobs_planned ON sluice.lake_jobs (signal, day, origin, coalesce(replaces, 0)) WHERE state = 'planned';
