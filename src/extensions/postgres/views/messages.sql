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
    CASE WHEN jsonb_typeof(value #> '{content,parts}') = 'array' THEN value -> 'content'
      WHEN jsonb_typeof(value #> '{Content,parts}') = 'array' THEN value -> 'Content' END);
  IF found_value IS NOT NULL THEN
    RETURN QUERY SELECT found_value, otherwise;
  ELSIF jsonb_typeof(value -> 'raw') = 'string' AND value ? 'json_dict' THEN
    RETURN QUERY SELECT jsonb_build_object('type', 'text', 'text', value -> 'raw'), 'assistant';
  ELSIF jsonb_typeof(coalesce(views.content_value(value, 'messages', 'contents', 'Contents'),
      CASE WHEN jsonb_typeof(value -> 'config') = 'object' AND jsonb_typeof(value -> 'model') = 'string' THEN value -> 'content' END)) = 'array' THEN
    RETURN QUERY SELECT views.content_instructions(value), 'system'
      UNION ALL SELECT views.content_value(value, 'messages', 'contents', 'Contents', 'content'), otherwise;
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
  SELECT coalesce(views.content_value(value, 'system', 'systemInstruction', 'system_instruction', 'instructions'),
    views.content_value(views.content_object(value, 'config', 'Config'), 'system', 'systemInstruction', 'system_instruction', 'instructions')) $$;

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
  -- Instructions of Gemini have the role of the user, or none.
  IF otherwise = 'system' AND jsonb_typeof(value -> 'parts') = 'array' THEN value := value -> 'parts'; END IF;
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
