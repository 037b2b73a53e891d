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
      SELECT DISTINCT ON (project, trace_id, call_key) * FROM views.usage_spans_near($4, $5)
      WHERE ($1 IS NULL OR project = $1) AND time_unix_nano >= $4 AND time_unix_nano < $5
      ORDER BY project, trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
    ) s WHERE time_unix_nano >= $2 AND time_unix_nano < $3
  $query$ USING of_project, from_ns, until_ns, near_from, near_until;
  RETURN QUERY SELECT * FROM views.other_usage_between(of_project, from_ns, until_ns);
END $$;
REVOKE EXECUTE ON FUNCTION views.counted_usage_between FROM PUBLIC;
