/** `GET …/traces/{trace}/steps`: model calls, tool steps and retrievals with their content, for messages. */
import { IN_TRACE, MODEL } from '../filter/trace-spans.ts';
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { readSpanPlace, type SpanPlace } from './cursor.ts';
import { limitOf } from './question.ts';
import { COUNTED, COUNTS } from './spans.ts';
import { findTrace, valuesOf } from './stored-trace.ts';
import { contentJson, finishReasons, nameText, ROOM, roomFor } from './texts.ts';
import { linesOf } from './trace-rows.ts';

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 200;
const FIRST: SpanPlace = { ns: '0', id: Buffer.alloc(8) };

/** A span that is a step of the conversation. */
export const IS_STEP = "s.category IN ('model_call', 'tool_step', 'retrieval')";

/** A `StepRow` of a span `s`; `counted` and `room` are in scope, or `most`: characters of each content column. */
export const stepJson = (
  seesContent: boolean,
  most: number | string = ROOM,
): string => `json_build_object('trace_id', encode(s.trace_id, 'hex'),
    'span_id', encode(s.span_id, 'hex'), 'parent_span_id', encode(s.parent_span_id, 'hex'), 'name', ${nameText('s.name')}, 'category', s.category,
    'start_time_unix_nano', s.start_time_unix_nano::text, 'duration_ns', s.duration_ns::text,
    'error', s.status = 'error' OR s.is_error IS TRUE, 'error_type', ${nameText('s.error_type')},
    'model', ${nameText(MODEL)}, 'provider', ${nameText('s.provider')}, 'agent_name', ${nameText('s.agent_name')},
    'tool_name', ${nameText('s.tool_name')}, 'tool_call_id', ${nameText('s.tool_call_id')}, 'dialect', s.dialect, 'finish_reasons', ${finishReasons('s')},
    'input_tokens', s.input_tokens, 'cache_read_tokens', s.cache_read_tokens, 'output_tokens', s.output_tokens,
    'total_cost', s.total_cost::text, 'counts', ${COUNTS}${seesContent ? `, 'content', ${contentJson('s', most)}` : ''})`;

export const listSteps = readRoute(`${PROJECT}/traces/{trace}/steps`, ['after', 'limit'], async (context) => {
  const { caller, query, reader } = context;
  const trace = await findTrace(context);
  const limit = limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT);
  const { ns, id } = readSpanPlace(query.get('after')) ?? FIRST;
  const [row] = await reader.query(
    `WITH ${COUNTED(reader.views)}, step AS MATERIALIZED (
       SELECT * FROM sluice.spans s WHERE ${IN_TRACE} AND ${IS_STEP} AND (s.start_time_unix_nano, s.span_id) > ($5::int8, $6::bytea)
       ORDER BY s.start_time_unix_nano, s.span_id LIMIT $7::int4
     ), ${roomFor('(SELECT count(*) FROM step)')}
     SELECT string_agg(${stepJson(caller.seesContent)}::text, E'\\n' ORDER BY s.start_time_unix_nano, s.span_id) AS items,
       (array_agg(s.start_time_unix_nano || '.' || encode(s.span_id, 'hex') ORDER BY s.start_time_unix_nano, s.span_id))[$7::int4] AS next
     FROM step s`,
    [...valuesOf(trace), ns, id, limit],
  );
  const items = linesOf(row?.['items']).join(',');
  return jsonText(`{"items":[${items}],"next":${JSON.stringify(row?.['next'] ?? null)}}`);
});
