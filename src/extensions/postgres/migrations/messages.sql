-- messages: the content of spans and log records as parts of messages, as src/messages reads it for the commands and the console. Both
-- know shapes by their fields; the functions below follow the files there. JSON is written in the notation of jsonb, and media have
-- their address only. A part without a meaning is of type json. A row with a null type is a message without parts,
-- or, where `message` is 0, a list without messages.

CREATE FUNCTION views.content_json(content text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF content !~ '^\s*[[{]' THEN RETURN NULL; END IF;
  RETURN replace(content, '\u0000', '\ufffd')::jsonb;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

-- The first of these fields that is a text and not empty, and the first that is there and not null.
CREATE FUNCTION views.content_text(value jsonb, VARIADIC keys text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  k text;
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  FOREACH k IN ARRAY keys LOOP
    IF jsonb_typeof(value -> k) = 'string' AND value ->> k <> '' THEN RETURN value ->> k; END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE FUNCTION views.content_value(value jsonb, VARIADIC keys text[]) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  k text;
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  FOREACH k IN ARRAY keys LOOP
    IF jsonb_typeof(value -> k) <> 'null' THEN RETURN value -> k; END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE FUNCTION views.content_object(value jsonb, VARIADIC keys text[]) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  k text;
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  FOREACH k IN ARRAY keys LOOP
    IF jsonb_typeof(value -> k) = 'object' THEN RETURN value -> k; END IF;
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION views.content_role(word text, otherwise text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE lower(trim(word))
    WHEN 'human' THEN 'user' WHEN 'humanmessagechunk' THEN 'user'
    WHEN 'ai' THEN 'assistant' WHEN 'aimessagechunk' THEN 'assistant' WHEN 'model' THEN 'assistant' WHEN 'tool-call' THEN 'assistant'
    WHEN 'developer' THEN 'system' WHEN 'function' THEN 'tool' WHEN 'tool-response' THEN 'tool'
    WHEN 'unknown' THEN otherwise WHEN 'operation' THEN otherwise WHEN 'gen_ai' THEN otherwise WHEN 'choice' THEN otherwise
    ELSE coalesce(nullif(left(lower(trim(word)), 256), ''), otherwise) END $$;

-- Of an element of a list of content; no row: it is not a known part.
CREATE FUNCTION views.content_parts(value jsonb, depth int) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  kind text := replace(coalesce(views.content_text(value, 'type', 'block_type'), ''), '-', '_');
  media_fields text[] := ARRAY['inlineData', 'inline_data', 'fileData', 'file_data', 'media', 'image', 'audio', 'video'];
  is_wrapped bool;
  found_value jsonb;
  source jsonb;
BEGIN
  IF jsonb_typeof(value) = 'string' THEN
    RETURN QUERY SELECT 'text', value #>> '{}', NULL::text, NULL::text;
    RETURN;
  END IF;
  IF value IS NULL OR jsonb_typeof(value) <> 'object' OR depth > 24 THEN RETURN; END IF;
  IF kind IN ('reasoning', 'thinking', 'redacted_thinking', 'reasoning_text') OR value -> 'thought' = 'true' THEN
    RETURN QUERY SELECT 'reasoning', views.content_thoughts(value, depth), NULL::text, NULL::text;
    RETURN;
  END IF;
  IF kind IN ('text', 'input_text', 'output_text', 'summary_text', 'refusal') THEN
    found_value := coalesce(views.content_value(value, 'text', 'content', 'value', 'refusal'), '""');
    IF jsonb_typeof(found_value) = 'string' THEN
      RETURN QUERY SELECT 'text', found_value #>> '{}', NULL::text, NULL::text;
    ELSE
      RETURN QUERY SELECT * FROM views.content_any(found_value, depth + 1);
    END IF;
    RETURN;
  END IF;
  IF kind IN ('tool_call', 'tool_use', 'function_call', 'server_tool_use', 'server_tool_call', 'mcp_call', 'mcp_tool_use', 'custom_tool_call') THEN
    RETURN QUERY SELECT * FROM views.content_call(value);
    RETURN;
  END IF;
  IF kind IN ('tool_call_response', 'tool_result', 'function_call_output', 'function_response', 'tool_response', 'mcp_tool_result',
      'web_search_tool_result', 'custom_tool_call_output', 'server_tool_call_response') THEN
    RETURN QUERY SELECT * FROM views.content_answer(value);
    RETURN;
  END IF;
  SELECT bool_and(k = ANY (media_fields || ARRAY['toolUse', 'functionCall', 'toolRequest', 'tool_call', 'function_call', 'toolResult',
    'functionResponse', 'toolResponse', 'tool_call_result', 'reasoningContent', 'message_content', 'block_type', 'type', 'id', 'index',
    'metadata', 'custom', 'thought', 'thoughtSignature', 'thought_signature', 'videoMetadata', 'cache_control', 'providerOptions',
    'providerMetadata', 'annotations'])) INTO is_wrapped FROM jsonb_object_keys(value) k;
  IF is_wrapped THEN
    found_value := views.content_object(value, 'toolUse', 'functionCall', 'toolRequest', 'tool_call', 'function_call');
    IF found_value IS NOT NULL THEN
      RETURN QUERY SELECT * FROM views.content_call(found_value);
      RETURN;
    END IF;
    found_value := views.content_object(value, 'toolResult', 'functionResponse', 'toolResponse', 'tool_call_result');
    IF found_value IS NOT NULL THEN
      RETURN QUERY SELECT * FROM views.content_answer(found_value);
      RETURN;
    END IF;
    found_value := views.content_object(value, 'reasoningContent');
    IF found_value IS NOT NULL THEN
      RETURN QUERY SELECT 'reasoning', views.content_thoughts(coalesce(views.content_object(found_value, 'reasoningText'), found_value), depth),
        NULL::text, NULL::text;
      RETURN;
    END IF;
    found_value := views.content_object(value, 'message_content');
    IF found_value IS NOT NULL THEN
      RETURN QUERY SELECT * FROM views.content_any(found_value, depth + 1);
      RETURN;
    END IF;
  END IF;
  found_value := CASE WHEN is_wrapped THEN views.content_object(value, VARIADIC media_fields) END;
  IF found_value IS NOT NULL OR kind IN ('image', 'image_url', 'input_image', 'audio', 'input_audio', 'video', 'video_url', 'file',
      'input_file', 'document', 'blob', 'uri', 'media') THEN
    found_value := coalesce(views.content_object(found_value, VARIADIC media_fields), found_value, value);
    source := coalesce(views.content_object(found_value, 'source', 'file', 'image_url', 'input_audio', 'video_url', 'image'), found_value);
    RETURN QUERY SELECT 'media', regexp_replace(coalesce(views.content_text(source, 'url', 'uri', 'fileUri', 'file_uri'),
      views.content_text(found_value, 'url', 'uri', 'image_url', 'image'), ''), '^data:.*$', ''),
      coalesce(views.content_text(source, 'file_id', 'fileId'), views.content_text(found_value, 'file_id', 'fileId')),
      coalesce(views.content_text(source, 'filename', 'name'), views.content_text(found_value, 'filename', 'name'));
  ELSIF views.content_value(views.content_object(value, 'function'), 'arguments') IS NOT NULL
      OR views.content_text(value, 'toolName', 'tool_name') IS NOT NULL AND NOT value ?| ARRAY['tool_output', 'result']
        AND views.content_value(value, 'arguments', 'args', 'input', 'parameters', 'tool_kwargs', 'toolInput') IS NOT NULL THEN
    RETURN QUERY SELECT * FROM views.content_call(value);
  ELSIF kind = '' AND jsonb_typeof(value -> 'text') = 'string' AND value - ARRAY['text', 'id', 'index', 'metadata', 'custom', 'thought',
      'thoughtSignature', 'thought_signature', 'videoMetadata', 'cache_control', 'providerOptions', 'providerMetadata', 'annotations', 'type'] = '{}' THEN
    RETURN QUERY SELECT 'text', value ->> 'text', NULL::text, NULL::text;
  END IF;
END $$;

-- Of any value; what is not known stays JSON.
CREATE FUNCTION views.content_any(value jsonb, depth int) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  element jsonb;
BEGIN
  IF value IS NULL OR jsonb_typeof(value) = 'null' THEN RETURN; END IF;
  FOR element IN SELECT * FROM jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE jsonb_build_array(value) END) LOOP
    RETURN QUERY SELECT * FROM views.content_parts(element, depth + 1);
    IF NOT FOUND AND jsonb_typeof(element) <> 'null' THEN RETURN QUERY SELECT 'json', element::text, NULL::text, NULL::text; END IF;
  END LOOP;
END $$;

-- A text that is the JSON of parts, all of them known.
CREATE FUNCTION views.content_written(content text) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  list jsonb := CASE WHEN content ~ '^\s*\[\s*\{' THEN views.content_json(content) END;
BEGIN
  IF list IS NULL OR EXISTS (SELECT FROM jsonb_array_elements(list) AS e (element)
      WHERE jsonb_typeof(element) <> 'object' OR NOT EXISTS (SELECT FROM views.content_parts(element, 0))) THEN RETURN; END IF;
  RETURN QUERY SELECT p.* FROM jsonb_array_elements(list) WITH ORDINALITY AS e (element, n), views.content_parts(element, 0) p ORDER BY n;
END $$;

CREATE FUNCTION views.content_thoughts(value jsonb, depth int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  told jsonb := coalesce(views.content_value(value, 'text', 'thinking', 'content', 'summary'), '""');
BEGIN
  IF jsonb_typeof(told) <> 'string' THEN RETURN coalesce((SELECT string_agg(body, E'\n') FROM views.content_any(told, depth)), ''); END IF;
  RETURN coalesce((SELECT string_agg(body, E'\n') FROM views.content_written(told #>> '{}')), told #>> '{}');
END $$;

CREATE FUNCTION views.content_call(value jsonb) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE sql IMMUTABLE AS $$
  SELECT 'tool_call', coalesce(views.content_value(f, 'arguments', 'args', 'input', 'parameters', 'tool_kwargs', 'toolInput'),
      views.content_value(w, 'arguments', 'args', 'input', 'parameters', 'tool_kwargs', 'toolInput'), '""') #>> '{}',
    views.content_text(w, 'call_id', 'id', 'tool_call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'ref', 'tool_id'),
    coalesce(views.content_text(f, 'name', 'toolName', 'tool_name'), views.content_text(w, 'name', 'toolName', 'tool_name'))
  FROM (SELECT coalesce(views.content_object(value, 'tool_call'), value) AS w) x, LATERAL (SELECT views.content_object(w, 'function') AS f) y $$;

-- Lists of texts as lines.
CREATE FUNCTION views.content_result(value jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  lines text;
BEGIN
  IF jsonb_typeof(value) = 'string' THEN
    SELECT CASE WHEN bool_and(part = 'text') THEN string_agg(body, E'\n') END INTO lines FROM views.content_written(value #>> '{}');
    RETURN coalesce(lines, value #>> '{}');
  END IF;
  IF jsonb_typeof(value) = 'object' AND value ? 'value' AND views.content_text(value, 'type') IS NOT NULL THEN
    RETURN views.content_result(value -> 'value');
  END IF;
  SELECT CASE WHEN bool_and(p.part = 'text') THEN string_agg(p.body, E'\n' ORDER BY n) END INTO lines
  FROM jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE jsonb_build_array(value) END) WITH ORDINALITY AS e (element, n)
  LEFT JOIN LATERAL (SELECT * FROM views.content_parts(element, 0)) p ON true
  HAVING bool_and(p.part IS NOT NULL);
  RETURN coalesce(lines, value #>> '{}');
END $$;

CREATE FUNCTION views.content_answer(value jsonb) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE sql IMMUTABLE AS $$
  SELECT 'tool_result', views.content_result(coalesce(views.content_value(value, 'response', 'result', 'output', 'content', 'value'), '""')),
    coalesce(views.content_text(value, 'call_id', 'id', 'tool_call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'ref', 'tool_id'),
      views.content_text(views.content_object(value, 'origin'), 'id')),
    coalesce(views.content_text(value, 'name', 'toolName', 'tool_name'), views.content_text(views.content_object(value, 'origin'), 'name', 'tool_name')) $$;

-- One attribute for each leaf, as `llm.input_messages.0.message.role`, as nested lists and objects.
CREATE FUNCTION views.content_nested(flat jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  nested jsonb := '{}';
  step text;
  leaf jsonb;
  below jsonb;
BEGIN
  FOR step, leaf, below IN SELECT split_part(key, '.', 1), (jsonb_agg(value) FILTER (WHERE strpos(key, '.') = 0)) -> 0,
      jsonb_object_agg(substr(key, strpos(key, '.') + 1), value) FILTER (WHERE strpos(key, '.') > 0)
    FROM jsonb_each(flat) GROUP BY 1 LOOP
    nested := nested || jsonb_build_object(step, coalesce(views.content_nested(below), leaf));
  END LOOP;
  IF flat IS NULL THEN RETURN NULL; END IF;
  IF (SELECT bool_and(k ~ '^\d{1,9}$') FROM jsonb_object_keys(nested) k) THEN
    RETURN (SELECT jsonb_agg(value ORDER BY key::int) FROM jsonb_each(nested));
  END IF;
  RETURN nested;
END $$;

-- The parts of a message: thoughts, content, calls. A call that is told twice is one.
CREATE FUNCTION views.content_body(value jsonb, speaker text, depth int) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  field text;
  -- What an earlier field has is left out of a later one.
  is_several bool := (value ? 'content')::int + (value ? 'parts')::int + (value ? 'contents')::int + (value ? 'blocks')::int > 1;
  seen text[] := '{}';
  fresh text[] := '{}';
  calls text[] := '{}';
  mark text;
  p record;
BEGIN
  IF jsonb_typeof(value -> 'data') = 'object' THEN RETURN QUERY SELECT * FROM views.content_parts(value -> 'data', 0); END IF;
  mark := views.content_text(value, 'reasoning_content', 'reasoning', 'thinking');
  IF mark IS NOT NULL THEN RETURN QUERY SELECT 'reasoning', mark, NULL::text, NULL::text; END IF;
  FOREACH field IN ARRAY ARRAY['content', 'parts', 'contents', 'blocks'] LOOP
    CONTINUE WHEN NOT value ? field;
    FOR p IN SELECT * FROM views.content_of_message(value -> field, value, speaker, depth) LOOP
      IF is_several THEN
        mark := concat_ws(E'\n', p.part, p.call_id, p.body);
        CONTINUE WHEN mark = ANY (seen) AND p.part <> 'media';
        fresh := fresh || mark;
      END IF;
      IF p.part = 'tool_call' THEN calls := calls || coalesce(p.call_id, concat_ws(E'\n', p.tool, p.body)); END IF;
      RETURN QUERY SELECT p.part, p.body, p.call_id, p.tool;
    END LOOP;
    seen := seen || fresh;
    fresh := '{}';
  END LOOP;
  mark := views.content_text(value, 'refusal');
  IF mark IS NOT NULL THEN RETURN QUERY SELECT 'text', mark, NULL::text, NULL::text; END IF;
  IF NOT value ?| ARRAY['tool_calls', 'function_call', 'additional_kwargs'] THEN RETURN; END IF;
  FOR p IN
    SELECT c.* FROM unnest(ARRAY[value -> 'tool_calls', value #> '{additional_kwargs,tool_calls}', jsonb_build_array(views.content_object(value, 'function_call'))])
      WITH ORDINALITY AS l (list, n), jsonb_array_elements(CASE jsonb_typeof(list) WHEN 'array' THEN list ELSE '[]' END) AS e (element), views.content_call(element) c
    WHERE jsonb_typeof(element) = 'object' ORDER BY n
  LOOP
    mark := coalesce(p.call_id, concat_ws(E'\n', p.tool, p.body));
    CONTINUE WHEN mark = ANY (calls);
    calls := calls || mark;
    RETURN QUERY SELECT p.part, p.body, p.call_id, p.tool;
  END LOOP;
END $$;

CREATE FUNCTION views.content_of_message(content jsonb, message jsonb, speaker text, depth int) RETURNS TABLE (part text, body text, call_id text, tool text) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF content IS NULL OR jsonb_typeof(content) = 'null' THEN RETURN; END IF;
  -- Most lists hold one text.
  IF speaker <> 'tool' AND jsonb_typeof(content) = 'array' AND jsonb_array_length(content) = 1 AND content #>> '{0,type}' = 'text'
      AND jsonb_typeof(coalesce(content #> '{0,text}', content #> '{0,content}')) = 'string' AND content #> '{0,thought}' IS NULL THEN
    RETURN QUERY SELECT 'text', coalesce(content #>> '{0,text}', content #>> '{0,content}'), NULL::text, NULL::text;
    RETURN;
  END IF;
  IF speaker = 'tool' AND NOT (CASE jsonb_typeof(content)
      WHEN 'string' THEN EXISTS (SELECT FROM views.content_written(content #>> '{}') w WHERE w.part IN ('tool_result', 'tool_call'))
      WHEN 'array' THEN EXISTS (SELECT FROM jsonb_array_elements(content) AS e (element), views.content_parts(element, 0) w
        WHERE w.part IN ('tool_result', 'tool_call')) ELSE false END) THEN
    IF jsonb_typeof(content -> 'function') = 'object' THEN
      RETURN QUERY SELECT 'json', content::text, NULL::text, NULL::text;
    ELSE
      RETURN QUERY SELECT 'tool_result', views.content_result(content), views.content_text(message, 'tool_call_id', 'toolCallId', 'id'),
        views.content_text(message, 'name');
    END IF;
    RETURN;
  END IF;
  IF jsonb_typeof(content) = 'string' THEN
    IF content = '""' THEN RETURN; END IF;
    IF content #>> '{}' ~ '^\s*\[\s*\{' THEN
      RETURN QUERY SELECT * FROM views.content_written(content #>> '{}');
      IF FOUND THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT 'text', content #>> '{}', NULL::text, NULL::text;
  ELSIF jsonb_typeof(content) = 'object' AND views.content_value(content, 'content') IS NOT NULL AND views.content_text(content, 'type') IS NULL THEN
    RETURN QUERY SELECT * FROM views.content_of_message(content -> 'content', message || content, speaker, depth + 1);
  ELSIF jsonb_typeof(content) = 'object' AND jsonb_typeof(content -> 'tool_calls') = 'array' THEN
    RETURN QUERY SELECT * FROM views.content_body(content, speaker, depth + 1);
  ELSE
    RETURN QUERY SELECT * FROM views.content_any(content, depth);
  END IF;
END $$;

-- A request, an answer or a wrapper: what holds the messages, in order. No row: it is none.
CREATE FUNCTION views.content_inside(value jsonb, otherwise text) RETURNS TABLE (inside jsonb, speaker text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  keys text[] := ARRAY(SELECT jsonb_object_keys(value));
  found_value jsonb;
  rest text[];
BEGIN
  found_value := coalesce(views.content_object(value, 'message'),
    CASE WHEN jsonb_typeof(value #> '{response,role}') = 'string' THEN value -> 'response' END,
    CASE WHEN value ? 'lc' THEN views.content_object(value, 'kwargs') END,
    CASE WHEN value ->> 'type' IN ('human', 'ai', 'system', 'tool', 'function', 'chat', 'HumanMessageChunk', 'AIMessageChunk')
      THEN views.content_object(value, 'data') END,
    CASE WHEN jsonb_typeof(value #> '{content,parts}') = 'array' THEN value -> 'content' END);
  IF found_value IS NOT NULL THEN
    RETURN QUERY SELECT found_value, otherwise;
  ELSIF jsonb_typeof(value -> 'raw') = 'string' AND value ? 'json_dict' THEN
    RETURN QUERY SELECT jsonb_build_object('type', 'text', 'text', value -> 'raw'), 'assistant';
  ELSIF jsonb_typeof(value -> 'messages') = 'array' OR jsonb_typeof(value -> 'contents') = 'array' THEN
    RETURN QUERY SELECT views.content_instructions(value), 'system' UNION ALL SELECT views.content_value(value, 'messages', 'contents'), otherwise;
  ELSIF 'array' IN (jsonb_typeof(value -> 'choices'), jsonb_typeof(value -> 'candidates'), jsonb_typeof(value -> 'generations'), jsonb_typeof(value -> 'replies')) THEN
    RETURN QUERY SELECT value -> k, 'assistant' FROM unnest(ARRAY['choices', 'candidates', 'generations', 'replies']) WITH ORDINALITY AS u (k, n)
      WHERE jsonb_typeof(value -> k) = 'array' ORDER BY n LIMIT 1;
  ELSIF jsonb_typeof(value -> 'output') = 'array' AND views.content_value(value, 'id', 'object') IS NOT NULL THEN
    RETURN QUERY SELECT value -> 'output', 'assistant';
  ELSIF jsonb_typeof(value -> 'toolCalls') = 'array' OR value ? 'text' AND value ? 'files' THEN
    RETURN QUERY SELECT CASE WHEN concat(value ->> 'text', value ->> 'toolCalls', value ->> 'files', value ->> 'reasoning') ~ '^(\[\])*$' THEN '[]' ELSE jsonb_build_object('role', 'assistant', 'reasoning', CASE jsonb_typeof(value -> 'reasoning')
        WHEN 'array' THEN to_jsonb(nullif(views.content_result(value -> 'reasoning'), '[]')) ELSE value -> 'reasoning' END,
      'content', nullif(coalesce(value ->> 'text', ''), ''), 'tool_calls', coalesce(value -> 'toolCalls', '[]'),
      'blocks', coalesce(value -> 'files', '[]')) END, 'assistant';
  ELSIF value ? 'input' AND jsonb_typeof(value -> 'model') = 'string' THEN
    RETURN QUERY SELECT views.content_instructions(value), 'system' UNION ALL SELECT value -> 'input', otherwise;
  ELSIF cardinality(keys) = 2 AND jsonb_typeof(value -> 'system') = 'string' AND value ? 'prompt' THEN
    RETURN QUERY SELECT value -> 'system', 'system' UNION ALL SELECT value -> 'prompt', otherwise;
  ELSE
    rest := ARRAY(SELECT k FROM unnest(keys) k WHERE k NOT IN ('tags', 'metadata', 'kwargs', 'graph', 'resume', 'goto', 'image_path',
      'custom_embedding_strs', 'embedding'));
    IF cardinality(rest) = 1 AND rest[1] IN ('input', 'output', 'inputs', 'outputs', 'text', 'content', 'prompt', 'query', 'query_str',
        'query_bundle', 'question', 'answer', 'result', 'response', 'message', 'data', 'llm', 'update')
        AND jsonb_typeof(value -> rest[1]) IN ('string', 'object', 'array') THEN
      RETURN QUERY SELECT value -> rest[1], otherwise;
    END IF;
  END IF;
END $$;

CREATE FUNCTION views.content_instructions(value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(s -> 'parts') = 'array' THEN s -> 'parts' ELSE s END
  FROM views.content_value(value, 'system', 'systemInstruction', 'system_instruction', 'instructions') s $$;

-- `own_only`: no row for a value that is only a part, or unknown. `message` counts from 1.
CREATE FUNCTION views.content_messages(value jsonb, otherwise text, depth int, own_only bool) RETURNS TABLE (message int, role text, part text, body text, call_id text, tool text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  base int := 0;
  highest int := 0;
  loose text;
  speaker text;
  element jsonb;
  is_own bool;
  is_langchain bool;
  p record;
  list jsonb;
BEGIN
  IF value IS NULL OR jsonb_typeof(value) = 'null' THEN RETURN; END IF;
  IF jsonb_typeof(value) = 'object' AND depth <= 24 THEN
    -- A message with a role, one of LangChain, or the body of an event. Conditions without a query are fast.
    is_langchain := value ? 'content'
      AND value ->> 'type' IN ('human', 'ai', 'system', 'tool', 'function', 'chat', 'HumanMessageChunk', 'AIMessageChunk');
    is_own := coalesce(is_langchain, false) OR jsonb_typeof(value -> 'role') = 'string'
      AND value ?| ARRAY['content', 'parts', 'contents', 'blocks', 'tool_calls', 'function_call'];
    IF is_own IS NOT TRUE AND jsonb_typeof(value -> 'role') = 'string' THEN
      is_own := (SELECT count(*) < 3 FROM jsonb_object_keys(value));
    ELSIF is_own IS NOT TRUE THEN
      is_own := (jsonb_typeof(value -> 'tool_calls') = 'array' OR jsonb_typeof(value -> 'content') IN ('string', 'array'))
        AND value - ARRAY['content', 'tool_calls', 'id', 'name', 'refusal', 'finish_reason', 'index'] = '{}';
    END IF;
    IF is_own THEN
      IF jsonb_typeof(value #> '{content,0,role}') = 'string' THEN
        IF (SELECT bool_and(jsonb_typeof(e -> 'role') = 'string' AND (jsonb_typeof(e -> 'parts') = 'array' OR e ? 'content'))
            FROM jsonb_array_elements(value -> 'content') e) THEN
          RETURN QUERY SELECT * FROM views.content_messages(value -> 'content', otherwise, depth + 1, false);
          RETURN;
        END IF;
      END IF;
      speaker := views.content_role(coalesce(views.content_text(value, 'role'), CASE WHEN is_langchain THEN value ->> 'type' END, ''), otherwise);
      RETURN QUERY SELECT 1, speaker, b.part, b.body, b.call_id, b.tool FROM views.content_body(value, speaker, depth) b;
      IF NOT FOUND THEN RETURN QUERY SELECT 1, speaker, NULL::text, NULL::text, NULL::text, NULL::text; END IF;
      RETURN;
    END IF;
    IF jsonb_typeof(value -> 'message') = 'object' OR NOT EXISTS (SELECT FROM views.content_parts(value, 0)) THEN
      IF value <> '{}' AND (SELECT bool_and(k ~ '^[^.]+(\.[^.]+)*?\.\d{1,6}(\.|$)') FROM jsonb_object_keys(value) k) THEN
        list := views.content_nested(value);
        WHILE jsonb_typeof(list) = 'object' LOOP
          list := CASE WHEN (SELECT count(*) FROM jsonb_object_keys(list)) = 1 THEN (SELECT e.value FROM jsonb_each(list) e) END;
        END LOOP;
        IF jsonb_typeof(list) = 'array' THEN
          RETURN QUERY SELECT * FROM views.content_messages(list, otherwise, depth + 1, false);
          RETURN;
        END IF;
      END IF;
      is_own := false;
      FOR element, speaker IN SELECT * FROM views.content_inside(value, otherwise) LOOP
        is_own := true;
        base := highest;
        FOR p IN SELECT * FROM views.content_messages(element, speaker, depth + 1, false) LOOP
          highest := greatest(highest, base + p.message);
          RETURN QUERY SELECT base + p.message, p.role, p.part, p.body, p.call_id, p.tool;
        END LOOP;
      END LOOP;
      IF is_own THEN
        IF highest = 0 THEN RETURN QUERY SELECT 0, otherwise, NULL::text, NULL::text, NULL::text, NULL::text; END IF;
        RETURN;
      END IF;
    END IF;
    IF own_only THEN RETURN; END IF;
  END IF;
  -- Vectors of embeddings are one value. Parts beside messages are joined while they have one role.
  IF jsonb_typeof(value) = 'array' AND EXISTS (SELECT FROM jsonb_array_elements(value) e WHERE jsonb_typeof(e) IN ('number', 'boolean')) THEN
    RETURN QUERY SELECT 1, otherwise, 'json', value::text, NULL::text, NULL::text;
    RETURN;
  END IF;
  FOR element IN SELECT * FROM jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE jsonb_build_array(value) END) LOOP
    is_own := false;
    IF jsonb_typeof(value) = 'array' AND jsonb_typeof(element) IN ('array', 'object') AND depth < 24 THEN
      base := highest;
      FOR p IN SELECT * FROM views.content_messages(element, otherwise, depth + 1, true) LOOP
        is_own := true;
        highest := greatest(highest, base + p.message);
        RETURN QUERY SELECT base + p.message, p.role, p.part, p.body, p.call_id, p.tool;
      END LOOP;
    END IF;
    IF is_own OR jsonb_typeof(value) = 'array' AND jsonb_typeof(element) = 'array' AND depth < 24 THEN
      loose := NULL;
      CONTINUE;
    END IF;
    FOR p IN SELECT * FROM views.content_any(jsonb_build_array(element), depth) LOOP
      speaker := CASE WHEN p.part = 'tool_result' THEN 'tool' WHEN p.part IN ('tool_call', 'reasoning') THEN 'assistant' ELSE otherwise END;
      IF loose IS DISTINCT FROM speaker THEN highest := highest + 1; END IF;
      loose := speaker;
      RETURN QUERY SELECT highest, speaker, p.part, p.body, p.call_id, p.tool;
    END LOOP;
  END LOOP;
END $$;

-- The parts of one column. A value that cannot be read is one text.
CREATE FUNCTION views.content_read(source text, content text, event_name text, call_id text, tool text) RETURNS TABLE (message int, role text, part text, body text, part_id text, part_name text) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  document jsonb;
  inner_value jsonb;
  speaker text := CASE source WHEN 'system_instructions' THEN 'system' WHEN 'output_content' THEN 'assistant'
    ELSE coalesce(substring(event_name FROM '^gen_ai\.(system|user|assistant|tool)\.message$'), 'user') END;
BEGIN
  IF content IS NULL THEN RETURN; END IF;
  IF source = 'tool_arguments' THEN
    RETURN QUERY SELECT 1, 'assistant', 'tool_call', content, call_id, tool;
    RETURN;
  END IF;
  document := views.content_json(content);
  IF source = 'tool_result' THEN
    inner_value := document;
    FOR step IN 1..4 LOOP
      EXIT WHEN jsonb_typeof(inner_value) IS DISTINCT FROM 'object';
      inner_value := coalesce(CASE WHEN inner_value ? 'lc' THEN views.content_object(inner_value, 'kwargs')
        WHEN inner_value ->> 'type' = 'tool' THEN views.content_value(inner_value, 'data', 'content')
        WHEN (SELECT count(*) FROM jsonb_object_keys(inner_value - 'kwargs')) = 1 THEN views.content_value(inner_value, 'output', 'outputs') END, inner_value);
    END LOOP;
    RETURN QUERY SELECT 1, 'tool', 'tool_result', CASE WHEN document IS NULL OR jsonb_typeof(document) <> 'array' AND inner_value = document
      THEN content ELSE views.content_result(inner_value) END, call_id, tool;
  ELSIF source = 'retrieval_query' THEN
    RETURN QUERY SELECT 1, NULL::text, 'query', coalesce(views.content_text(coalesce(views.content_object(document, 'query_bundle', 'query'), document),
      'query', 'query_str', 'question', 'input'), content), NULL::text, NULL::text;
  ELSIF source = 'retrieval_documents' THEN
    inner_value := document;
    IF jsonb_typeof(document) = 'object' THEN
      IF document <> '{}' AND (SELECT bool_and(k ~ '^[^.]+(\.[^.]+)*?\.\d{1,6}(\.|$)') FROM jsonb_object_keys(document) k) THEN
        inner_value := views.content_nested(document);
        WHILE jsonb_typeof(inner_value) = 'object' LOOP
          inner_value := CASE WHEN (SELECT count(*) FROM jsonb_object_keys(inner_value)) = 1 THEN (SELECT e.value FROM jsonb_each(inner_value) e) END;
        END LOOP;
      ELSE
        inner_value := views.content_value(document, 'documents', 'source_nodes', 'nodes');
      END IF;
    END IF;
    IF jsonb_typeof(inner_value) IS DISTINCT FROM 'array' THEN
      RETURN QUERY SELECT 1, NULL::text, 'document', content, NULL::text, NULL::text;
    ELSE
      RETURN QUERY SELECT 1, NULL::text, 'document', coalesce(views.content_text(d, 'page_content', 'pageContent', 'content', 'text'), d #>> '{}'),
        views.content_text(d, 'id', 'id_', 'node_id', 'document_id'), NULL::text
      FROM jsonb_array_elements(inner_value) WITH ORDINALITY AS e (element, n),
        LATERAL (SELECT coalesce(views.content_object(element, 'document', 'node', 'kwargs'), element) AS d) x ORDER BY n;
    END IF;
  ELSIF document IS NULL THEN
    RETURN QUERY SELECT 1, speaker, 'text', content, NULL::text, NULL::text WHERE content <> '';
  ELSE
    RETURN QUERY SELECT * FROM views.content_messages(document, speaker, 0, false) m WHERE m.message > 0;
    IF NOT FOUND THEN RETURN QUERY SELECT 1, speaker, 'json', content, NULL::text, NULL::text; END IF;
  END IF;
EXCEPTION WHEN OTHERS THEN
  RETURN QUERY SELECT 1, speaker, 'text', content, NULL::text, NULL::text;
END $$;

-- The parts of one record, in the order in which they were exchanged.
CREATE FUNCTION views.record_messages(system_instructions text, input_content text, retrieval_query text, tool_arguments text, tool_result text, retrieval_documents text, output_content text, event_name text, call_id text, tool text) RETURNS TABLE ("position" int, message int, source text, role text, type text, text text, id text, name text) LANGUAGE sql IMMUTABLE AS $$
  SELECT (row_number() OVER (ORDER BY c.n, m.ordinality))::int, (dense_rank() OVER (ORDER BY c.n, m.message))::int, c.source, m.role, m.part, m.body, m.part_id, m.part_name
  FROM (VALUES (1, 'system_instructions', system_instructions), (2, 'input_content', input_content), (3, 'retrieval_query', retrieval_query),
    (4, 'tool_arguments', tool_arguments), (5, 'tool_result', tool_result), (6, 'retrieval_documents', retrieval_documents),
    (7, 'output_content', output_content)) AS c (n, source, content),
    LATERAL views.content_read(c.source, c.content, event_name, call_id, tool) WITH ORDINALITY AS m (message, role, part, body, part_id, part_name, ordinality)
  WHERE c.content IS NOT NULL AND m.part IS NOT NULL ORDER BY 1 $$;

CREATE VIEW views.messages AS
SELECT 'span'::text AS signal, s.project, s.environment, encode(s.trace_id, 'hex') AS trace_id, encode(s.span_id, 'hex') AS span_id,
  s.start_time_unix_nano AS time_unix_nano, s.category, s.conversation_id, m."position", m.message, m.source, m.role, m.type, m.text, m.id, m.name
FROM sluice.spans s, LATERAL views.record_messages(s.system_instructions, s.input_content, s.retrieval_query, s.tool_arguments, s.tool_result,
  s.retrieval_documents, s.output_content, NULL, s.tool_call_id, s.tool_name) m
WHERE coalesce(s.system_instructions, s.input_content, s.retrieval_query, s.tool_arguments, s.tool_result, s.retrieval_documents, s.output_content) IS NOT NULL
UNION ALL
SELECT 'log', l.project, l.environment, encode(l.trace_id, 'hex'), encode(l.span_id, 'hex'), sluice.log_ns(l.time_unix_nano, l.observed_time_unix_nano, l.received_at),
  l.category, l.conversation_id, m."position", m.message, m.source, m.role, m.type, m.text, m.id, m.name
FROM sluice.logs l, LATERAL views.record_messages(l.system_instructions, l.input_content, l.retrieval_query, l.tool_arguments, l.tool_result,
  l.retrieval_documents, l.output_content, l.event_name, l.tool_call_id, l.tool_name) m
WHERE coalesce(l.system_instructions, l.input_content, l.retrieval_query, l.tool_arguments, l.tool_result, l.retrieval_documents, l.output_content) IS NOT NULL;
