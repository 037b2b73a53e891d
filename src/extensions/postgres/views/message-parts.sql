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
