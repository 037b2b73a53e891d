-- What people query: the tables under their plain names, ids in hex. `views` stands for the configured schema.
-- Rows of earlier versions have their resource and scope in them, others refer to them.
CREATE VIEW views.spans AS SELECT
  'span'::text AS signal,
  -- columns: spans
  s.project,
  s.environment,
  s.service_name,
  encode(s.trace_id, 'hex') AS trace_id,
  encode(s.span_id, 'hex') AS span_id,
  encode(s.parent_span_id, 'hex') AS parent_span_id,
  s.trace_state,
  s.name,
  s.kind,
  s.status,
  s.status_message,
  s.start_time_unix_nano,
  s.end_time_unix_nano,
  s.duration_ns,
  s.flags,
  s.dropped_attributes_count,
  s.dropped_events_count,
  s.dropped_links_count,
  s.events,
  s.links,
  s.category,
  s.operation,
  s.provider,
  s.request_model,
  s.response_model,
  s.response_id,
  s.input_tokens,
  s.output_tokens,
  s.total_tokens,
  s.cache_read_tokens,
  s.cache_write_tokens,
  s.reasoning_tokens,
  s.usage_scope,
  s.input_cost,
  s.output_cost,
  s.total_cost,
  s.cost_source,
  s.price_id,
  s.latency_ms,
  s.time_to_first_token_ms,
  s.finish_reasons,
  s.is_error,
  s.error_type,
  s.input_content,
  s.output_content,
  s.system_instructions,
  s.tool_name,
  s.tool_call_id,
  s.tool_arguments,
  s.tool_result,
  s.retrieval_query,
  s.retrieval_documents,
  s.agent_name,
  s.conversation_id,
  s.user_id,
  s.dialect,
  coalesce(s.resource, r.body) AS resource,
  coalesce(s.scope_name, c.name) AS scope_name,
  coalesce(s.scope_version, c.version) AS scope_version,
  coalesce(s.scope_attributes, c.attributes) AS scope_attributes,
  s.attributes,
  s.received_at
  -- end of columns
FROM sluice.spans s
LEFT JOIN sluice.resources r ON r.id = s.resource_id
LEFT JOIN sluice.scopes c ON c.id = s.scope_id;

CREATE VIEW views.logs AS SELECT
  'log'::text AS signal,
  -- columns: logs
  s.project,
  s.environment,
  s.service_name,
  s.time_unix_nano,
  s.observed_time_unix_nano,
  s.severity_number,
  s.severity_text,
  s.event_name,
  s.body,
  encode(s.trace_id, 'hex') AS trace_id,
  encode(s.span_id, 'hex') AS span_id,
  s.flags,
  s.dropped_attributes_count,
  s.category,
  s.operation,
  s.provider,
  s.request_model,
  s.response_model,
  s.response_id,
  s.input_tokens,
  s.output_tokens,
  s.total_tokens,
  s.cache_read_tokens,
  s.cache_write_tokens,
  s.reasoning_tokens,
  s.usage_scope,
  s.input_cost,
  s.output_cost,
  s.total_cost,
  s.cost_source,
  s.price_id,
  s.latency_ms,
  s.time_to_first_token_ms,
  s.finish_reasons,
  s.is_error,
  s.error_type,
  s.input_content,
  s.output_content,
  s.system_instructions,
  s.tool_name,
  s.tool_call_id,
  s.tool_arguments,
  s.tool_result,
  s.retrieval_query,
  s.retrieval_documents,
  s.agent_name,
  s.conversation_id,
  s.user_id,
  s.dialect,
  coalesce(s.resource, r.body) AS resource,
  coalesce(s.scope_name, c.name) AS scope_name,
  coalesce(s.scope_version, c.version) AS scope_version,
  coalesce(s.scope_attributes, c.attributes) AS scope_attributes,
  s.attributes,
  s.received_at
  -- end of columns
FROM sluice.logs s
LEFT JOIN sluice.resources r ON r.id = s.resource_id
LEFT JOIN sluice.scopes c ON c.id = s.scope_id;

