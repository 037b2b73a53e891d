-- Sums of tokens stay numeric in all views: cast to int8, one project's figures could fail the query of every other.

-- One row a trace. Everything but the owner is read from the spans, so it is right for every order of arrival.
--
-- Totals are those of `trace_usage`. Each part is skipped for a trace that has no records of its kind, and spans are read
-- between the times of the trace, so a trace costs a search in the partitions of its days and not in all partitions. A
-- condition on the time of a trace is met before its totals are read.
--
-- Until a new partition has statistics, the planner would choose the index of projects and times, and read all spans of
-- the time of a trace: IS TRUE hides the project from it. The indexes of usage have few spans and keep their condition.
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
  WHERE (project = t.project) IS TRUE AND trace_id = t.trace_id AND start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
) s
LEFT JOIN LATERAL (
  SELECT name, span_id FROM sluice.spans
  WHERE (project = t.project) IS TRUE AND trace_id = t.trace_id AND start_time_unix_nano BETWEEN t.first_ns AND t.last_ns AND parent_span_id IS NULL
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
          WHERE (project = t.project) IS TRUE AND trace_id = t.trace_id AND start_time_unix_nano BETWEEN t.first_ns AND t.last_ns
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
