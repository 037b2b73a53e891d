/** Parts of a message: what senders and providers put into lists of content. */
import { MAX_DEPTH, part, type Part } from './message.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  jsonText,
  objectAt,
  parseDocument,
  stringAt,
  valueAt,
} from '../pdata/exact-json.ts';

const TEXT: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text', 'summary_text', 'refusal']);
const REASONING: ReadonlySet<string> = new Set(['reasoning', 'thinking', 'redacted_thinking', 'reasoning_text']);
const CALL: ReadonlySet<string> = new Set([
  'tool_call',
  'tool_use',
  'function_call',
  'server_tool_use',
  'server_tool_call',
  'mcp_call',
  'mcp_tool_use',
  'custom_tool_call',
]);
const RESULT: ReadonlySet<string> = new Set([
  'tool_call_response',
  'tool_result',
  'function_call_output',
  'function_response',
  'tool_response',
  'mcp_tool_result',
  'web_search_tool_result',
  'custom_tool_call_output',
  'server_tool_call_response',
]);
const MEDIA: ReadonlySet<string> = new Set([
  'image',
  'image_url',
  'input_image',
  'audio',
  'input_audio',
  'video',
  'video_url',
  'file',
  'input_file',
  'document',
  'blob',
  'uri',
  'media',
]);
/** Parts without a type, known by their one field. */
const CALL_FIELDS = ['toolUse', 'functionCall', 'toolRequest', 'tool_call', 'function_call'] as const;
const RESULT_FIELDS = ['toolResult', 'functionResponse', 'toolResponse', 'tool_call_result'] as const;
const MEDIA_FIELDS = [
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'media',
  'image',
  'audio',
  'video',
] as const;
const WRAPPERS = [
  ...CALL_FIELDS,
  ...RESULT_FIELDS,
  ...MEDIA_FIELDS,
  'reasoningContent',
  'message_content',
  'block_type',
];
/** Fields that may occur besides the one that says what a part is. */
const BESIDE: ReadonlySet<string> = new Set([
  ...['type', 'id', 'index', 'metadata', 'custom', 'thought', 'thoughtSignature', 'thought_signature', 'videoMetadata'],
  ...['cache_control', 'providerOptions', 'providerMetadata', 'annotations'],
]);

