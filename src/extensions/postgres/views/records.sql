-- Views of the tables, with the same names and with ids in hex. `views` is replaced by the configured schema.
-- Rows of earlier versions have their resource and scope in them, others refer to them. The columns of the
-- catalogue replace a line `-- columns: spans` (view-columns.ts).
CREATE VIEW views.spans AS SELECT
  'span'::text AS signal,
  -- columns: spans
FROM sluice.spans s
LEFT JOIN sluice.resources r ON r.id = s.resource_id
LEFT JOIN sluice.scopes c ON c.id = s.scope_id;

CREATE VIEW views.logs AS SELECT
  'log'::text AS signal,
  -- columns: logs
FROM sluice.logs s
LEFT JOIN sluice.resources r ON r.id = s.resource_id
LEFT JOIN sluice.scopes c ON c.id = s.scope_id;

CREATE VIEW views.metric_points AS SELECT
  'metric'::text AS signal,
  -- columns: metric_points
FROM sluice.metric_points s
LEFT JOIN sluice.resources r ON r.id = s.resource_id
LEFT JOIN sluice.scopes c ON c.id = s.scope_id;

-- Model calls, tool steps and retrievals are spans with most senders and log records with some.
CREATE VIEW views.steps AS
SELECT 'span'::text AS signal, project, environment, service_name, encode(trace_id, 'hex') AS trace_id, encode(span_id, 'hex') AS span_id,
  encode(parent_span_id, 'hex') AS parent_span_id, name, start_time_unix_nano AS time_unix_nano, duration_ns,
  -- columns: derived
FROM sluice.spans WHERE category IS NOT NULL
UNION ALL
SELECT 'log', project, environment, service_name, encode(trace_id, 'hex'), encode(span_id, 'hex'),
  NULL, event_name, sluice.log_ns(time_unix_nano, observed_time_unix_nano, received_at), NULL,
  -- columns: derived
FROM sluice.logs WHERE category IS NOT NULL;

CREATE VIEW views.model_calls AS SELECT * FROM views.steps WHERE category = 'model_call';
CREATE VIEW views.tool_steps AS SELECT * FROM views.steps WHERE category = 'tool_step';
CREATE VIEW views.retrievals AS SELECT * FROM views.steps WHERE category = 'retrieval';

-- Whether a span above this one is a roll-up. The views do not need it any more; queries written for earlier versions
-- may.
CREATE FUNCTION views.has_rollup_above(of_project text, of_trace bytea, parent bytea) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
  above bytea := parent;
  scope text;
BEGIN
  FOR step IN 1..1000 LOOP
    EXIT WHEN above IS NULL;
    SELECT usage_scope, parent_span_id INTO scope, above FROM sluice.spans
    WHERE project = of_project AND trace_id = of_trace AND span_id = above ORDER BY start_time_unix_nano LIMIT 1;
    EXIT WHEN NOT FOUND;
    IF scope = 'rollup' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
