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