const IDS = ['id', 'tool_call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'call_id', 'ref', 'tool_id'] as const;
/** Responses items have an id of their own besides that of the call. */
const CALL_IDS = ['call_id', ...IDS] as const;
const NAMES = ['name', 'toolName', 'tool_name'] as const;
const ARGUMENTS = ['arguments', 'args', 'input', 'parameters', 'tool_kwargs', 'toolInput'] as const;
const RESULTS = ['response', 'result', 'output', 'content', 'value'] as const;

/** The parts of one element of a list; null: it is not a known part. */
export function partsOf(value: Json, depth = 0): readonly Part[] | null {
  if (typeof value === 'string') return [part('text', value)];
  if (!isObject(value) || depth > MAX_DEPTH) return null;
  const type = (stringAt(value, 'type', 'block_type') ?? '').replaceAll('-', '_');
  if (REASONING.has(type) || value['thought'] === true) return [part('reasoning', reasoningOf(value))];
  if (TEXT.has(type)) return textParts(value, depth);
  if (CALL.has(type)) return [callOf(value)];
  if (RESULT.has(type)) return [resultOf(value)];
  return wrappedParts(value, depth) ?? (MEDIA.has(type) ? [mediaOf(value, type)] : untypedParts(value, type));
}

/** The parts of any value; what is not known stays JSON. */
export function anyParts(value: Json, depth = 0): readonly Part[] {
  if (value === null) return [];
  if (isList(value)) return value.flatMap((each) => partsOf(each, depth + 1) ?? jsonParts(each));
  return partsOf(value, depth) ?? jsonParts(value);
}

export const jsonParts = (value: Json): readonly Part[] => (value === null ? [] : [part('json', jsonText(value))]);

/** A string that is the JSON of parts, all of them known; null: any other string. */
export function writtenParts(text: string): readonly Part[] | null {
  if (!/^\s*\[\s*\{/u.test(text)) return null;
  const list = parseDocument(text);
  if (!isList(list)) return null;
  const parts = list.map((each) => (isObject(each) ? partsOf(each) : null));
  return parts.every((each) => each !== null) ? parts.flat() : null;
}

function textParts(value: JsonObject, depth: number): readonly Part[] {
  const text = valueAt(value, 'text', 'content', 'value', 'refusal') ?? '';
  if (typeof text === 'string') return [part('text', text)];
  return anyParts(text, depth + 1);
}

function untypedParts(value: JsonObject, type: string): readonly Part[] | null {
  const calls = objectAt(value, 'function');
  if (calls !== undefined && valueAt(calls, 'arguments') !== undefined) return [callOf(value)];
  const isAnswered = 'tool_output' in value || 'result' in value;
  if (!isAnswered && stringAt(value, 'toolName', 'tool_name') !== null && valueAt(value, ...ARGUMENTS) !== undefined)
    return [callOf(value)];
  if (type === '' && typeof value['text'] === 'string' && isAlone(value, ['text']))
    return [part('text', value['text'])];
  return null;
}

/** Whether the other fields only describe this one. */
const isAlone = (value: JsonObject, own: readonly string[]): boolean =>
  Object.keys(value).every((key) => own.includes(key) || BESIDE.has(key));

function wrappedParts(value: JsonObject, depth: number): readonly Part[] | null {
  if (!isAlone(value, WRAPPERS)) return null;
  const call = objectAt(value, ...CALL_FIELDS);
  if (call !== undefined) return [callOf(call)];
  const result = objectAt(value, ...RESULT_FIELDS);
  if (result !== undefined) return [resultOf(result)];
  const reasoning = objectAt(value, 'reasoningContent');
  if (reasoning !== undefined)
    return [part('reasoning', reasoningOf(objectAt(reasoning, 'reasoningText') ?? reasoning))];
  const inner = objectAt(value, 'message_content');
  if (inner !== undefined) return partsOf(inner, depth + 1) ?? jsonParts(inner);
  const field = MEDIA_FIELDS.find((key) => isObject(value[key]));
  if (field === undefined) return null;
  const media = objectAt(value, field) ?? {};
  return [mediaOf(objectAt(media, field) ?? media, field)];
}

/** A tool call, in the field names of any sender. */
export function callOf(value: JsonObject): Part {
  const wrapped = objectAt(value, 'tool_call') ?? value;
  const call = objectAt(wrapped, 'function') ?? {};
  const given = valueAt(call, ...ARGUMENTS) ?? valueAt(wrapped, ...ARGUMENTS) ?? '';
  return part('tool_call', typeof given === 'string' ? given : jsonText(given), {
    id: stringAt(wrapped, ...CALL_IDS),
    name: stringAt(call, ...NAMES) ?? stringAt(wrapped, ...NAMES),
  });
}

function resultOf(value: JsonObject): Part {
  const origin = objectAt(value, 'origin') ?? {};
  return part('tool_result', resultText(valueAt(value, ...RESULTS) ?? ''), {
    id: stringAt(value, ...CALL_IDS) ?? stringAt(origin, ...IDS),
    name: stringAt(value, ...NAMES) ?? stringAt(origin, ...NAMES),
  });
}

/** Lists of texts as lines. */
export function resultText(value: Json): string {
  if (typeof value === 'string') {
    const parts = writtenParts(value);
    return parts?.every(({ type }) => type === 'text') === true ? linesOf(parts) : value;
  }
  if (isObject(value) && 'value' in value && stringAt(value, 'type') !== null) return resultText(value['value'] ?? '');
  const parts = isList(value) ? value.map((each) => partsOf(each)) : [isObject(value) ? partsOf(value) : null];
  const all = parts.flatMap((each) => each ?? []);
  const areTexts = parts.length > 0 && parts.every((each) => each !== null) && all.every(({ type }) => type === 'text');
  return areTexts ? linesOf(all) : jsonText(value);
}

function reasoningOf(value: JsonObject): string {
  const text = valueAt(value, 'text', 'thinking', 'content', 'summary') ?? '';
  if (typeof text === 'string') return linesOf(writtenParts(text) ?? [part('text', text)]);
  return linesOf(anyParts(text));
}

const linesOf = (parts: readonly Part[]): string => parts.map(({ text }) => text).join('\n');

function mediaOf(value: JsonObject, type: string): Part {
  const source = objectAt(value, 'source', 'file', 'image_url', 'input_audio', 'video_url', 'image') ?? value;
  const address =
    stringAt(source, 'url', 'uri', 'fileUri', 'file_uri') ?? stringAt(value, 'url', 'uri', 'image_url', 'image');
  const [, told = null, base64 = null] = /^data:([^;,]{0,100})[^,]{0,100},(.*)$/su.exec(address ?? '') ?? [];
  const data =
    base64 ?? stringAt(source, 'data', 'bytes', 'file_data', 'content') ?? stringAt(value, 'data', 'bytes', 'content');
  const mediaType =
    stringAt(source, 'mime_type', 'mimeType', 'media_type', 'mediaType', 'contentType', 'format') ??
    stringAt(value, 'mime_type', 'mimeType', 'media_type', 'mediaType', 'contentType', 'format', 'modality') ??
    told ??
    type.replace(/^input_|_url$|Data$|_data$/gu, '');
  return part('media', base64 === null ? (address ?? '') : '', {
    id: stringAt(source, 'file_id', 'fileId') ?? stringAt(value, 'file_id', 'fileId'),
    name: stringAt(source, 'filename', 'name') ?? stringAt(value, 'filename', 'name'),
    mediaType,
    bytes: data === null ? null : sizeOfBase64(data),
  });
}

function sizeOfBase64(data: string): number {
  let length = data.length;
  while (length > 0 && data[length - 1] === '=') length -= 1;
  return Math.floor((length * 3) / 4);
}