CREATE VIEW views.metric_points AS SELECT
  'metric'::text AS signal,
  -- columns: metric_points
  s.project,
  s.environment,
  s.service_name,
  s.name,
  s.description,
  s.unit,
  s.type,
  s.temporality,
  s.is_monotonic,
  s.start_time_unix_nano,
  s.time_unix_nano,
  coalesce(s.value_int::numeric, s.value_double::text::numeric) AS value,
  s.count,
  s.sum,
  s.min,
  s.max,
  s.buckets,
  s.quantiles,
  s.exemplars,
  s.flags,
  s.metadata,
  coalesce(s.resource, r.body) AS resource,
  coalesce(s.scope_name, c.name) AS scope_name,
  coalesce(s.scope_version, c.version) AS scope_version,
  coalesce(s.scope_attributes, c.attributes) AS scope_attributes,
  s.attributes,
  s.received_at
  -- end of columns
FROM sluice.metric_points s
LEFT JOIN sluice.resources r ON r.id = s.resource_id
LEFT JOIN sluice.scopes c ON c.id = s.scope_id;

-- Model calls, tool steps and retrievals are spans with most senders and log records with some.
CREATE VIEW views.steps AS
SELECT 'span'::text AS signal, project, environment, service_name, encode(trace_id, 'hex') AS trace_id, encode(span_id, 'hex') AS span_id,
  encode(parent_span_id, 'hex') AS parent_span_id, name, start_time_unix_nano AS time_unix_nano, duration_ns,
  -- columns: derived, of spans
  category, operation, provider, request_model, response_model, response_id, input_tokens, output_tokens, total_tokens,
  cache_read_tokens, cache_write_tokens, reasoning_tokens, usage_scope, input_cost, output_cost, total_cost,
  cost_source, price_id, latency_ms, time_to_first_token_ms, finish_reasons, is_error, error_type, input_content,
  output_content, system_instructions, tool_name, tool_call_id, tool_arguments, tool_result, retrieval_query,
  retrieval_documents, agent_name, conversation_id, user_id, dialect
  -- end of columns
FROM sluice.spans WHERE category IS NOT NULL
UNION ALL
SELECT 'log', project, environment, service_name, encode(trace_id, 'hex'), encode(span_id, 'hex'),
  NULL, event_name, coalesce(time_unix_nano, observed_time_unix_nano), NULL,
  -- columns: derived, of logs
  category, operation, provider, request_model, response_model, response_id, input_tokens, output_tokens, total_tokens,
  cache_read_tokens, cache_write_tokens, reasoning_tokens, usage_scope, input_cost, output_cost, total_cost,
  cost_source, price_id, latency_ms, time_to_first_token_ms, finish_reasons, is_error, error_type, input_content,
  output_content, system_instructions, tool_name, tool_call_id, tool_arguments, tool_result, retrieval_query,
  retrieval_documents, agent_name, conversation_id, user_id, dialect
  -- end of columns
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
    'call ' || CASE dialect WHEN 'google-adk' THEN attributes ->> 'gcp.vertex.agent.event_id'
      WHEN 'anthropic-native' THEN attributes ->> 'anthropic.request.id' END,
    'response ' || response_id, 'span ' || encode(span_id, 'hex')) AS call_key
FROM sluice.spans WHERE usage_scope = 'own';

-- Calls that log records report, repetitions included, without those that spans report too: by the response id, by the
-- span that the record names, or because the sender reports every call on spans and does so in this trace. Records of
-- one project with the same `call_key` report one call. `standing` has all columns, or which of two records counts
-- would be decided by which came first.
CREATE VIEW views.usage_logs AS
SELECT project, environment, trace_id, coalesce(time_unix_nano, observed_time_unix_nano) AS time_unix_nano, provider,
  coalesce(response_model, request_model) AS model, conversation_id, user_id, agent_name, input_tokens, output_tokens, total_tokens,
  cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost, cost_source, response_id, span_id,
  service_name, latency_ms, time_to_first_token_ms, is_error,
  coalesce('response ' || response_id, 'record ' || l.tableoid || ' ' || l.ctid) AS call_key,
  l.tableoid || ' ' || l.ctid AS record_id,
  ROW(trace_id, span_id, environment, provider, response_model, request_model, conversation_id, user_id, agent_name, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, cost_source, l.tableoid, l.ctid
  )::text AS standing
