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
-- span above. Calls without one have no row. It reads with the rights of its owner. `IS TRUE` hides the project from the planner:
-- without statistics of a new partition, it would read all spans of the project for each trace.
CREATE FUNCTION views.owners_of(of_traces bytea[], of_spans bytea[], of_column text) RETURNS TABLE (trace_id bytea, span_id bytea, value text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '32MB' AS $$
DECLARE
  lowest_ns int8;
  highest_ns int8;
  -- When the log records of the traces arrived at the earliest, as in `trace_usage_of`.
  since timestamptz;
BEGIN
  IF of_column NOT IN ('user_id', 'conversation_id', 'agent_name') THEN RAISE EXCEPTION 'no such column: %', of_column; END IF;
  -- Most calls name their own. The statement below is planned at each use.
  IF cardinality(of_traces) = 0 THEN RETURN; END IF;
  SELECT min(t.first_ns), max(t.last_ns), least(min(t.created_at), to_timestamp(min(t.first_ns) / 1000000000.0)) - interval '1 day'
  INTO lowest_ns, highest_ns, since FROM sluice.traces t WHERE t.trace_id = ANY (of_traces);
  RETURN QUERY EXECUTE format($query$
    WITH asked AS MATERIALIZED (SELECT DISTINCT a.* FROM unnest($1, $2) AS a (trace_id, span_id)),
    owner AS MATERIALIZED (
      SELECT t.project, t.trace_id FROM (SELECT DISTINCT trace_id FROM asked) a JOIN sluice.traces t USING (trace_id)
    ), named AS MATERIALIZED (
      SELECT r.project, r.trace_id, min(r.value) AS lowest, max(r.value) AS highest FROM (
        SELECT o.project, o.trace_id, s.%1$I AS value FROM owner o JOIN sluice.spans s ON (s.project = o.project) IS TRUE AND s.trace_id = o.trace_id
        WHERE s.start_time_unix_nano BETWEEN $3 AND $4 AND s.%1$I IS NOT NULL
        UNION ALL SELECT project, trace_id, l.%1$I FROM owner JOIN sluice.logs l USING (project, trace_id)
        WHERE l.received_at >= $5 AND l.%1$I IS NOT NULL AND NOT %2$L
      ) r GROUP BY 1, 2
    ), above AS MATERIALIZED (
      SELECT n.trace_id, array_agg(s.span_id) AS ids,
        views.values_above(array_agg(s.span_id), array_agg(s.start_time_unix_nano), array_agg(s.parent_span_id), array_agg(s.%1$I)) AS found
      FROM named n JOIN sluice.spans s ON (s.project = n.project) IS TRUE AND s.trace_id = n.trace_id
      WHERE s.start_time_unix_nano BETWEEN $3 AND $4 AND (n.lowest <> n.highest OR %2$L) GROUP BY n.trace_id
    )
    SELECT a.trace_id, a.span_id, n.lowest FROM asked a JOIN named n USING (trace_id) WHERE n.lowest = n.highest AND NOT %2$L
    UNION ALL
    SELECT a.trace_id, a.span_id, min(v.value) FROM asked a
    JOIN (SELECT b.trace_id, u.* FROM above b CROSS JOIN LATERAL unnest(b.ids, b.found) AS u (span_id, value)) v
      ON v.trace_id = a.trace_id AND v.span_id = a.span_id
    WHERE v.value IS NOT NULL GROUP BY 1, 2
  $query$, of_column, of_column = 'agent_name') USING of_traces, of_spans, lowest_ns, highest_ns, since;
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
