/** The tool `get_span`: the columns of one span and its content, cut; and one long text in pieces. */
import { exactText, parseExact } from '../../../pdata/exact-json.ts';
import type { ContentPiece, Text } from '../api/shapes/content.ts';
import type { SpanDetail } from '../api/shapes/spans.ts';
import { costOf, joined, timeOf, tokensOf, tookOf } from './figures.ts';
import { TRACE_ARGUMENT } from './get-trace.ts';
import { messageText, sectionsOf } from './messages.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { type Argument, fitLines, projectPath, type Tool } from './tool.ts';
import { block, cutText, explainMark, line, newMark } from './untrusted.ts';
import { visibleText } from '../../../pdata/untrusted-text.ts';

const PIECE_CHARACTERS = 4000;
const PIECE_BYTES = 16 * 1024;
const LONGEST_PART = 1500;
/** Bytes of one column, of at most eight. */
const LONGEST_SECTION = 1600;
const LONGEST_ATTRIBUTE = 200;
const ATTRIBUTES_BYTES = 3000;
const LONGEST_EVENTS = 1500;

export const SPAN_ARGUMENT: Argument = { type: 'string', maxLength: 16, description: 'The span id, 16 hex digits.' };

const FIELDS = [
  ...['input_content', 'output_content', 'system_instructions', 'tool_arguments', 'tool_result', 'retrieval_query'],
  ...['retrieval_documents', 'status_message', 'attributes', 'events', 'links', 'resource'],
];

export const getSpan: Tool = {
  name: 'get_span',
  title: 'Get a span',
  description:
    'One span: figures, error, messages of its content (cut), attributes. With `field` the stored text of one column, 4,000 characters from `offset`.',
  properties: {
    project: PROJECT_ARGUMENT,
    trace: TRACE_ARGUMENT,
    span: SPAN_ARGUMENT,
    field: { type: 'string', enum: FIELDS, description: 'Only the text of this column.' },
    offset: { type: 'integer', minimum: 0, maximum: 2 ** 30, description: 'With `field`: where to begin. Default: 0.' },
  },
  required: ['trace', 'span'],
  async run(values, { api }) {
    const project = await projectOf(values, api);
    const segments = ['traces', values.text('trace').toLowerCase(), 'spans', values.text('span').toLowerCase()];
    const field = values.text('field');
    if (field !== '') {
      const offset = String(values.count('offset', 0));
      const text = await api.get(projectPath(project, [...segments, 'content', field], { offset }));
      return pieceText(parseExact(text) as ContentPiece);
    }
    return spanText(parseExact(await api.get(projectPath(project, segments))) as SpanDetail);
  },
};

function pieceText({ field, offset, length, text }: ContentPiece): string {
  const mark = newMark();
  // Offsets count Unicode characters, as the database does.
  const letters: string[] = [];
  let bytes = 0;
  for (const letter of text.slice(0, 2 * PIECE_CHARACTERS)) {
    bytes += Buffer.byteLength(visibleText(letter));
    if (letters.length === PIECE_CHARACTERS || bytes > PIECE_BYTES) break;
    letters.push(letter);
  }
  const end = offset + letters.length;
  const rest = end < length ? `More: offset ${end}` : 'This was the last piece.';
  return [
    `${field}, characters ${offset} to ${end} of ${length}`,
    explainMark(mark),
    block(mark, field, letters.join(''), PIECE_BYTES),
    rest,
  ].join('\n');
}

function spanText(span: SpanDetail): string {
  const mark = newMark();
  const head = [...factsOf(span), explainMark(mark)];
  const content = span.content === undefined ? ['(this token does not show content)'] : contentOf(span, mark);
  return [...head, ...content, ...attributesOf(span, mark)].join('\n');
}

function factsOf(span: SpanDetail): readonly string[] {
  const named = (label: string, value: string | number | null): string | null =>
    value === null ? null : `${label} ${line(value)}`;
  return [
    joined(`span ${span.span_id}`, line(span.name), `trace ${span.trace_id}`, named('parent', span.parent_span_id)),
    joined(
      `${timeOf(span.start_time_unix_nano)}, ${tookOf(span.duration_ns)}`,
      named('service', span.service_name),
      named('env', span.environment),
      named('kind', span.kind),
      named('status', span.status),
      span.is_error === true && 'ERROR',
      named('error type', span.error_type),
    ),
    joined(
      named('category', span.category),
      named('operation', span.operation),
      named('provider', span.provider),
      named('requested model', span.request_model),
      named('model', span.response_model),
      named('tool', span.tool_name),
      named('agent', span.agent_name),
      named('conversation', span.conversation_id),
      named('user', span.user_id),
      named('dialect', span.dialect),
    ),
    joined(
      tokensOf(span),
      span.usage_scope === null ? null : `cost ${costOf(span.total_cost)}`,
      named('cost source', span.cost_source),
      named('first token ms', span.time_to_first_token_ms),
      span.note === null ? null : `not counted: ${span.note === 'sum' ? 'it sums up calls' : 'it repeats a call'}`,
    ),
  ].filter((text) => text !== '');
}

function contentOf(span: SpanDetail, mark: string): readonly string[] {
  const lines: string[] = [];
  if (span.status_message?.text) lines.push(limited(mark, 'status_message', span.status_message));
  for (const { source, messages } of sectionsOf(span.content ?? {}, span)) {
    let room = LONGEST_SECTION;
    const texts: string[] = [];
    // The last messages of a long history are the new ones.
    for (const message of messages.toReversed()) {
      if (room <= 0) break;
      const { text } = cutText(messageText(message, LONGEST_PART), room);
      texts.unshift(`${message.role === null ? '' : `[${line(message.role, 20)}] `}${text}`);
      room -= text.length;
    }
    const hidden = messages.length - texts.length;
    const length = span.content?.[source]?.length ?? 0;
    const about = `${source} ${length} characters${hidden > 0 ? `, ${hidden} earlier messages left out` : ''}`;
    lines.push(block(mark, about, texts.join('\n'), LONGEST_SECTION));
  }
  const events = span.events ?? [];
  if (events.length > 0) lines.push(block(mark, 'events', exactText(events), LONGEST_EVENTS));
  else if (span.events === null) lines.push('events: none, or too long to show here; read field "events"');
  return lines;
}

const limited = (mark: string, about: string, { text, length }: Text): string =>
  block(mark, `${about} ${length} characters`, text, LONGEST_PART);

function attributesOf({ attributes = {}, long_attributes: long = {} }: SpanDetail, mark: string): readonly string[] {
  const all = [
    ...Object.entries(attributes).map(([key, value]) => `${line(key)} = ${line(value, LONGEST_ATTRIBUTE)}`),
    ...Object.entries(long).map(
      ([key, { length }]) => `${line(key)} = (${length} characters; read field "attributes")`,
    ),
  ];
  if (all.length === 0) return [];
  const left = (count: number): string => `… ${count} more; read field "attributes"`;
  return [block(mark, 'attributes', fitLines(all, ATTRIBUTES_BYTES, left).join('\n'), 2 * ATTRIBUTES_BYTES)];
}
