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
    -- These clients report what a sender above them reports, and the platform of Anthropic what its client reports. Within an
    -- hour, so that only the partitions of that time are searched for each call. Instrumentations of the AWS SDK know no id of an answer.
    -- Of OpenInference, those of client libraries know it and most of those of frameworks do not.
    CASE WHEN dialect IN ('anthropic-native', 'mistral-sdk')
      OR provider = 'aws.bedrock' AND response_id IS NULL AND dialect IN ('otel', 'otel-legacy')
      OR dialect = 'openinference' AND response_id IS NOT NULL AND parent_span_id IS NOT NULL THEN (
      SELECT coalesce('call ' || CASE a.dialect WHEN 'google-adk' THEN a.attributes ->> 'gcp.vertex.agent.event_id' END,
        'response ' || a.response_id, 'span ' || encode(a.span_id, 'hex'))
      FROM sluice.spans a WHERE a.project = s.project AND a.trace_id = s.trace_id AND a.span_id = s.parent_span_id
        AND a.start_time_unix_nano >= s.start_time_unix_nano - 3600000000000
        AND a.start_time_unix_nano <= least(s.start_time_unix_nano, 9223372036854775807 - 3600000000000) + 3600000000000
        AND a.usage_scope = 'own' AND a.category = 'model_call'
        AND (a.dialect IS DISTINCT FROM s.dialect OR a.attributes ->> 'anthropic.request.id' = s.attributes ->> 'anthropic.request.id'
          OR a.dialect = 'openinference' AND a.response_id IS NULL)
      ORDER BY a.start_time_unix_nano LIMIT 1) END,
    'response ' || response_id, 'span ' || encode(span_id, 'hex')) AS call_key
FROM sluice.spans s WHERE usage_scope = 'own';

-- The same rows, for a query with a condition that their time is between these. The calls above are then searched in the partitions of
-- the hours around it: the planner puts the query in place of the call, and plans it with the values.
CREATE FUNCTION views.usage_spans_near(from_ns int8, until_ns int8) RETURNS TABLE (
  project text, environment text, trace_id bytea, time_unix_nano int8, provider text, model text, conversation_id text, user_id text,
  agent_name text, input_tokens int8, output_tokens int8, total_tokens int8, cache_read_tokens int8, cache_write_tokens int8,
  reasoning_tokens int8, input_cost numeric, output_cost numeric, total_cost numeric, cost_source text, response_id text, span_id bytea,
  service_name text, latency_ms float8, time_to_first_token_ms float8, is_error bool, call_key text
) LANGUAGE sql STABLE AS $$
  -- query of usage_spans: FROM sluice.spans a WHERE a.start_time_unix_nano BETWEEN greatest(from_ns, 0) - 3600000000000 AND least(until_ns, 9223372036854775807 - 3600000000000) + 3600000000000
$$;

-- Whether spans of Codex report the calls of a conversation at this time too: those of a trace of it that begins in the hour before.
-- A function, because planning its query for all partitions takes longer than most queries about usage, and few records need it.
CREATE FUNCTION views.codex_spans_report(of_project text, of_conversation text, at_ns int8) RETURNS bool
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hour int8 := 3600000000000;
BEGIN
  RETURN EXISTS (
    SELECT FROM sluice.spans c JOIN sluice.spans s ON s.project = c.project AND s.trace_id = c.trace_id
    WHERE c.project = of_project AND left(c.conversation_id, 128) = left(of_conversation, 128) AND c.conversation_id = of_conversation
      AND c.start_time_unix_nano BETWEEN at_ns - hour AND at_ns AND c.dialect = 'codex'
      AND s.dialect = 'codex' AND s.usage_scope IS NOT NULL
      AND s.start_time_unix_nano BETWEEN c.start_time_unix_nano - hour
        AND least(c.start_time_unix_nano, 9223372036854775807 - hour) + hour);
END $$;

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
FROM sluice.logs l WHERE usage_scope = 'own'
  -- Codex writes the record of a streamed call outside of its trace.
  AND (trace_id IS NOT NULL OR conversation_id IS NULL OR dialect IS DISTINCT FROM 'codex'
    OR NOT views.codex_spans_report(project, conversation_id, sluice.log_ns(time_unix_nano, observed_time_unix_nano, received_at)));

-- Those that arrived between these times. The planner puts the query in place of the call, as that of `usage_spans_near`.
CREATE FUNCTION views.usage_records_between(from_time timestamptz, until_time timestamptz) RETURNS TABLE (
  project text, environment text, trace_id bytea, time_unix_nano int8, provider text, model text, conversation_id text, user_id text,
  agent_name text, input_tokens int8, output_tokens int8, total_tokens int8, cache_read_tokens int8, cache_write_tokens int8,
  reasoning_tokens int8, input_cost numeric, output_cost numeric, total_cost numeric, cost_source text, response_id text, span_id bytea,
  service_name text, latency_ms float8, time_to_first_token_ms float8, is_error bool, call_key text, record_id text, standing text,
  dialect text
) LANGUAGE sql STABLE AS $$
  -- query of usage_records: FROM sluice.logs l WHERE l.received_at BETWEEN from_time AND until_time
$$;

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
