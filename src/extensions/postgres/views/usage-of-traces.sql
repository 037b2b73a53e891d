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
-- `coalesce` cannot be met by an index of all usage of the project. EXECUTE plans with the values: of many stored days only those of the
-- traces. Log records are of the days of their arrival, which the first look at them finds: none arrives more than a day before the
-- claim and the first span of its trace. The plans of statements that need all partitions are kept for the session.
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
  -- When the log records of the traces arrived at the earliest; null: a trace has no claim.
  since timestamptz;
  -- When the records with usage arrived that matter here; null: the traces have none.
  records_from timestamptz;
  records_until timestamptz;
  prefixes text[];
  response_ids text[];
  -- Other traces with the same responses, and the times of all.
  other_traces bytea[];
  records_lowest_ns int8;
  records_highest_ns int8;
  -- The records of the traces, and those with the same responses.
  records text := $records$(
    SELECT * FROM views.usage_records_between($4, $5) WHERE project = $1 AND trace_id = ANY ($2) AND response_id IS NULL
    UNION ALL
    SELECT * FROM views.usage_records_between($4, $5) WHERE project = $1 AND left(response_id, 128) = ANY ($3) AND response_id IS NOT NULL
  )$records$;
  -- What spans report too: responses, spans that records name, and dialects of traces.
  reported_ids text[];
  own_traces bytea[];
  own_spans bytea[];
  dialect_traces bytea[];
  dialects text[];
  -- Spans below which log records report a call.
  called_traces bytea[];
  called_spans bytea[];
  counting_traces bytea[];
  counting_spans bytea[];
