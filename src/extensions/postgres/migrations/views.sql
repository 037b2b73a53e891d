-- What people query: the tables under their plain names, ids in hex. `views` stands for the configured schema.
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

-- Every token and every dollar once: one row for each call, or sum over calls, that counts. The comments on views below
-- say what each is made for; all are narrowed to a project and a trace before they are computed. `call_key`: records
-- with the same key report one call.

-- Spans with usage of their own, repetitions included. Spans of one trace with the same `call_key` report one call.
CREATE VIEW views.usage_spans AS
SELECT project, environment, trace_id, start_time_unix_nano AS time_unix_nano, provider, coalesce(response_model, request_model) AS model,
  conversation_id, user_id, agent_name, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens,
  reasoning_tokens, input_cost, output_cost, total_cost, cost_source, response_id, span_id, service_name, latency_ms,
  time_to_first_token_ms, is_error,
  coalesce(
    'call ' || CASE dialect WHEN 'google-adk' THEN attributes ->> 'gcp.vertex.agent.event_id' END,
    -- The client of Anthropic reports what an instrumentation above it reports, and the platform what the client reports. Within an
    -- hour, so that only the partitions of that time are searched for each call.
    CASE WHEN dialect = 'anthropic-native' THEN (
      SELECT coalesce('response ' || a.response_id, 'span ' || encode(a.span_id, 'hex')) FROM sluice.spans a
      WHERE a.project = s.project AND a.trace_id = s.trace_id AND a.span_id = s.parent_span_id
        AND a.start_time_unix_nano >= s.start_time_unix_nano - 3600000000000
        AND a.start_time_unix_nano <= least(s.start_time_unix_nano, 9223372036854775807 - 3600000000000) + 3600000000000
        AND a.usage_scope = 'own' AND a.category = 'model_call'
        AND (a.dialect IS DISTINCT FROM s.dialect OR a.attributes ->> 'anthropic.request.id' = s.attributes ->> 'anthropic.request.id')
      ORDER BY a.start_time_unix_nano LIMIT 1) END,
    'response ' || response_id, 'span ' || encode(span_id, 'hex')) AS call_key
FROM sluice.spans s WHERE usage_scope = 'own';

-- Calls that log records report, repetitions included. Records of one project with the same `call_key` report one call.
-- `standing` has all columns, or which of two records counts would be decided by which came first.
CREATE VIEW views.usage_records AS
SELECT project, environment, trace_id, sluice.log_ns(time_unix_nano, observed_time_unix_nano, received_at) AS time_unix_nano, provider,
  coalesce(response_model, request_model) AS model, conversation_id, user_id, agent_name, input_tokens, output_tokens, total_tokens,
  cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost, cost_source, response_id, span_id,
  service_name, latency_ms, time_to_first_token_ms, is_error,
  coalesce('response ' || response_id, 'record ' || l.tableoid || ' ' || l.ctid) AS call_key,
  l.tableoid || ' ' || l.ctid AS record_id,
  ROW(trace_id, span_id, environment, provider, response_model, request_model, conversation_id, user_id, agent_name, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, cost_source, l.tableoid, l.ctid
  )::text AS standing,
  dialect
FROM sluice.logs l WHERE usage_scope = 'own';

-- Those that spans do not report too: by the response id, by the span that the record names, or because the sender reports
-- every call on spans and does so in this trace.
CREATE VIEW views.usage_logs AS
SELECT * FROM views.usage_records l
WHERE NOT EXISTS (
    SELECT FROM sluice.spans s WHERE s.project = l.project AND left(s.response_id, 128) = left(l.response_id, 128)
      AND s.response_id = l.response_id AND s.usage_scope IS NOT NULL)
  AND NOT EXISTS (
    SELECT FROM sluice.spans s WHERE s.project = l.project AND s.trace_id = l.trace_id AND s.span_id = l.span_id AND s.usage_scope = 'own')
  AND NOT EXISTS (
    SELECT FROM sluice.spans s WHERE s.project = l.project AND s.trace_id = l.trace_id AND s.dialect = l.dialect
      AND s.dialect IN ('codex', 'copilot', 'gemini-cli', 'qwen-code') AND s.usage_scope IS NOT NULL);

-- The roll-ups of one trace that count, by the ids, parents and roles of its spans: 'rollup', 'call', 'model call' or null.
-- Each span is visited once in each direction. A recursive query reads all spans for each level, and a chain of calls can
-- have any depth. Ids are replaced by numbers; 0 is none.
CREATE FUNCTION views.counting_rollups(ids bytea[], parents bytea[], roles text[]) RETURNS bytea[] LANGUAGE plpgsql IMMUTABLE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  -- The spans by id: `places` are their positions in the parameters.
  id_of int[];
  parent_of int[];
  role_of text[];
  places int[];
  -- The spans by parent.
  child_of int[];
  above_of int[];
  total int := cardinality(ids);
  first_row int[] := array_fill(0, ARRAY[2 * total]);
  first_child int[] := first_row;
  is_covered bool[] := array_fill(false, ARRAY[2 * total]);
  is_blocked bool[] := is_covered;
  is_opened bool[] := is_covered;
  stack int[] := first_row;
  height int := 0;
  counting int[] := '{}';
  id int;
  near int;
  i int;
