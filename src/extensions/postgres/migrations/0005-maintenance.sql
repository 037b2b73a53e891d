-- What maintenance remembers between two runs: how far it got, and what it saw of the clock.
CREATE TABLE sluice.maintenance_state (
  name text PRIMARY KEY,
  state jsonb NOT NULL
);
INSERT INTO sluice.maintenance_state VALUES ('expire_traces', '{}');

-- OFFSET 0 keeps the planner from joining whole tables: each look goes through the indexes of the days in question.
CREATE FUNCTION sluice.empty_traces(of_traces bytea[]) RETURNS SETOF bytea LANGUAGE sql VOLATILE AS $$
  SELECT t.trace_id FROM sluice.traces t
  WHERE t.trace_id = ANY (of_traces)
    AND NOT EXISTS (
      SELECT FROM sluice.spans s
      WHERE s.project = t.project AND s.trace_id = t.trace_id AND s.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns OFFSET 0)
    AND NOT EXISTS (SELECT FROM sluice.logs l WHERE l.trace_id = t.trace_id AND l.project = t.project OFFSET 0)
  FOR UPDATE OF t SKIP LOCKED
$$;

-- Removes the claims on traces of which nothing is stored any more, until `budget_ms` is over or `most` are removed. Only traces made
-- before the UTC day of `moment` are looked at: the records of that day are dropped with the whole day, so not yet. A call goes on
-- where the last one stopped, so a trace that still has records costs one look in each pass. `done`: the pass is at its end, or another
-- session is at it. A trace that a request claims at the same time is locked, and passed over. One that was claimed between the two
-- questions is no longer empty at the second one, which also locks it.
CREATE FUNCTION sluice.expire_traces_for(moment timestamptz, budget_ms int4, most int4, OUT removed int4, OUT done bool)
LANGUAGE plpgsql AS $$
DECLARE
  deadline timestamptz := clock_timestamp() + budget_ms * interval '1 millisecond';
  day timestamptz := date_trunc('day', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  place timestamptz;
  passed int8; -- Traces made at `place` that this pass has looked at and kept.
  looked record;
  gone record;
BEGIN
  removed := 0;
  done := true;
  SELECT coalesce((state ->> 'created_at')::timestamptz, '-infinity'), coalesce((state ->> 'passed')::int8, 0) INTO place, passed
  FROM sluice.maintenance_state WHERE name = 'expire_traces' FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  LOOP
    SELECT array_agg(t.trace_id) AS ids, max(t.created_at) AS latest, count(*) FILTER (WHERE t.created_at = t.latest) AS at_latest
    INTO looked FROM (
      SELECT trace_id, created_at, max(created_at) OVER () AS latest FROM (
        SELECT trace_id, created_at FROM sluice.traces WHERE created_at >= place AND created_at < day
        ORDER BY created_at OFFSET passed LIMIT 500) batch) t;
    done := looked.ids IS NULL;
    EXIT WHEN done;
    looked.ids := ARRAY(SELECT sluice.empty_traces(looked.ids));
    WITH removal AS (
      DELETE FROM sluice.traces WHERE trace_id IN (SELECT sluice.empty_traces(looked.ids)) RETURNING created_at)
    SELECT count(*) AS traces, count(*) FILTER (WHERE created_at = looked.latest) AS at_latest INTO gone FROM removal;
    removed := removed + gone.traces;
    passed := CASE WHEN looked.latest = place THEN passed ELSE 0 END + looked.at_latest - gone.at_latest;
    place := looked.latest;
    EXIT WHEN removed >= most OR clock_timestamp() > deadline;
  END LOOP;
  UPDATE sluice.maintenance_state
  SET state = CASE WHEN done THEN '{}' ELSE jsonb_build_object('created_at', place, 'passed', passed) END WHERE name = 'expire_traces';
END $$;

-- The form that daemons of the previous version call.
CREATE OR REPLACE FUNCTION sluice.expire_traces(moment timestamptz, most int4) RETURNS int4 LANGUAGE sql AS $$
  SELECT removed FROM sluice.expire_traces_for(moment, 1000, most)
$$;

-- The row of usage_months that counts now. Each commit makes a new version of it, and while a snapshot is open (pg_dump, a long query)
-- no version can be removed. An ordinary search then walks over all of them. Entries of equal keys are ordered by place, and new
-- versions are put behind the old ones: a backward search finds the newest at once. A comparison of rows keeps the order: with
-- equalities the planner would drop it.
CREATE FUNCTION sluice.newest_usage(of_project text, of_month date, OUT place tid, OUT spans int8) LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  SELECT m.ctid AS place, m.project, m.month, m.spans INTO found FROM sluice.usage_months m
  WHERE (m.project, m.month) <= (of_project, of_month) ORDER BY m.project DESC, m.month DESC LIMIT 1 FOR UPDATE;
  IF found.project = of_project AND found.month = of_month THEN
    place := found.place;
    spans := found.spans;
  END IF;
END $$;

-- Locks the counters of this month, in the order of the projects, and tells the spans of each. Counters that are missing are made.
CREATE FUNCTION sluice.lock_usage(of_projects text[]) RETURNS TABLE (project text, spans int8) LANGUAGE plpgsql AS $$
DECLARE
  this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
BEGIN
  FOR project IN SELECT u.name FROM unnest(of_projects) AS u (name) ORDER BY u.name LOOP
    SELECT n.spans INTO spans FROM sluice.newest_usage(project, this_month) n;
    IF spans IS NULL THEN
      INSERT INTO sluice.usage_months (project, month) VALUES (lock_usage.project, this_month) ON CONFLICT DO NOTHING;
      SELECT m.spans INTO STRICT spans FROM sluice.usage_months m
      WHERE m.project = lock_usage.project AND m.month = this_month FOR UPDATE;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Adds to the counters of this month, in the order of the projects.
CREATE FUNCTION sluice.add_usage(of_projects text[], of_spans int8[], of_logs int8[], of_points int8[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
  more record;
  place tid;
BEGIN
  FOR more IN
    SELECT * FROM unnest(of_projects, of_spans, of_logs, of_points) AS u (project, spans, logs, points) ORDER BY project
  LOOP
    -- A statement of its own: what was locked last may be newer than what the first statement could see.
    SELECT n.place INTO place FROM sluice.newest_usage(more.project, this_month) n;
    UPDATE sluice.usage_months m
    SET spans = m.spans + more.spans, logs = m.logs + more.logs, metric_points = m.metric_points + more.points
    WHERE m.ctid = place;
    CONTINUE WHEN FOUND;
    INSERT INTO sluice.usage_months AS m (project, month, spans, logs, metric_points)
    VALUES (more.project, this_month, more.spans, more.logs, more.points)
    ON CONFLICT (project, month) DO UPDATE
    SET spans = m.spans + excluded.spans, logs = m.logs + excluded.logs, metric_points = m.metric_points + excluded.metric_points;
  END LOOP;
END $$;

-- Keeps `spans_next` equal to the default partition while its rows are copied there (exporters/postgres/rewrite.ts).
CREATE FUNCTION sluice.mirror_default_span() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM sluice.spans_next
    WHERE project = OLD.project AND trace_id = OLD.trace_id AND span_id = OLD.span_id
      AND start_time_unix_nano = OLD.start_time_unix_nano;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO sluice.spans_next SELECT NEW.* ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE INDEX logs_default_received ON sluice.logs_default (received_at);
CREATE INDEX metric_points_default_received ON sluice.metric_points_default (received_at);

-- Small rows that change often, or tables where a fifth of all rows is millions.
ALTER TABLE sluice.usage_months SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE sluice.replay_markers SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.1);
ALTER TABLE sluice.traces SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.1);
