-- Whose data, who may write it, and what must be kept of it.
CREATE TABLE sluice.projects (
  name text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  plan text NOT NULL DEFAULT 'paid' CHECK (plan IN ('free', 'paid')),
  monthly_spans int8 CHECK (monthly_spans >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (plan = 'paid' OR monthly_spans IS NOT NULL)
);

-- The key itself is shown once and never stored; `hash` is the SHA-256 of its text. `environment` null: all of them.
CREATE TABLE sluice.api_keys (
  public_id text PRIMARY KEY,
  project text NOT NULL REFERENCES sluice.projects (name) ON UPDATE CASCADE ON DELETE CASCADE,
  environment text,
  hash bytea NOT NULL,
  label text,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
CREATE INDEX api_keys_project ON sluice.api_keys (project);

-- A project's own settings for one environment: {"capture_content": true | false}. They win over the configuration.
CREATE TABLE sluice.environments (
  project text NOT NULL REFERENCES sluice.projects (name) ON UPDATE CASCADE ON DELETE CASCADE,
  environment text NOT NULL,
  settings jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (project, environment)
);

-- Every replica forgets what it cached when one of these changes.
CREATE FUNCTION sluice.notify_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sluice_keys', '');
  RETURN NULL;
END $$;
CREATE TRIGGER projects_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.projects
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.notify_change();
CREATE TRIGGER api_keys_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.notify_change();
CREATE TRIGGER environments_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.environments
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.notify_change();

-- Who owns a trace, in which environment, and the outermost times of its spans (null while only
-- log records have named it). Counts and totals are read from the spans.
CREATE TABLE sluice.traces (
  trace_id bytea PRIMARY KEY CHECK (length(trace_id) = 16),
  project text NOT NULL,
  environment text NOT NULL,
  first_ns int8,
  last_ns int8,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 85);
CREATE INDEX traces_project_first ON sluice.traces (project, first_ns);
CREATE INDEX traces_created ON sluice.traces (created_at);

-- Bodies accepted within the last hour. Unix milliseconds of the database's clock: an integer may stand in ON CONFLICT … WHERE
-- on Citus too, now() may not.
CREATE TABLE sluice.replay_markers (
  project text NOT NULL,
  key bytea NOT NULL,
  expires_ms int8 NOT NULL,
  PRIMARY KEY (project, key)
);
CREATE INDEX replay_markers_expires ON sluice.replay_markers (expires_ms);

-- What was stored in each UTC month; the quota counts `spans`.
CREATE TABLE sluice.usage_months (
  project text NOT NULL,
  month date NOT NULL,
  spans int8 NOT NULL DEFAULT 0,
  logs int8 NOT NULL DEFAULT 0,
  metric_points int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (project, month)
) WITH (fillfactor = 50);

-- Price overrides, in the form of the pricing processor's configuration.
CREATE TABLE sluice.prices (
  id text PRIMARY KEY,
  project text REFERENCES sluice.projects (name) ON UPDATE CASCADE ON DELETE CASCADE,
  entry jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A span belongs to the UTC day it began. The default partition takes what lies outside the days kept open: a clock of 1970
-- or 2100 is stored like any other and costs no partition of its own.
CREATE TABLE sluice.spans (
  project text NOT NULL,
  environment text NOT NULL,
  service_name text,
  trace_id bytea NOT NULL,
  span_id bytea NOT NULL,
  parent_span_id bytea,
  trace_state text,
  name text NOT NULL,
  kind text,
  status text,
  status_message text,
  start_time_unix_nano int8 NOT NULL,
  end_time_unix_nano int8,
  duration_ns int8,
  flags int8,
  dropped_attributes_count int8,
  dropped_events_count int8,
  dropped_links_count int8,
  events jsonb,
  links jsonb,
  category text,
  operation text,
  provider text,
  request_model text,
  response_model text,
  response_id text,
  input_tokens int8,
  output_tokens int8,
  total_tokens int8,
  cache_read_tokens int8,
  cache_write_tokens int8,
  reasoning_tokens int8,
  usage_scope text,
  input_cost numeric(18,8),
  output_cost numeric(18,8),
  total_cost numeric(18,8),
  cost_source text,
  price_id text,
  latency_ms float8,
  time_to_first_token_ms float8,
  finish_reasons jsonb,
  is_error bool,
  error_type text,
  input_content text,
  output_content text,
  system_instructions text,
  tool_name text,
  tool_call_id text,
  tool_arguments text,
  tool_result text,
  retrieval_query text,
  retrieval_documents text,
  agent_name text,
  conversation_id text,
  user_id text,
  dialect text,
  resource jsonb NOT NULL,
  scope_name text,
  scope_version text,
  scope_attributes jsonb,
  attributes jsonb NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (project, trace_id, span_id, start_time_unix_nano)
) PARTITION BY RANGE (start_time_unix_nano);
CREATE TABLE sluice.spans_default PARTITION OF sluice.spans DEFAULT;
CREATE INDEX spans_project_start ON sluice.spans (project, start_time_unix_nano);
CREATE INDEX spans_conversation ON sluice.spans (project, left(conversation_id, 128)) WHERE conversation_id IS NOT NULL;
CREATE INDEX spans_default_received ON sluice.spans_default (received_at);

-- Log records and metric points have no identity of their own, so they are kept by the day they arrived.
CREATE TABLE sluice.logs (
  project text NOT NULL,
  environment text NOT NULL,
  service_name text,
  time_unix_nano int8,
  observed_time_unix_nano int8,
  severity_number int4,
  severity_text text,
  event_name text,
  body jsonb,
  trace_id bytea,
  span_id bytea,
  flags int8,
  dropped_attributes_count int8,
  category text,
  operation text,
  provider text,
  request_model text,
  response_model text,
  response_id text,
  input_tokens int8,
  output_tokens int8,
  total_tokens int8,
  cache_read_tokens int8,
  cache_write_tokens int8,
  reasoning_tokens int8,
  usage_scope text,
  input_cost numeric(18,8),
  output_cost numeric(18,8),
  total_cost numeric(18,8),
  cost_source text,
  price_id text,
  latency_ms float8,
  time_to_first_token_ms float8,
  finish_reasons jsonb,
  is_error bool,
  error_type text,
  input_content text,
  output_content text,
  system_instructions text,
  tool_name text,
  tool_call_id text,
  tool_arguments text,
  tool_result text,
  retrieval_query text,
  retrieval_documents text,
  agent_name text,
  conversation_id text,
  user_id text,
  dialect text,
  resource jsonb NOT NULL,
  scope_name text,
  scope_version text,
  scope_attributes jsonb,
  attributes jsonb NOT NULL,
  received_at timestamptz NOT NULL
) PARTITION BY RANGE (received_at);
CREATE TABLE sluice.logs_default PARTITION OF sluice.logs DEFAULT;
CREATE INDEX logs_project_time ON sluice.logs (project, time_unix_nano);
CREATE INDEX logs_trace ON sluice.logs (trace_id) WHERE trace_id IS NOT NULL;

CREATE TABLE sluice.metric_points (
  project text NOT NULL,
  environment text NOT NULL,
  service_name text,
  name text NOT NULL,
  description text,
  unit text,
  type text NOT NULL,
  temporality text,
  is_monotonic bool,
  start_time_unix_nano int8,
  time_unix_nano int8,
  value_int int8,
  value_double float8,
  count int8,
  sum float8,
  min float8,
  max float8,
  buckets jsonb,
  quantiles jsonb,
  exemplars jsonb,
  flags int8,
  metadata jsonb,
  resource jsonb NOT NULL,
  scope_name text,
  scope_version text,
  scope_attributes jsonb,
  attributes jsonb NOT NULL,
  received_at timestamptz NOT NULL
) PARTITION BY RANGE (received_at);
CREATE TABLE sluice.metric_points_default PARTITION OF sluice.metric_points DEFAULT;
CREATE INDEX metric_points_project_name_time ON sluice.metric_points (project, left(name, 128), time_unix_nano);

-- Large values: lz4 where the server has it, else uncompressed. The usual default, pglz, halves the rate of ingest.
DO $$
DECLARE
  has_lz4 bool := EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals));
  big record;
BEGIN
  FOR big IN
    SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'sluice'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
      AND c.relkind IN ('p', 'r') AND (c.relname LIKE 'spans%' OR c.relname LIKE 'logs%' OR c.relname LIKE 'metric_points%')
      AND (a.atttypid = 'jsonb'::regtype OR a.attname IN ('input_content', 'output_content', 'system_instructions',
           'tool_arguments', 'tool_result', 'retrieval_query', 'retrieval_documents', 'status_message'))
  LOOP
    EXECUTE format('ALTER TABLE sluice.%I ALTER COLUMN %I %s', big.relname, big.attname,
      CASE WHEN has_lz4 THEN 'SET COMPRESSION lz4' ELSE 'SET STORAGE EXTERNAL' END);
  END LOOP;
END $$;