FROM sluice.logs l
WHERE usage_scope = 'own'
  AND NOT EXISTS (
    SELECT FROM sluice.spans s WHERE s.project = l.project AND left(s.response_id, 128) = left(l.response_id, 128)
      AND s.response_id = l.response_id AND s.usage_scope IS NOT NULL)
  AND NOT EXISTS (
    SELECT FROM sluice.spans s WHERE s.project = l.project AND s.trace_id = l.trace_id AND s.span_id = l.span_id AND s.usage_scope = 'own')
  AND NOT EXISTS (
    SELECT FROM sluice.spans s WHERE s.project = l.project AND s.trace_id = l.trace_id AND s.dialect = l.dialect
      AND s.dialect IN ('codex', 'copilot', 'gemini-cli', 'qwen-code') AND s.usage_scope IS NOT NULL);

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
  SELECT project, trace_id, ARRAY(
    WITH RECURSIVE node AS MATERIALIZED (
      SELECT * FROM unnest(array_agg(span.id), array_agg(span.parent), array_agg(span.role)) AS n (id, parent, role)
    ), covered AS (
      SELECT parent AS id FROM node WHERE role IN ('call', 'model call')
      UNION SELECT n.parent FROM covered c JOIN node n ON n.id = c.id
    ), blocked AS (
      SELECT n.id FROM node above JOIN node n ON n.parent = above.id
      WHERE above.role = 'model call' OR above.role = 'rollup' AND above.id NOT IN (SELECT id FROM covered WHERE id IS NOT NULL)
      UNION SELECT n.id FROM blocked b JOIN node n ON n.parent = b.id
    )
    SELECT id FROM node WHERE role = 'rollup' AND id NOT IN (SELECT id FROM covered WHERE id IS NOT NULL)
      AND id NOT IN (SELECT id FROM blocked WHERE id IS NOT NULL)
  ) AS span_ids
  FROM (
    SELECT project, trace_id, span_id AS id, nullif(parent_span_id, span_id) AS parent,
      CASE WHEN usage_scope = 'rollup' THEN 'rollup' WHEN usage_scope = 'own' AND category = 'model_call' THEN 'model call'
        WHEN usage_scope = 'own' THEN 'call' END AS role
    FROM sluice.spans
    UNION ALL
    SELECT project, trace_id, NULL, span_id, 'call' FROM views.usage_logs WHERE span_id IS NOT NULL
  ) AS span
  WHERE EXISTS (
    SELECT FROM sluice.spans r WHERE r.project = span.project AND r.trace_id = span.trace_id AND r.usage_scope = 'rollup'
      AND NOT EXISTS (SELECT FROM sluice.spans c
        WHERE c.project = r.project AND c.trace_id = r.trace_id AND c.parent_span_id = r.span_id AND c.usage_scope = 'own'))
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

-- Sums of tokens stay numeric in all views: cast to int8, one project's figures could fail the query of every other.

-- One row a trace. Everything but the owner is read from the spans, so it is right for every order of arrival.
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
    count(*) AS span_count, count(*) FILTER (WHERE status = 'error') AS error_count,
    count(*) FILTER (WHERE category = 'model_call') AS model_call_count,
    count(*) FILTER (WHERE category = 'tool_step') AS tool_step_count,
    count(*) FILTER (WHERE category = 'retrieval') AS retrieval_count,
    (array_agg(conversation_id ORDER BY start_time_unix_nano, span_id) FILTER (WHERE conversation_id IS NOT NULL))[1] AS conversation_id,
    (array_agg(user_id ORDER BY start_time_unix_nano, span_id) FILTER (WHERE user_id IS NOT NULL))[1] AS user_id
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
  FROM views.trace_usage c WHERE c.project = t.project AND c.trace_id = t.trace_id
) u ON true;

CREATE VIEW views.conversations AS
SELECT project, environment, conversation_id, count(DISTINCT trace_id) AS trace_count, count(*) AS call_count,
  min(time_unix_nano) AS first_time_unix_nano, max(time_unix_nano) AS last_time_unix_nano,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_tokens) AS total_tokens, sum(total_cost) AS total_cost
FROM views.counted_usage WHERE conversation_id IS NOT NULL GROUP BY project, environment, conversation_id;

CREATE VIEW views.usage_daily AS
SELECT (to_timestamp(time_unix_nano / 1000000000) AT TIME ZONE 'UTC')::date AS day, project, environment, provider, model,
  count(*) AS call_count, count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_tokens) AS total_tokens,
  sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(reasoning_tokens) AS reasoning_tokens, sum(input_cost) AS input_cost, sum(output_cost) AS output_cost, sum(total_cost) AS total_cost
FROM views.counted_usage GROUP BY 1, 2, 3, 4, 5;