BEGIN
  SELECT min(t.first_ns), max(t.last_ns), CASE WHEN count(*) = (SELECT count(DISTINCT u.id) FROM unnest(of_traces) AS u (id))
      THEN least(min(t.created_at), to_timestamp(min(t.first_ns) / 1000000000.0)) - interval '1 day' END
  INTO lowest_ns, highest_ns, since FROM sluice.traces t WHERE t.project = of_project AND t.trace_id = ANY (of_traces);
  RETURN QUERY EXECUTE $query$
    SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
      output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
      cost_source, response_id, 'span', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
    FROM (
      SELECT DISTINCT ON (trace_id, call_key) * FROM views.usage_spans_near($3, $4)
      WHERE project = $1 AND trace_id = ANY ($2) AND time_unix_nano BETWEEN $3 AND $4
      ORDER BY trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
    ) s
  $query$ USING of_project, of_traces, lowest_ns, highest_ns;

  -- Most traces have no roll-up, which an index shows.
  EXECUTE $query$
    SELECT array_agg(DISTINCT s.trace_id) FROM sluice.spans s
    WHERE s.project = $1 AND s.trace_id = ANY ($2) AND s.start_time_unix_nano BETWEEN $3 AND $4 AND s.usage_scope = 'rollup'
  $query$ INTO rollup_traces USING of_project, of_traces, lowest_ns, highest_ns;
  IF rollup_traces IS NOT NULL THEN
    EXECUTE $query$
      SELECT array_agg(DISTINCT r.trace_id) FROM (
        SELECT s.trace_id FROM sluice.spans s
        WHERE s.project = $1 AND s.trace_id = ANY ($2) AND s.start_time_unix_nano BETWEEN $3 AND $4 AND s.usage_scope IN ('rollup', 'own')
        GROUP BY s.trace_id, CASE s.usage_scope WHEN 'rollup' THEN s.span_id ELSE s.parent_span_id END HAVING bool_and(s.usage_scope = 'rollup')
      ) r
    $query$ INTO rollup_traces USING of_project, rollup_traces, lowest_ns, highest_ns;
  END IF;
  IF since > now() - interval '100 days' THEN
    EXECUTE $query$
      SELECT min(l.received_at), max(l.received_at), array_agg(DISTINCT left(l.response_id, 128)) FILTER (WHERE l.response_id IS NOT NULL)
      FROM sluice.logs l WHERE l.project = $1 AND l.trace_id = ANY ($2) AND l.usage_scope = 'own' AND l.received_at >= $3
    $query$ INTO records_from, records_until, prefixes USING of_project, of_traces, since;
  ELSE
    SELECT min(l.received_at), max(l.received_at), array_agg(DISTINCT left(l.response_id, 128)) FILTER (WHERE l.response_id IS NOT NULL)
    INTO records_from, records_until, prefixes FROM sluice.logs l
    WHERE l.project = of_project AND l.trace_id = ANY (of_traces) AND l.usage_scope = 'own';
  END IF;

  IF prefixes IS NOT NULL THEN
    -- An index has the beginning of an id. Of a short id that is all; ids that share a long one are read once.
    SELECT least(records_from, min(l.received_at)), greatest(records_until, max(l.received_at)), array_agg(DISTINCT l.response_id),
      array_agg(DISTINCT l.trace_id) FILTER (WHERE (l.trace_id IN (SELECT unnest(of_traces))) IS NOT TRUE AND l.trace_id IS NOT NULL)
    INTO records_from, records_until, response_ids, other_traces FROM sluice.logs l
    WHERE l.project = of_project AND left(l.response_id, 128) = ANY (prefixes) AND l.response_id IS NOT NULL AND l.usage_scope = 'own';
    SELECT array_agg(d.response_id) INTO reported_ids FROM unnest(response_ids) AS d (response_id)
    WHERE length(d.response_id) < 128 AND EXISTS (
      SELECT FROM sluice.spans s WHERE s.project = of_project AND left(s.response_id, 128) = d.response_id
        AND s.response_id IS NOT NULL AND s.usage_scope IS NOT NULL OFFSET 0);
    IF EXISTS (SELECT FROM unnest(response_ids) AS d (response_id) WHERE length(d.response_id) >= 128) THEN
      SELECT reported_ids || array_agg(DISTINCT s.response_id) INTO reported_ids FROM sluice.spans s
      WHERE s.project = of_project AND left(s.response_id, 128) = ANY (prefixes) AND length(s.response_id) >= 128 AND s.usage_scope IS NOT NULL;
    END IF;
  END IF;

  IF records_from IS NOT NULL THEN
    SELECT CASE WHEN o.is_known THEN least(lowest_ns, o.first_ns) ELSE -9223372036854775808 END,
      CASE WHEN o.is_known THEN greatest(highest_ns, o.last_ns) ELSE 9223372036854775807 END
    INTO records_lowest_ns, records_highest_ns FROM (
      SELECT since IS NOT NULL AND count(*) = coalesce(cardinality(other_traces), 0) AS is_known, min(t.first_ns) AS first_ns, max(t.last_ns) AS last_ns
      FROM sluice.traces t WHERE t.project = of_project AND t.trace_id = ANY (other_traces)
    ) o;
    EXECUTE format($query$
      SELECT array_agg(d.trace_id), array_agg(d.span_id) FROM (SELECT DISTINCT l.trace_id, l.span_id FROM %s l WHERE l.span_id IS NOT NULL) d
      WHERE EXISTS (SELECT FROM sluice.spans s WHERE (s.project = $1) IS TRUE AND s.trace_id = d.trace_id AND s.span_id = d.span_id
        AND s.start_time_unix_nano BETWEEN $6 AND $7 AND coalesce(s.usage_scope, '') = 'own' OFFSET 0)
    $query$, records) INTO own_traces, own_spans
    USING of_project, of_traces, prefixes, records_from, records_until, records_lowest_ns, records_highest_ns;
    EXECUTE format($query$
      SELECT array_agg(d.trace_id), array_agg(d.dialect) FROM (SELECT DISTINCT l.trace_id, l.dialect FROM %s l) d
      WHERE d.dialect IN ('codex', 'copilot', 'gemini-cli', 'qwen-code') AND EXISTS (
        SELECT FROM sluice.spans s WHERE (s.project = $1) IS TRUE AND s.trace_id = d.trace_id AND s.dialect = d.dialect
          AND s.start_time_unix_nano BETWEEN $6 AND $7 AND coalesce(s.usage_scope, '') <> '' OFFSET 0)
    $query$, records) INTO dialect_traces, dialects
    USING of_project, of_traces, prefixes, records_from, records_until, records_lowest_ns, records_highest_ns;
    RETURN QUERY EXECUTE format($query$
      SELECT project, environment, trace_id, time_unix_nano, provider, model, conversation_id, user_id, agent_name, input_tokens,
      output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost, output_cost, total_cost,
      cost_source, response_id, 'log', span_id, service_name, latency_ms, time_to_first_token_ms, is_error
      FROM (
        SELECT DISTINCT ON (call_key) * FROM %s l
        WHERE (l.response_id IN (SELECT unnest($6))) IS NOT TRUE
          AND ((l.trace_id, l.span_id) IN (SELECT * FROM unnest($7, $8))) IS NOT TRUE
          AND ((l.trace_id, l.dialect) IN (SELECT * FROM unnest($9, $10))) IS NOT TRUE
        ORDER BY call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, standing
      ) l WHERE l.trace_id = ANY ($2)
    $query$, records)
    USING of_project, of_traces, prefixes, records_from, records_until, reported_ids, own_traces, own_spans, dialect_traces, dialects;
  END IF;

  IF rollup_traces IS NULL THEN RETURN; END IF;
  IF records_from IS NOT NULL THEN
    EXECUTE format($query$
      SELECT array_agg(l.trace_id), array_agg(l.span_id) FROM %s l
      WHERE l.trace_id = ANY ($6) AND l.span_id IS NOT NULL AND (l.response_id IN (SELECT unnest($7))) IS NOT TRUE
        AND ((l.trace_id, l.span_id) IN (SELECT * FROM unnest($8, $9))) IS NOT TRUE
        AND ((l.trace_id, l.dialect) IN (SELECT * FROM unnest($10, $11))) IS NOT TRUE
    $query$, records) INTO called_traces, called_spans USING of_project, of_traces, prefixes, records_from, records_until, rollup_traces,
      reported_ids, own_traces, own_spans, dialect_traces, dialects;
  END IF;
  EXECUTE $query$
    SELECT array_agg(t.trace_id), array_agg(t.id) FROM (
      SELECT span.trace_id, unnest(views.counting_rollups(array_agg(span.id), array_agg(span.parent), array_agg(span.role))) AS id
      FROM (
        SELECT s.trace_id, s.span_id AS id, nullif(s.parent_span_id, s.span_id) AS parent,
          CASE WHEN s.usage_scope = 'rollup' THEN 'rollup' WHEN s.usage_scope = 'own' AND s.category = 'model_call' THEN 'model call'
            WHEN s.usage_scope = 'own' THEN 'call' END AS role
        FROM sluice.spans s WHERE s.project = $1 AND s.trace_id = ANY ($2) AND s.start_time_unix_nano BETWEEN $3 AND $4
        UNION ALL SELECT l.trace_id, NULL, l.span_id, 'call' FROM unnest($5, $6) AS l (trace_id, span_id)
      ) span GROUP BY span.trace_id
    ) t
  $query$ INTO counting_traces, counting_spans USING of_project, rollup_traces, lowest_ns, highest_ns, called_traces, called_spans;
  RETURN QUERY EXECUTE $query$
    SELECT DISTINCT ON (s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')))
      s.project, s.environment, s.trace_id, s.start_time_unix_nano, s.provider, coalesce(s.response_model, s.request_model),
      s.conversation_id, s.user_id, s.agent_name, s.input_tokens, s.output_tokens, s.total_tokens, s.cache_read_tokens,
      s.cache_write_tokens, s.reasoning_tokens, s.input_cost, s.output_cost, s.total_cost, s.cost_source, s.response_id, 'span',
      s.span_id, s.service_name, s.latency_ms, s.time_to_first_token_ms, s.is_error
    FROM sluice.spans s
    WHERE s.project = $1 AND s.trace_id = ANY ($2) AND s.start_time_unix_nano BETWEEN $3 AND $4
      AND s.usage_scope = 'rollup' AND ((s.trace_id, s.span_id) IN (SELECT * FROM unnest($5, $6))) IS TRUE
    ORDER BY s.trace_id, coalesce('response ' || s.response_id, 'span ' || encode(s.span_id, 'hex')),
      s.total_tokens DESC NULLS LAST, s.total_cost DESC NULLS LAST, s.start_time_unix_nano, s.span_id
  $query$ USING of_project, rollup_traces, lowest_ns, highest_ns, counting_traces, counting_spans;
END $$;
REVOKE EXECUTE ON FUNCTION views.trace_usage_of FROM PUBLIC;