BEGIN
  SELECT array_agg(n.id ORDER BY n.id, n.place), array_agg(n.parent ORDER BY n.id, n.place), array_agg(n.role ORDER BY n.id, n.place),
    array_agg(n.place ORDER BY n.id, n.place), array_agg(n.id ORDER BY n.parent, n.place), array_agg(n.parent ORDER BY n.parent, n.place)
  INTO id_of, parent_of, role_of, places, child_of, above_of
  FROM (
    SELECT v.place::int, max(v.number) FILTER (WHERE NOT v.is_parent) AS id, max(v.number) FILTER (WHERE v.is_parent) AS parent, max(v.role) AS role
    FROM (
      SELECT e.place, e.is_parent, e.role, CASE WHEN e.name IS NULL THEN 0 ELSE dense_rank() OVER (ORDER BY e.name)::int END AS number FROM (
        SELECT place, false AS is_parent, name, role FROM unnest(ids, roles) WITH ORDINALITY AS u (name, role, place)
        UNION ALL SELECT place, true, name, NULL FROM unnest(parents) WITH ORDINALITY AS u (name, place)
      ) e
    ) v GROUP BY v.place
  ) n;
  FOR i IN REVERSE total..1 LOOP
    IF id_of[i] > 0 THEN first_row[id_of[i]] := i; END IF;
    IF above_of[i] > 0 THEN first_child[above_of[i]] := i; END IF;
  END LOOP;

  -- Upwards from calls.
  FOR i IN 1..total LOOP
    near := parent_of[i];
    IF near > 0 AND role_of[i] IN ('call', 'model call') AND NOT is_covered[near] THEN
      is_covered[near] := true;
      height := height + 1;
      stack[height] := near;
    END IF;
  END LOOP;
  WHILE height > 0 LOOP
    id := stack[height];
    height := height - 1;
    i := first_row[id];
    WHILE i > 0 AND id_of[i] = id LOOP
      near := parent_of[i];
      IF near > 0 AND NOT is_covered[near] THEN
        is_covered[near] := true;
        height := height + 1;
        stack[height] := near;
      END IF;
      i := i + 1;
    END LOOP;
  END LOOP;

  -- Downwards from model calls, and from roll-ups without a call below them.
  FOR i IN 1..total LOOP
    id := id_of[i];
    IF id > 0 AND NOT is_opened[id] AND (role_of[i] = 'model call' OR role_of[i] = 'rollup' AND NOT is_covered[id]) THEN
      is_opened[id] := true;
      height := height + 1;
      stack[height] := id;
    END IF;
  END LOOP;
  WHILE height > 0 LOOP
    id := stack[height];
    height := height - 1;
    i := first_child[id];
    WHILE i > 0 AND above_of[i] = id LOOP
      near := child_of[i];
      IF near > 0 THEN
        is_blocked[near] := true;
        IF NOT is_opened[near] THEN
          is_opened[near] := true;
          height := height + 1;
          stack[height] := near;
        END IF;
      END IF;
      i := i + 1;
    END LOOP;
  END LOOP;

  FOR i IN 1..total LOOP
    IF role_of[i] = 'rollup' AND NOT is_covered[id_of[i]] AND NOT is_blocked[id_of[i]] THEN counting := counting || places[i]; END IF;
  END LOOP;
  RETURN ARRAY(SELECT u.id FROM unnest(ids) WITH ORDINALITY AS u (id, place) WHERE (u.place IN (SELECT unnest(counting))) IS TRUE);
END $$;

