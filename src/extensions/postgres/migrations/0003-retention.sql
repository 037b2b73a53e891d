-- A claim on a trace id ends when nothing of the trace is stored any more. Records, not times, decide: a clock of 2100, log records
-- without spans and spans that came late would all fool a comparison with `last_ns`.
CREATE FUNCTION sluice.is_empty_trace(of_project text, of_trace bytea, first_ns int8, last_ns int8) RETURNS bool
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (
      SELECT FROM sluice.spans
      WHERE project = of_project AND trace_id = of_trace AND start_time_unix_nano BETWEEN first_ns AND last_ns)
    AND NOT EXISTS (SELECT FROM sluice.logs WHERE trace_id = of_trace AND project = of_project);
END $$;

-- Looks at `most` traces made before `moment` that are empty, and returns how many it found. A trace that a request is claiming at
-- this moment is locked by it, and passed over; one that was claimed between the two statements is no longer empty in the second.
CREATE FUNCTION sluice.expire_traces(moment timestamptz, most int4) RETURNS int4 LANGUAGE plpgsql AS $$
DECLARE
  found bytea[];
BEGIN
  found := ARRAY(
    SELECT trace_id FROM sluice.traces
    WHERE created_at < moment AND sluice.is_empty_trace(project, trace_id, first_ns, last_ns)
    ORDER BY created_at LIMIT most FOR UPDATE SKIP LOCKED);
  DELETE FROM sluice.traces
  WHERE trace_id = ANY (found) AND sluice.is_empty_trace(project, trace_id, first_ns, last_ns);
  RETURN cardinality(found);
END $$;
