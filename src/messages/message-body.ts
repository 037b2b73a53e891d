/** One value that is a message: whether it is one, and its parts in the order in which the model wrote them. */
import { isList, isObject, type Json, type JsonObject, objectAt, stringAt, valueAt } from '../pdata/exact-json.ts';
import { part, type Part } from './message.ts';
import { anyParts, callOf, jsonParts, partsOf, resultText, writtenParts } from './parts.ts';

/** Types of messages of LangChain. */
const LANGCHAIN: ReadonlySet<string> = new Set([
  'human',
  'ai',
  'system',
  'tool',
  'function',
  'chat',
  'HumanMessageChunk',
  'AIMessageChunk',
]);
const BODY_FIELDS = ['content', 'parts', 'contents', 'blocks', 'tool_calls', 'function_call'] as const;
/** Fields of the body of an event, which is a message without a role. */
const BODY: ReadonlySet<string> = new Set(['content', 'tool_calls', 'id', 'name', 'refusal', 'finish_reason', 'index']);
/** Whether the value is written by LangChain, with or without its content. */
export const isOfLangchain = (value: JsonObject): boolean => LANGCHAIN.has(stringAt(value, 'type') ?? '');
export const isLangchain = (value: JsonObject): boolean => isOfLangchain(value) && 'content' in value;
export const isSpoken = (value: JsonObject): boolean =>
  typeof value['role'] === 'string' && (isList(value['parts']) || value['content'] !== undefined);

/** A message has a role, or is the body of an event, which has only the content. */
export function isMessage(value: JsonObject): boolean {
  const keys = Object.keys(value);
  if (typeof value['role'] === 'string') return keys.length < 3 || BODY_FIELDS.some((key) => key in value);
  if (isLangchain(value)) return true;
  const isBody = keys.every((key) => BODY.has(key));
  return isBody && (isList(value['tool_calls']) || typeof value['content'] === 'string' || isList(value['content']));
}

/** In the order in which the model wrote them: thoughts, text, calls. */
export function bodyOf(value: JsonObject, role: string, depth: number): readonly Part[] {
  const thoughts = stringAt(value, 'reasoning_content', 'reasoning', 'thinking');
  const lists = ['content', 'parts', 'contents', 'blocks'].map((key) =>
    contentParts(value[key] ?? null, value, role, depth),
  );
  const refusal = stringAt(value, 'refusal');
  const item = objectAt(value, 'data');
  const found = [
    ...((item === undefined ? null : partsOf(item)) ?? []),
    ...(thoughts === null ? [] : [part('reasoning', thoughts)]),
    ...onceEach(lists),
    ...(refusal === null ? [] : [part('text', refusal)]),
  ];
  const more = objectAt(value, 'additional_kwargs') ?? {};
  const calls = [value['tool_calls'], more['tool_calls']].flatMap((list) => (isList(list) ? list : []));
  const legacy = objectAt(value, 'function_call');
  const listed = [...calls, ...(legacy === undefined ? [] : [legacy])];
  const known = new Set(found.filter(({ type }) => type === 'tool_call').map(callKey));
  for (const each of listed) {
    const call = isObject(each) ? callOf(each) : null;
    if (call === null || known.has(callKey(call))) continue;
    known.add(callKey(call));
    found.push(call);
  }
  return found;
}

const callKey = ({ id, name, text }: Part): string => id ?? `${name}\n${text}`;

function contentParts(content: Json, message: JsonObject, role: string, depth: number): readonly Part[] {
  if (content === null) return [];
  if (role === 'tool' && !holdsResults(content)) {
    const isDefinition = isObject(content) && objectAt(content, 'function') !== undefined;
    if (isDefinition) return jsonParts(content);
    const id = stringAt(message, 'tool_call_id', 'toolCallId', 'id');
    return [part('tool_result', resultText(content), { id, name: stringAt(message, 'name') })];
  }
  if (typeof content === 'string') return content === '' ? [] : (writtenParts(content) ?? [part('text', content)]);
  if (isObject(content)) {
    const inner = valueAt(content, 'content');
    // The body of an event inside of a list that was joined from several events.
    if (inner !== undefined && stringAt(content, 'type') === null)
      return contentParts(inner, { ...message, ...content }, role, depth);
    if (isList(content['tool_calls'])) return bodyOf(content, role, depth);
  }
  return anyParts(content, depth);
}

/** Whether parts of the content are results or calls themselves. */
function holdsResults(content: Json): boolean {
  const parts =
    typeof content === 'string'
      ? writtenParts(content)
      : isList(content)
        ? content.flatMap((each) => partsOf(each) ?? [])
        : null;
  return parts?.some(({ type }) => type === 'tool_result' || type === 'tool_call') === true;
}

/** Some senders write the content as a text and as a list: what an earlier field has is left out of a later one. */
function onceEach(lists: readonly (readonly Part[])[]): readonly Part[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length < 2) return filled[0] ?? [];
  const keyOf = ({ type, id, text }: Part): string => `${type}\n${id}\n${text}`;
  const seen = new Set<string>();
  return filled.flatMap((list) => {
    const fresh = list.filter((each) => each.type === 'media' || !seen.has(keyOf(each)));
    for (const each of fresh) seen.add(keyOf(each));
    return fresh;
  });
}

export function finishReasonOf(value: JsonObject): string | null {
  const names = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason'] as const;
  const inner = objectAt(value, 'generation_info', 'response_metadata', 'meta');
  return stringAt(value, ...names) ?? (inner === undefined ? null : stringAt(inner, ...names));
}