-- Roll-ups that count: neither anything below them nor a model call above them has usage of its own; of nested ones the
-- topmost. Inside are the spans of a trace with roll-ups that the first look does not decide, as arrays. Calls of log
-- records are leaves.
CREATE VIEW views.usage_rollups AS
SELECT DISTINCT ON (s.project, s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')))
  s.project, s.environment, s.trace_id, s.start_time_unix_nano AS time_unix_nano, s.provider,
  coalesce(s.response_model, s.request_model) AS model, s.conversation_id, s.user_id, s.agent_name, s.input_tokens, s.output_tokens,
  s.total_tokens, s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.input_cost, s.output_cost, s.total_cost, s.cost_source,
  s.response_id, s.span_id, s.service_name, s.latency_ms, s.time_to_first_token_ms, s.is_error
FROM (
  SELECT project, trace_id, views.counting_rollups(array_agg(span.id), array_agg(span.parent), array_agg(span.role)) AS span_ids
  FROM (
    SELECT project, trace_id, span_id AS id, nullif(parent_span_id, span_id) AS parent,
      CASE WHEN usage_scope = 'rollup' THEN 'rollup' WHEN usage_scope = 'own' AND category = 'model_call' THEN 'model call'
        WHEN usage_scope = 'own' THEN 'call' END AS role
    FROM sluice.spans
    UNION ALL
    SELECT project, trace_id, NULL, span_id, 'call' FROM views.usage_logs WHERE span_id IS NOT NULL
  ) AS span
  -- A roll-up without a call directly below it: of the spans with usage, by their parent or as it, only roll-ups.
  WHERE (project, trace_id) IN (
    SELECT r.project, r.trace_id FROM (
      SELECT project, trace_id FROM sluice.spans WHERE usage_scope IN ('rollup', 'own')
      GROUP BY project, trace_id, CASE usage_scope WHEN 'rollup' THEN span_id ELSE parent_span_id END HAVING bool_and(usage_scope = 'rollup')
    ) r)
  GROUP BY project, trace_id
) t
JOIN sluice.spans s ON s.project = t.project AND s.trace_id = t.trace_id AND s.span_id = ANY (t.span_ids) AND s.usage_scope = 'rollup'
ORDER BY s.project, s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')),
  s.total_tokens DESC NULLS LAST, s.total_cost DESC NULLS LAST, s.start_time_unix_nano, s.span_id;

-- What spans count: of several reports of one call the best.
CREATE VIEW views.counted_spans AS
SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens, output_tokens,
  total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost, cost_source, response_id,
  'span' AS signal, span_id, service_name, latency_ms, time_to_first_token_ms, is_error
FROM (
  SELECT DISTINCT ON (project, trace_id, call_key) * FROM views.usage_spans
  ORDER BY project, trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
) s
UNION ALL
SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens, output_tokens,
  total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost, cost_source, response_id,
  'span', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
FROM views.usage_rollups;

CREATE VIEW views.counted_usage AS
SELECT * FROM views.counted_spans
UNION ALL
SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens, output_tokens,
  total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost, cost_source, response_id,
  'log', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
FROM (
  SELECT DISTINCT ON (project, call_key) * FROM views.usage_logs
  ORDER BY project, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, standing
) l;

-- The same rows, made for single traces: records with the same response id in other traces are found by an index.
-- `counted_usage` has to read all log records of a project.
CREATE VIEW views.trace_usage AS
SELECT * FROM views.counted_spans
UNION ALL
SELECT l.project, l.environment, l.trace_id, l.time_unix_nano, l.provider, l.model, l.conversation_id, l.user_id, l.agent_name,
  l.input_tokens, l.output_tokens, l.total_tokens, l.cache_read_tokens, l.cache_write_tokens, l.reasoning_tokens, l.input_cost,
  l.output_cost, l.total_cost, l.cost_source, l.response_id, 'log', l.span_id, l.service_name, l.latency_ms, l.time_to_first_token_ms,
  l.is_error
FROM (
  SELECT DISTINCT ON (project, trace_id, call_key) * FROM views.usage_logs
  ORDER BY project, trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, standing
) l
LEFT JOIN LATERAL (
  SELECT o.record_id FROM views.usage_logs o
  WHERE o.project = l.project AND left(o.response_id, 128) = left(l.response_id, 128) AND o.response_id = l.response_id
  ORDER BY o.total_tokens DESC NULLS LAST, o.total_cost DESC NULLS LAST, o.time_unix_nano, o.standing LIMIT 1
) best ON true
WHERE l.response_id IS NULL OR best.record_id = l.record_id;

-- `trace_usage WHERE project = of_project AND trace_id = ANY (of_traces)`, with work in proportion to the records of these
-- traces and of their response ids. In the view each trace reads all records with its response ids, and nested loops
-- compare all records of a trace with all its spans. Here each key is looked up once, and the results are hashed
-- subplans: `IS NOT TRUE` keeps the planner from making them joins, and OFFSET 0 does the same for EXISTS. A condition with
-- `coalesce` cannot be met by an index of all usage of the project. Plans are kept for the session.
-- It reads with the rights of its owner, as the views do, so only roles with EXECUTE may call it.
CREATE FUNCTION views.trace_usage_of(of_project text, of_traces bytea[]) RETURNS TABLE (
  project text, environment text, trace_id bytea, time_unix_nano int8, provider text, model text, conversation_id text, user_id text,
  agent_name text, input_tokens int8, output_tokens int8, total_tokens int8, cache_read_tokens int8, cache_write_tokens int8,
  reasoning_tokens int8, input_cost numeric, output_cost numeric, total_cost numeric, cost_source text, response_id text, signal text,
  span_id bytea, service_name text, latency_ms float8, time_to_first_token_ms float8, is_error bool
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET work_mem = '32MB' AS $$
#variable_conflict use_column
DECLARE
  lowest_ns int8;
  highest_ns int8;
  -- Traces with a roll-up that no call is directly below.
  rollup_traces bytea[];
  has_records bool;
  prefixes text[];
  -- What spans report too: responses, spans that records name, and dialects of traces.
  reported_ids text[];
  own_traces bytea[];
  own_spans bytea[];
  dialect_traces bytea[];
  dialects text[];
  counting_traces bytea[];
  counting_spans bytea[];
BEGIN
  SELECT min(t.first_ns), max(t.last_ns) INTO lowest_ns, highest_ns FROM sluice.traces t
  WHERE t.project = of_project AND t.trace_id = ANY (of_traces);
  RETURN QUERY
    SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
      output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
      cost_source, response_id, 'span', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
    FROM (
      SELECT DISTINCT ON (trace_id, call_key) * FROM views.usage_spans
      WHERE project = of_project AND trace_id = ANY (of_traces) AND time_unix_nano BETWEEN lowest_ns AND highest_ns
      ORDER BY trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
    ) s;

  -- Most traces have no roll-up, which an index shows.
  SELECT array_agg(DISTINCT s.trace_id) INTO rollup_traces FROM sluice.spans s
  WHERE s.project = of_project AND s.trace_id = ANY (of_traces) AND s.start_time_unix_nano BETWEEN lowest_ns AND highest_ns
    AND s.usage_scope = 'rollup';
  IF rollup_traces IS NOT NULL THEN
    SELECT array_agg(DISTINCT r.trace_id) INTO rollup_traces FROM (
      SELECT s.trace_id FROM sluice.spans s
      WHERE s.project = of_project AND s.trace_id = ANY (rollup_traces) AND s.start_time_unix_nano BETWEEN lowest_ns AND highest_ns
        AND s.usage_scope IN ('rollup', 'own')
      GROUP BY s.trace_id, CASE s.usage_scope WHEN 'rollup' THEN s.span_id ELSE s.parent_span_id END HAVING bool_and(s.usage_scope = 'rollup')
    ) r;
  END IF;
  SELECT count(*) > 0, array_agg(DISTINCT left(l.response_id, 128)) FILTER (WHERE l.response_id IS NOT NULL) INTO has_records, prefixes
  FROM sluice.logs l WHERE l.project = of_project AND l.trace_id = ANY (of_traces) AND l.usage_scope = 'own';

  IF has_records THEN
    -- An index has the beginning of an id. Of a short id that is all; ids that share a long one are read once.
    SELECT array_agg(d.response_id) INTO reported_ids FROM (
      SELECT DISTINCT l.response_id FROM sluice.logs l WHERE l.project = of_project AND left(l.response_id, 128) = ANY (prefixes)
        AND l.response_id IS NOT NULL AND l.usage_scope = 'own'
    ) d WHERE CASE WHEN length(d.response_id) < 128 THEN EXISTS (
        SELECT FROM sluice.spans s WHERE s.project = of_project AND left(s.response_id, 128) = d.response_id
          AND s.response_id IS NOT NULL AND s.usage_scope IS NOT NULL OFFSET 0)
      ELSE (d.response_id IN (
        SELECT s.response_id FROM sluice.spans s WHERE s.project = of_project AND left(s.response_id, 128) = ANY (prefixes)
          AND length(s.response_id) >= 128 AND s.usage_scope IS NOT NULL)) IS TRUE END;
    SELECT array_agg(d.trace_id), array_agg(d.span_id) INTO own_traces, own_spans FROM (
      SELECT l.trace_id, l.span_id FROM views.usage_records l
      WHERE l.project = of_project AND l.trace_id = ANY (of_traces) AND l.span_id IS NOT NULL
      UNION SELECT l.trace_id, l.span_id FROM views.usage_records l WHERE l.project = of_project
        AND left(l.response_id, 128) = ANY (prefixes) AND l.response_id IS NOT NULL AND l.span_id IS NOT NULL
    ) d WHERE EXISTS (SELECT FROM sluice.spans s
      WHERE s.project = of_project AND s.trace_id = d.trace_id AND s.span_id = d.span_id AND coalesce(s.usage_scope, '') = 'own' OFFSET 0);
    SELECT array_agg(d.trace_id), array_agg(d.dialect) INTO dialect_traces, dialects FROM (
      SELECT l.trace_id, l.dialect FROM views.usage_records l
      WHERE l.project = of_project AND l.trace_id = ANY (of_traces)
      UNION SELECT l.trace_id, l.dialect FROM views.usage_records l WHERE l.project = of_project
        AND left(l.response_id, 128) = ANY (prefixes) AND l.response_id IS NOT NULL
    ) d WHERE d.dialect IN ('codex', 'copilot', 'gemini-cli', 'qwen-code') AND EXISTS (SELECT FROM sluice.spans s
      WHERE s.project = of_project AND s.trace_id = d.trace_id AND s.dialect = d.dialect AND coalesce(s.usage_scope, '') <> '' OFFSET 0);
    RETURN QUERY
      SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
      output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
      cost_source, response_id, 'log', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
      FROM (
        SELECT DISTINCT ON (call_key) * FROM (
          SELECT * FROM views.usage_records WHERE project = of_project AND trace_id = ANY (of_traces) AND response_id IS NULL
          UNION ALL
          SELECT * FROM views.usage_records
          WHERE project = of_project AND left(response_id, 128) = ANY (prefixes) AND response_id IS NOT NULL
        ) l
        WHERE (l.response_id IN (SELECT unnest(reported_ids))) IS NOT TRUE
          AND ((l.trace_id, l.span_id) IN (SELECT * FROM unnest(own_traces, own_spans))) IS NOT TRUE
          AND ((l.trace_id, l.dialect) IN (SELECT * FROM unnest(dialect_traces, dialects))) IS NOT TRUE
        ORDER BY call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, standing
      ) l WHERE l.trace_id = ANY (of_traces);
  END IF;

  IF rollup_traces IS NULL THEN RETURN; END IF;
  SELECT array_agg(t.trace_id), array_agg(t.id) INTO counting_traces, counting_spans FROM (
    SELECT span.trace_id, unnest(views.counting_rollups(array_agg(span.id), array_agg(span.parent), array_agg(span.role))) AS id
    FROM (
      SELECT s.trace_id, s.span_id AS id, nullif(s.parent_span_id, s.span_id) AS parent,
        CASE WHEN s.usage_scope = 'rollup' THEN 'rollup' WHEN s.usage_scope = 'own' AND s.category = 'model_call' THEN 'model call'
          WHEN s.usage_scope = 'own' THEN 'call' END AS role
      FROM sluice.spans s
      WHERE s.project = of_project AND s.trace_id = ANY (rollup_traces) AND s.start_time_unix_nano BETWEEN lowest_ns AND highest_ns
      UNION ALL
      SELECT l.trace_id, NULL, l.span_id, 'call' FROM views.usage_records l
      WHERE has_records AND l.project = of_project AND l.trace_id = ANY (rollup_traces) AND l.span_id IS NOT NULL
        AND (l.response_id IN (SELECT unnest(reported_ids))) IS NOT TRUE
        AND ((l.trace_id, l.span_id) IN (SELECT * FROM unnest(own_traces, own_spans))) IS NOT TRUE
        AND ((l.trace_id, l.dialect) IN (SELECT * FROM unnest(dialect_traces, dialects))) IS NOT TRUE
    ) span GROUP BY span.trace_id
  ) t;
  RETURN QUERY
    SELECT DISTINCT ON (s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')))
      s.project, s.environment, s.trace_id, s.start_time_unix_nano, s.provider, coalesce(s.response_model, s.request_model),
      s.conversation_id, s.user_id, s.agent_name, s.input_tokens, s.output_tokens, s.total_tokens, s.cache_read_tokens,
      s.cache_write_tokens, s.reasoning_tokens, s.input_cost, s.output_cost, s.total_cost, s.cost_source, s.response_id, 'span',
      s.span_id, s.service_name, s.latency_ms, s.time_to_first_token_ms, s.is_error
    FROM sluice.spans s
    WHERE s.project = of_project AND s.trace_id = ANY (rollup_traces) AND s.start_time_unix_nano BETWEEN lowest_ns AND highest_ns
      AND s.usage_scope = 'rollup' AND ((s.trace_id, s.span_id) IN (SELECT * FROM unnest(counting_traces, counting_spans))) IS TRUE
    ORDER BY s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')),
      s.total_tokens DESC NULLS LAST, s.total_cost DESC NULLS LAST, s.start_time_unix_nano, s.span_id;
END $$;
REVOKE EXECUTE ON FUNCTION views.trace_usage_of FROM PUBLIC;

-- `counted_usage_between` without the spans with usage of their own: roll-ups and log records. A part without rows is not
-- planned: planning it takes longer than the search for its rows. EXECUTE, rights and times are as there.
CREATE FUNCTION views.other_usage_between(of_project text, from_ns int8, until_ns int8) RETURNS TABLE (
  project text, environment text, trace_id bytea, time_unix_nano int8, provider text, model text, conversation_id text, user_id text,
  agent_name text, input_tokens int8, output_tokens int8, total_tokens int8, cache_read_tokens int8, cache_write_tokens int8,
  reasoning_tokens int8, input_cost numeric, output_cost numeric, total_cost numeric, cost_source text, response_id text, signal text,
  span_id bytea, service_name text, latency_ms float8, time_to_first_token_ms float8, is_error bool
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '32MB' AS $$
DECLARE
  hour numeric := 3600000000000;
  least_ns numeric := -9223372036854775808;
  most_ns numeric := 9223372036854775807;
  -- Repetitions lie up to an hour outside, and what repeats those up to two.
  near_from int8 := greatest(from_ns - hour, least_ns)::int8;
  near_until int8 := least(until_ns + hour, most_ns)::int8;
  wide_from int8 := greatest(from_ns - 2 * hour, least_ns)::int8;
  wide_until int8 := least(until_ns + 2 * hour, most_ns)::int8;
  rollup_projects text[];
  rollup_traces bytea[];
  trace_from int8;
  trace_until int8;
  log_projects text[];
  log_traces bytea[];
  log_spans bytea[];
  has_records bool;
BEGIN
  EXECUTE $query$
    SELECT array_agg(t.project), array_agg(t.trace_id) FROM (
      SELECT DISTINCT r.project, r.trace_id FROM sluice.spans r
      WHERE ($1 IS NULL OR r.project = $1) AND r.start_time_unix_nano >= $2 AND r.start_time_unix_nano < $3 AND r.usage_scope = 'rollup'
        AND NOT EXISTS (
          SELECT FROM sluice.spans c
          WHERE ($1 IS NULL OR c.project = $1) AND c.start_time_unix_nano >= $4 AND c.start_time_unix_nano < $5 AND c.usage_scope = 'own'
            AND c.project = r.project AND c.trace_id = r.trace_id AND c.parent_span_id = r.span_id)
    ) t
  $query$ INTO rollup_projects, rollup_traces USING of_project, from_ns, until_ns, near_from, near_until;
  IF rollup_traces IS NOT NULL THEN
    -- Like `usage_rollups`, for all traces at once and between their times: one look into every partition for each trace takes
    -- minutes.
    SELECT CASE WHEN count(*) = cardinality(rollup_traces) THEN min(t.first_ns) ELSE least_ns END,
      CASE WHEN count(*) = cardinality(rollup_traces) THEN max(t.last_ns) ELSE most_ns END
    INTO trace_from, trace_until FROM sluice.traces t WHERE t.trace_id = ANY (rollup_traces);
    EXECUTE $query$
      SELECT array_agg(l.project), array_agg(l.trace_id), array_agg(l.span_id)
      FROM views.usage_logs l JOIN unnest($1, $2) AS t (project, trace_id) USING (project, trace_id)
      WHERE l.span_id IS NOT NULL AND EXISTS (
        SELECT FROM sluice.logs r WHERE r.usage_scope = 'own' AND r.span_id IS NOT NULL AND ($3 IS NULL OR r.project = $3))
    $query$ INTO log_projects, log_traces, log_spans USING rollup_projects, rollup_traces, of_project;
    RETURN QUERY EXECUTE $query$
      SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
        output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
        cost_source, response_id, 'span', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
      FROM (
        SELECT DISTINCT ON (s.project, s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')))
          s.project, s.environment, s.trace_id, s.start_time_unix_nano AS time_unix_nano, s.provider,
          coalesce(s.response_model, s.request_model) AS model, s.conversation_id, s.user_id, s.agent_name, s.input_tokens, s.output_tokens,
          s.total_tokens, s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.input_cost, s.output_cost, s.total_cost,
          s.cost_source, s.response_id, s.span_id, s.service_name, s.latency_ms, s.time_to_first_token_ms, s.is_error
        FROM (
          SELECT project, trace_id, views.counting_rollups(array_agg(node.id), array_agg(node.parent), array_agg(node.role)) AS span_ids
          FROM (
            SELECT project, trace_id, span_id AS id, nullif(parent_span_id, span_id) AS parent,
              CASE WHEN usage_scope = 'rollup' THEN 'rollup' WHEN usage_scope = 'own' AND category = 'model_call' THEN 'model call'
                WHEN usage_scope = 'own' THEN 'call' END AS role
            FROM sluice.spans JOIN unnest($3, $4) AS t (project, trace_id) USING (project, trace_id)
            WHERE start_time_unix_nano BETWEEN $5 AND $6
            UNION ALL SELECT project, trace_id, NULL, span_id, 'call' FROM unnest($7, $8, $9) AS l (project, trace_id, span_id)
          ) AS node GROUP BY project, trace_id
        ) t
        JOIN sluice.spans s ON s.project = t.project AND s.trace_id = t.trace_id AND s.span_id = ANY (t.span_ids)
          AND s.usage_scope = 'rollup' AND s.start_time_unix_nano BETWEEN $5 AND $6
        ORDER BY s.project, s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')),
          s.total_tokens DESC NULLS LAST, s.total_cost DESC NULLS LAST, s.start_time_unix_nano, s.span_id
      ) u WHERE time_unix_nano >= $1 AND time_unix_nano < $2
    $query$ USING from_ns, until_ns, rollup_projects, rollup_traces, trace_from, trace_until, log_projects, log_traces, log_spans;
  END IF;

  EXECUTE $query$
    SELECT EXISTS (SELECT FROM views.usage_records WHERE ($1 IS NULL OR project = $1) AND time_unix_nano >= $2 AND time_unix_nano < $3)
  $query$ INTO has_records USING of_project, near_from, near_until;
  IF NOT has_records THEN RETURN; END IF;
  RETURN QUERY EXECUTE $query$
    WITH records AS MATERIALIZED (
      SELECT * FROM views.usage_records WHERE ($1 IS NULL OR project = $1) AND time_unix_nano >= $4 AND time_unix_nano < $5
    ), reported AS MATERIALIZED (
      SELECT DISTINCT s.project, s.trace_id, s.dialect
      FROM (SELECT DISTINCT project, trace_id, dialect FROM records WHERE dialect IN ('codex', 'copilot', 'gemini-cli', 'qwen-code')) l
      JOIN sluice.spans s ON s.project = l.project AND s.trace_id = l.trace_id AND s.dialect = l.dialect AND s.usage_scope IS NOT NULL
    )
    SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
      output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
      cost_source, response_id, 'log', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
    FROM (
      SELECT DISTINCT ON (project, call_key) * FROM records l
      WHERE NOT EXISTS (
          SELECT FROM sluice.spans s WHERE ($1 IS NULL OR s.project = $1) AND s.start_time_unix_nano >= $6 AND s.start_time_unix_nano < $7
            AND s.project = l.project AND s.response_id = l.response_id AND s.usage_scope IS NOT NULL)
        AND NOT EXISTS (
          SELECT FROM sluice.spans s WHERE ($1 IS NULL OR s.project = $1) AND s.start_time_unix_nano >= $6 AND s.start_time_unix_nano < $7
            AND s.project = l.project AND s.trace_id = l.trace_id AND s.span_id = l.span_id AND s.usage_scope = 'own')
        AND NOT EXISTS (
          SELECT FROM reported r WHERE r.project = l.project AND r.trace_id = l.trace_id AND r.dialect = l.dialect)
      ORDER BY project, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, standing
    ) l WHERE time_unix_nano >= $2 AND time_unix_nano < $3
  $query$ USING of_project, from_ns, until_ns, near_from, near_until, wide_from, wide_until;
END $$;
REVOKE EXECUTE ON FUNCTION views.other_usage_between FROM PUBLIC;

-- `counted_usage WHERE project = of_project AND time_unix_nano >= from_ns AND time_unix_nano < until_ns`, without reading the
-- rest of the project: a condition on the time cannot be pushed below the search for repetitions. Repetitions of one call
-- are found if they are at most an hour apart. A roll-up is judged by its whole trace. A project of null: all projects.
-- It reads with the rights of its owner, as the views do, so only roles with EXECUTE may call it.
CREATE FUNCTION views.counted_usage_between(of_project text, from_ns int8, until_ns int8) RETURNS TABLE (
  project text, environment text, trace_id bytea, time_unix_nano int8, provider text, model text, conversation_id text, user_id text,
  agent_name text, input_tokens int8, output_tokens int8, total_tokens int8, cache_read_tokens int8, cache_write_tokens int8,
  reasoning_tokens int8, input_cost numeric, output_cost numeric, total_cost numeric, cost_source text, response_id text, signal text,
  span_id bytea, service_name text, latency_ms float8, time_to_first_token_ms float8, is_error bool
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '32MB' AS $$
DECLARE
  hour numeric := 3600000000000;
  near_from int8 := greatest(from_ns - hour, -9223372036854775808)::int8;
  near_until int8 := least(until_ns + hour, 9223372036854775807)::int8;
BEGIN
  -- EXECUTE plans with the values: partitions are left out, and the estimates fit the length of the time. All statements see
  -- the snapshot of the caller.
  RETURN QUERY EXECUTE $query$
    SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
      output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
      cost_source, response_id, 'span', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
    FROM (
      SELECT DISTINCT ON (project, trace_id, call_key) * FROM views.usage_spans
      WHERE ($1 IS NULL OR project = $1) AND time_unix_nano >= $4 AND time_unix_nano < $5
      ORDER BY project, trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
    ) s WHERE time_unix_nano >= $2 AND time_unix_nano < $3
  $query$ USING of_project, from_ns, until_ns, near_from, near_until;
  RETURN QUERY SELECT * FROM views.other_usage_between(of_project, from_ns, until_ns);
END $$;
REVOKE EXECUTE ON FUNCTION views.counted_usage_between FROM PUBLIC;

-- Sums of tokens stay numeric in all views: cast to int8, one project's figures could fail the query of every other.

-- One row a trace. Everything but the owner is read from the spans, so it is right for every order of arrival.
--
-- Totals are those of `trace_usage`. Each part is skipped for a trace that has no records of its kind, and spans are read
-- between the times of the trace, so a trace costs a search in the partitions of its days and not in all partitions. A
-- condition on the time of a trace is met before its totals are read.
CREATE VIEW views.traces AS
SELECT encode(t.trace_id, 'hex') AS trace_id, t.project, t.environment,
  root.name AS root_name, encode(root.span_id, 'hex') AS root_span_id,
  s.start_time_unix_nano, s.end_time_unix_nano, greatest(s.end_time_unix_nano - s.start_time_unix_nano, 0) AS duration_ns,
  s.span_count, s.error_count, s.model_call_count, s.tool_step_count, s.retrieval_count,
  u.input_tokens, u.output_tokens, u.total_tokens, u.cache_read_tokens, u.cache_write_tokens, u.reasoning_tokens,
  u.input_cost, u.output_cost, u.total_cost, s.conversation_id, s.user_id, t.created_at
FROM sluice.traces t
CROSS JOIN LATERAL (
  SELECT min(start_time_unix_nano) AS start_time_unix_nano, max(coalesce(end_time_unix_nano, start_time_unix_nano)) AS end_time_unix_nano,
    count(*) AS span_count, count(*) FILTER (WHERE status = 'error' OR is_error) AS error_count,
    count(*) FILTER (WHERE category = 'model_call') AS model_call_count,
    count(*) FILTER (WHERE category = 'tool_step') AS tool_step_count,
    count(*) FILTER (WHERE category = 'retrieval') AS retrieval_count,
    (array_agg(conversation_id ORDER BY start_time_unix_nano, span_id) FILTER (WHERE conversation_id IS NOT NULL))[1] AS conversation_id,
    (array_agg(user_id ORDER BY start_time_unix_nano, span_id) FILTER (WHERE user_id IS NOT NULL))[1] AS user_id,
    bool_or(usage_scope = 'own') AS has_calls, bool_or(usage_scope = 'rollup') AS has_rollups
  FROM sluice.spans
  WHERE project = t.project AND trace_id = t.trace_id AND start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
) s
LEFT JOIN LATERAL (
  SELECT name, span_id FROM sluice.spans
  WHERE project = t.project AND trace_id = t.trace_id AND start_time_unix_nano BETWEEN t.first_ns AND t.last_ns AND parent_span_id IS NULL
  ORDER BY start_time_unix_nano, span_id LIMIT 1
) root ON true
LEFT JOIN LATERAL (
  SELECT sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_tokens) AS total_tokens,
    sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
    sum(reasoning_tokens) AS reasoning_tokens, sum(input_cost) AS input_cost, sum(output_cost) AS output_cost, sum(total_cost) AS total_cost
  FROM (
    SELECT input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost
    FROM (
      SELECT DISTINCT ON (call_key) * FROM views.usage_spans
      WHERE s.has_calls AND project = t.project AND trace_id = t.trace_id AND time_unix_nano BETWEEN t.first_ns AND t.last_ns
      ORDER BY call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
    ) calls
    UNION ALL
    SELECT input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost
    FROM (
      SELECT DISTINCT ON (coalesce('response ' || r.response_id, 'span ' || encode(r.span_id, 'hex'))) r.*
      FROM (
        SELECT views.counting_rollups(array_agg(node.id), array_agg(node.parent), array_agg(node.role)) AS span_ids
        FROM (
          SELECT span_id AS id, nullif(parent_span_id, span_id) AS parent,
            CASE WHEN usage_scope = 'rollup' THEN 'rollup' WHEN usage_scope = 'own' AND category = 'model_call' THEN 'model call'
              WHEN usage_scope = 'own' THEN 'call' END AS role
          FROM sluice.spans
          WHERE project = t.project AND trace_id = t.trace_id AND start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
          UNION ALL
          SELECT NULL, span_id, 'call' FROM views.usage_logs
          WHERE project = t.project AND trace_id = t.trace_id AND span_id IS NOT NULL AND EXISTS (SELECT FROM sluice.logs WHERE usage_scope = 'own')
        ) node
      ) found
      JOIN sluice.spans r ON r.span_id = ANY (found.span_ids)
      WHERE r.project = t.project AND r.trace_id = t.trace_id AND r.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
        AND r.usage_scope = 'rollup' AND s.has_rollups
        -- A roll-up without a call directly below it.
        AND EXISTS (
          SELECT FROM sluice.spans o
          WHERE o.project = t.project AND o.trace_id = t.trace_id AND o.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
            AND o.usage_scope = 'rollup' AND NOT EXISTS (
              SELECT FROM sluice.spans c
              WHERE c.project = t.project AND c.trace_id = t.trace_id AND c.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
                AND c.usage_scope = 'own' AND c.parent_span_id = o.span_id))
      ORDER BY coalesce('response ' || r.response_id, 'span ' || encode(r.span_id, 'hex')),
        r.total_tokens DESC NULLS LAST, r.total_cost DESC NULLS LAST, r.start_time_unix_nano, r.span_id
    ) rollups
    UNION ALL
    SELECT input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost
    FROM views.trace_usage
    WHERE signal = 'log' AND project = t.project AND trace_id = t.trace_id AND EXISTS (SELECT FROM sluice.logs WHERE usage_scope = 'own')
  ) counted
) u ON true;

-- The one conversation that the records of a trace name, for calls that name none themselves: some senders name it on the
-- spans of agents or on log records only.
CREATE VIEW views.trace_conversations AS
SELECT project, trace_id, min(conversation_id) AS conversation_id FROM (
  SELECT project, trace_id, conversation_id FROM sluice.spans WHERE conversation_id IS NOT NULL
  UNION ALL SELECT project, trace_id, conversation_id FROM sluice.logs WHERE conversation_id IS NOT NULL AND trace_id IS NOT NULL
) r GROUP BY project, trace_id HAVING min(conversation_id) = max(conversation_id);

-- For each span of one trace its own value, or that of the nearest span above it that has one. Each span is visited once. Of
-- several spans with the id of the parent, the first to start is the parent.
CREATE FUNCTION views.values_above(ids bytea[], starts int8[], parents bytea[], own text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  total int := cardinality(ids);
  -- The place of the parent; 0 is none.
  parent_of int[];
  is_known bool[] := array_fill(false, ARRAY[total]);
  stack int[] := array_fill(0, ARRAY[total]);
  height int := 0;
  at int;
  found_value text;
BEGIN
  SELECT array_agg(coalesce(p.place, 0) ORDER BY u.place) INTO parent_of
  FROM unnest(ids, parents) WITH ORDINALITY AS u (id, parent, place)
  LEFT JOIN (SELECT DISTINCT ON (id) id, place::int FROM unnest(ids, starts) WITH ORDINALITY AS x (id, start, place) ORDER BY id, start) p
    ON p.id = u.parent AND u.parent <> u.id;
  FOR i IN 1..total LOOP
    at := i;
    -- A span on the way counts as known, so that a circle ends.
    WHILE at > 0 AND own[at] IS NULL AND NOT is_known[at] LOOP
      is_known[at] := true;
      height := height + 1;
      stack[height] := at;
      at := parent_of[at];
    END LOOP;
    IF at > 0 AND height > 0 THEN
      found_value := own[at];
      WHILE found_value IS NOT NULL AND height > 0 LOOP
        own[stack[height]] := found_value;
        height := height - 1;
      END LOOP;
    END IF;
    height := 0;
  END LOOP;
  RETURN own;
END $$;

-- The same for the conversations of traces with several.
CREATE VIEW views.span_conversations AS
SELECT t.project, t.trace_id, a.span_id, min(a.value) AS conversation_id FROM (
  SELECT project, trace_id, array_agg(span_id) AS ids,
    views.values_above(array_agg(span_id), array_agg(start_time_unix_nano), array_agg(parent_span_id), array_agg(conversation_id)) AS found
  FROM sluice.spans
  WHERE (project, trace_id) IN (
    SELECT r.project, r.trace_id FROM (
      SELECT project, trace_id, conversation_id FROM sluice.spans WHERE conversation_id IS NOT NULL
      UNION ALL SELECT project, trace_id, conversation_id FROM sluice.logs WHERE conversation_id IS NOT NULL AND trace_id IS NOT NULL
    ) r GROUP BY 1, 2 HAVING min(r.conversation_id) <> max(r.conversation_id))
  GROUP BY 1, 2
) t CROSS JOIN LATERAL unnest(t.ids, t.found) AS a (span_id, value)
WHERE a.value IS NOT NULL GROUP BY 1, 2, 3;

CREATE VIEW views.conversations AS
SELECT c.project, c.environment, coalesce(c.conversation_id, t.conversation_id, s.conversation_id) AS conversation_id,
  count(DISTINCT c.trace_id) AS trace_count, count(*) AS call_count, min(c.time_unix_nano) AS first_time_unix_nano,
  max(c.time_unix_nano) AS last_time_unix_nano, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
  sum(c.total_tokens) AS total_tokens, sum(c.total_cost) AS total_cost
FROM views.counted_usage c LEFT JOIN views.trace_conversations t USING (project, trace_id)
LEFT JOIN views.span_conversations s USING (project, trace_id, span_id)
WHERE coalesce(c.conversation_id, t.conversation_id, s.conversation_id) IS NOT NULL GROUP BY 1, 2, 3;

-- The user, the conversation or the agent (the column) that calls belong to that name none. Users and conversations are those
-- of the nearest span above; the one that records of the trace name, if there is only one. Agents are those of the nearest
-- span above. Calls without one have no row. It reads with the rights of its owner.
CREATE FUNCTION views.owners_of(of_traces bytea[], of_spans bytea[], of_column text) RETURNS TABLE (trace_id bytea, span_id bytea, value text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '32MB' AS $$
DECLARE
  lowest_ns int8;
  highest_ns int8;
BEGIN
  IF of_column NOT IN ('user_id', 'conversation_id', 'agent_name') THEN RAISE EXCEPTION 'no such column: %', of_column; END IF;
  SELECT min(t.first_ns), max(t.last_ns) INTO lowest_ns, highest_ns FROM sluice.traces t WHERE t.trace_id = ANY (of_traces);
  RETURN QUERY EXECUTE format($query$
    WITH asked AS MATERIALIZED (SELECT DISTINCT a.* FROM unnest($1, $2) AS a (trace_id, span_id)),
    owner AS MATERIALIZED (
      SELECT t.project, t.trace_id FROM (SELECT DISTINCT trace_id FROM asked) a JOIN sluice.traces t USING (trace_id)
    ), named AS MATERIALIZED (
      SELECT r.project, r.trace_id, min(r.value) AS lowest, max(r.value) AS highest FROM (
        SELECT project, trace_id, s.%1$I AS value FROM owner JOIN sluice.spans s USING (project, trace_id)
        WHERE s.start_time_unix_nano BETWEEN $3 AND $4 AND s.%1$I IS NOT NULL
        UNION ALL SELECT project, trace_id, l.%1$I FROM owner JOIN sluice.logs l USING (project, trace_id) WHERE l.%1$I IS NOT NULL
      ) r GROUP BY 1, 2
    ), above AS MATERIALIZED (
      SELECT trace_id, array_agg(s.span_id) AS ids,
        views.values_above(array_agg(s.span_id), array_agg(s.start_time_unix_nano), array_agg(s.parent_span_id), array_agg(s.%1$I)) AS found
      FROM named n JOIN sluice.spans s USING (project, trace_id)
      WHERE s.start_time_unix_nano BETWEEN $3 AND $4 AND (n.lowest <> n.highest OR %2$L) GROUP BY trace_id
    )
    SELECT a.trace_id, a.span_id, n.lowest FROM asked a JOIN named n USING (trace_id) WHERE n.lowest = n.highest AND NOT %2$L
    UNION ALL
    SELECT a.trace_id, a.span_id, min(v.value) FROM asked a
    JOIN (SELECT b.trace_id, u.* FROM above b CROSS JOIN LATERAL unnest(b.ids, b.found) AS u (span_id, value)) v
      ON v.trace_id = a.trace_id AND v.span_id = a.span_id
    WHERE v.value IS NOT NULL GROUP BY 1, 2
  $query$, of_column, of_column = 'agent_name') USING of_traces, of_spans, lowest_ns, highest_ns;
END $$;
REVOKE EXECUTE ON FUNCTION views.owners_of FROM PUBLIC;

-- `counted_usage_between` with the user, the conversation and the agent that each call belongs to, or only those of
-- `of_columns`. A time of null: `counted_usage`.
CREATE FUNCTION views.attributed_usage_between(of_project text, from_ns int8, until_ns int8,
  of_columns text[] DEFAULT '{user_id,conversation_id,agent_name}') RETURNS TABLE (
  project text, environment text, trace_id bytea, time_unix_nano int8, provider text, model text, conversation_id text, user_id text,
  agent_name text, input_tokens int8, output_tokens int8, total_tokens int8, cache_read_tokens int8, cache_write_tokens int8,
  reasoning_tokens int8, input_cost numeric, output_cost numeric, total_cost numeric, cost_source text, response_id text, signal text,
  span_id bytea, service_name text, latency_ms float8, time_to_first_token_ms float8, is_error bool
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '32MB' AS $$
DECLARE
  source text := CASE WHEN from_ns IS NULL THEN 'views.counted_usage WHERE $1 IS NULL OR project = $1'
    ELSE 'views.counted_usage_between($1, $2, $3)' END;
  owned text := '';
  joins text := '';
  given text;
BEGIN
  FOREACH given IN ARRAY ARRAY['conversation_id', 'user_id', 'agent_name'] LOOP
    IF NOT given = ANY (of_columns) THEN
      owned := owned || format('c.%I, ', given);
      CONTINUE;
    END IF;
    owned := owned || format('coalesce(c.%1$I, %2$I.value), ', given, 'of_' || given);
    joins := joins || format($join$
      LEFT JOIN views.owners_of(ARRAY(SELECT trace_id FROM calls WHERE trace_id IS NOT NULL AND %1$I IS NULL),
        ARRAY(SELECT span_id FROM calls WHERE trace_id IS NOT NULL AND %1$I IS NULL), %1$L) %2$I
        ON c.%1$I IS NULL AND %2$I.trace_id = c.trace_id AND coalesce(%2$I.span_id, '') = coalesce(c.span_id, '')
    $join$, given, 'of_' || given);
  END LOOP;
  RETURN QUERY EXECUTE format($query$
    WITH calls AS MATERIALIZED (SELECT * FROM %s)
    SELECT c.project, c.environment, c.trace_id, c.time_unix_nano, c.provider, c.model, %s c.input_tokens, c.output_tokens, c.total_tokens,
      c.cache_read_tokens, c.cache_write_tokens, c.reasoning_tokens, c.input_cost, c.output_cost, c.total_cost, c.cost_source,
      c.response_id, c.signal, c.span_id, c.service_name, c.latency_ms, c.time_to_first_token_ms, c.is_error
    FROM calls c %s
  $query$, source, owned, joins) USING of_project, from_ns, until_ns;
END $$;
REVOKE EXECUTE ON FUNCTION views.attributed_usage_between FROM PUBLIC;

CREATE VIEW views.usage_daily AS
SELECT (to_timestamp(time_unix_nano / 1000000000) AT TIME ZONE 'UTC')::date AS day, project, environment, provider, model,
  count(*) AS call_count, count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_tokens) AS total_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(reasoning_tokens) AS reasoning_tokens, sum(input_cost) AS input_cost, sum(output_cost) AS output_cost, sum(total_cost) AS total_cost
FROM views.counted_usage GROUP BY 1, 2, 3, 4, 5;

-- Like `usage_daily`, for a time and in steps: '1 hour', '1 day', '7 days'. Days begin at midnight UTC, weeks on Mondays.
-- `from_time` and `until_time` may lie within a step. A project of null: all projects.
CREATE FUNCTION views.usage_between(of_project text, from_time timestamptz, until_time timestamptz, step interval) RETURNS TABLE (
  "time" timestamptz, project text, environment text, provider text, model text, call_count int8, unpriced_count int8,
  input_tokens numeric, output_tokens numeric, total_tokens numeric, cache_read_tokens numeric, cache_write_tokens numeric,
  reasoning_tokens numeric, input_cost numeric, output_cost numeric, total_cost numeric
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT date_bin(step, to_timestamp(time_unix_nano / 1000000000), '2001-01-01 00:00Z'), project, environment, provider, model,
    count(*), count(*) FILTER (WHERE total_cost IS NULL), sum(input_tokens), sum(output_tokens), sum(total_tokens),
    sum(cache_read_tokens), sum(cache_write_tokens), sum(reasoning_tokens), sum(input_cost), sum(output_cost), sum(total_cost)
  FROM views.counted_usage_between(of_project, (extract(epoch FROM from_time)::numeric * 1000000000)::int8,
    (extract(epoch FROM until_time)::numeric * 1000000000)::int8)
  GROUP BY 1, 2, 3, 4, 5
$$;
REVOKE EXECUTE ON FUNCTION views.usage_between FROM PUBLIC;
