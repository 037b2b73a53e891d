/**
 * Reads one content column into messages. Shapes are known by their fields, not by the sender, because frameworks nest
 * the shapes of providers in their own. What is not known stays text or JSON; nothing throws.
 */
import { parseCutDocument } from './cut-document.ts';
import { unflatten } from './flattened.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  parseDocument,
  stringAt,
  valueAt,
} from '../pdata/exact-json.ts';
import {
  MAX_CHARACTERS,
  MAX_DEPTH,
  MAX_PARTS,
  type Message,
  part,
  type Part,
  type Reading,
  roleOf,
} from './message.ts';
import { bodyOf, finishReasonOf, isLangchain, isMessage, isOfLangchain, isSpoken } from './message-body.ts';
import { anyParts, callOf, jsonParts, partsOf, resultText } from './parts.ts';

const ANSWERS = ['choices', 'candidates', 'generations', 'replies'] as const;
/** Fields of a value that is wrapped alone. */
const WRAPPERS: ReadonlySet<string> = new Set([
  ...['input', 'output', 'inputs', 'outputs', 'text', 'content', 'prompt', 'query', 'query_str', 'query_bundle'],
  ...['question', 'answer', 'result', 'response', 'message', 'data', 'llm', 'update'],
]);
/** What callback handlers write besides `inputs` and `outputs`. */
const BESIDE: ReadonlySet<string> = new Set(['tags', 'metadata', 'kwargs']);
/** What a request or an answer holds besides the messages. */
const IDENTITY: ReadonlySet<string> = new Set([
  'graph',
  'resume',
  'goto',
  'image_path',
  'custom_embedding_strs',
  'embedding',
]);

/** `role` is for content without one: of a column, or of the event that it came in. */
export function readMessages(content: string, role: string): Reading {
  const plain = { messages: [messageOf(role, [part('text', content)])], isComplete: true };
  if (content.length > MAX_CHARACTERS) return plain;
  if (content === '') return { messages: [], isComplete: true };
  const known = parseDocument(content);
  const document = known ?? parseCutDocument(content);
  if (document === undefined) return plain;
  const reader = new MessageReader();
  let messages: readonly Message[];
  try {
    messages = reader.read(document, role, 0);
  } catch {
    // Nested deeper than the stack.
    return plain;
  }
  if (known === undefined)
    return messages.every(({ parts }) => parts.every(({ type }) => type === 'json'))
      ? plain
      : { messages, isComplete: false };
  // Nothing was recognised as a message: the value itself is shown.
  if (messages.length === 0) return { messages: [messageOf(role, [part('json', content)])], isComplete: true };
  return { messages, isComplete: reader.isComplete };
}

export const messageOf = (role: string | null, parts: readonly Part[]): Message => ({
  role,
  name: null,
  parts,
  finishReason: null,
});

class MessageReader {
  #left = MAX_PARTS;

  get isComplete(): boolean {
    return this.#left >= 0;
  }

  read(value: Json, role: string, depth: number): readonly Message[] {
    if (value === null) return [];
    // Google's instructions have no role, or that of the user.
    if (role === 'system' && isObject(value) && isList(value['parts'])) return this.read(value['parts'], role, depth);
    if (isList(value)) return this.#readList(value, role, depth);
    if (depth > MAX_DEPTH || !isObject(value)) return this.#loose(anyOrJson(value), role);
    const own = this.#readObject(value, role, depth);
    return own ?? this.#loose(partsOf(value) ?? jsonParts(value), role);
  }

  /** Messages among the elements stay messages; parts besides them are joined. */
  #readList(list: readonly Json[], role: string, depth: number): readonly Message[] {
    // Vectors of embeddings.
    if (list.some((each) => typeof each === 'number' || typeof each === 'boolean'))
      return this.#loose(jsonParts(list), role);
    const found: Message[] = [];
    let loose: Part[] = [];
    const flush = (): void => {
      if (loose.length > 0) for (const each of this.#loose(loose, role)) found.push(each);
      loose = [];
    };
    for (const each of list) {
      if (this.#left < 0) break;
      const messages = isList(each) && depth < MAX_DEPTH ? this.#readList(each, role, depth + 1) : null;
      const own = messages ?? (isObject(each) && depth < MAX_DEPTH ? this.#readObject(each, role, depth + 1) : null);
      if (own === null) for (const one of partsOf(each) ?? jsonParts(each)) loose.push(one);
      else {
        flush();
        for (const one of own) found.push(one);
      }
    }
    flush();
    return found;
  }

  /** Null: not a message, and nothing that holds messages. */
  #readObject(value: JsonObject, role: string, depth: number): readonly Message[] | null {
    if (isMessage(value)) return this.#readMessage(value, role, depth);
    if (partsOf(value) !== null && !isObject(value['message'])) return null;
    const list = unflatten(value);
    if (list !== undefined) return this.#readList(list, role, depth + 1);
    return this.#unwrap(value, role, depth + 1) ?? this.#readRequest(value, role, depth + 1);
  }

  #unwrap(value: JsonObject, role: string, depth: number): readonly Message[] | null {
    const response = objectAt(value, 'response');
    const spoken = typeof response?.['role'] === 'string' ? response : undefined;
    const inner =
      objectAt(value, 'message') ?? spoken ?? (value['lc'] === undefined ? undefined : objectAt(value, 'kwargs'));
    const candidate = objectAt(value, 'content', 'Content');
    const written = isOfLangchain(value) ? objectAt(value, 'data') : undefined;
    const found = inner ?? written ?? (isList(candidate?.['parts']) ? candidate : undefined);
    if (found === undefined) return null;
    const messages = this.read(found, role, depth);
    const reason = finishReasonOf(value);
    return reason === null
      ? messages
      : messages.map((each) => ({ ...each, finishReason: each.finishReason ?? reason }));
  }

  /** Requests and answers of providers and frameworks. */
  #readRequest(value: JsonObject, role: string, depth: number): readonly Message[] | null {
    const keys = Object.keys(value);
    const answers = ANSWERS.find((key) => isList(value[key]));
    // The result of a task of CrewAI: its messages are those before the answer.
    if (typeof value['raw'] === 'string' && 'json_dict' in value)
      return this.#loose([part('text', value['raw'])], 'assistant');
    // A request of ADK for Go has its messages under the name that elsewhere is the text of one.
    const isOfAdk = typeof value['model'] === 'string' && objectAt(value, 'config') !== undefined;
    const named = isOfAdk ? value['content'] : undefined;
    const asked = valueAt(value, 'messages', 'contents', 'Contents') ?? named;
    if (isList(asked)) return this.#withSystem(value, asked, role, depth);
    if (answers !== undefined) return this.read(value[answers] ?? null, 'assistant', depth);
    if (isList(value['output']) && valueAt(value, 'id', 'object') !== undefined)
      return this.read(value['output'], 'assistant', depth);
    if (isList(value['toolCalls']) || ('text' in value && 'files' in value)) return this.#readResult(value, depth);
    if (value['input'] !== undefined && typeof value['model'] === 'string')
      return this.#withSystem(value, value['input'], role, depth);
    if (keys.length === 2 && typeof value['system'] === 'string' && value['prompt'] !== undefined)
      return this.#withSystem(value, value['prompt'], role, depth);
    if (objectAt(value, 'update') !== undefined && keys.every((key) => key === 'update' || IDENTITY.has(key)))
      return this.read(value['update'] ?? null, role, depth);
    const [wrapper, ...others] = keys.filter((key) => !BESIDE.has(key) && !IDENTITY.has(key));
    if (wrapper === undefined || others.length > 0 || !WRAPPERS.has(wrapper)) return null;
    const inner = value[wrapper] ?? null;
    if (typeof inner === 'string') return this.#loose([part('text', inner)], role);
    return isObject(inner) || isList(inner) ? this.read(inner, role, depth) : null;
  }

  #withSystem(value: JsonObject, messages: Json, role: string, depth: number): readonly Message[] {
    const names = ['system', 'systemInstruction', 'system_instruction', 'instructions'] as const;
    // Google's ADK has it among the settings of the request.
    const system = valueAt(value, ...names) ?? valueAt(objectAt(value, 'config', 'Config') ?? {}, ...names) ?? null;
    return [...this.read(system, 'system', depth), ...this.read(messages, role, depth)];
  }

  /** The result of a call with the Vercel AI SDK or Mastra. */
  #readResult(value: JsonObject, depth: number): readonly Message[] {
    const text = stringAt(value, 'text');
    const reasoning = valueAt(value, 'reasoning') ?? null;
    const thoughts = typeof reasoning === 'string' ? reasoning : resultText(reasoning ?? []);
    const calls = isList(value['toolCalls']) ? (value['toolCalls'] as readonly Json[]) : [];
    const files = isList(value['files']) ? (value['files'] as readonly Json[]) : [];
    return this.#loose(
      [
        ...(thoughts === '' || thoughts === '[]' ? [] : [part('reasoning', thoughts)]),
        ...(text === null ? [] : [part('text', text)]),
        ...calls.flatMap((call) => (isObject(call) ? [callOf(call)] : jsonParts(call))),
        ...files.flatMap((file) => anyParts(file, depth)),
      ],
      'assistant',
      finishReasonOf(value),
    );
  }

  #readMessage(value: JsonObject, otherwise: string, depth: number): readonly Message[] {
    const role = roleOf(
      stringAt(value, 'role') ?? (isLangchain(value) ? (stringAt(value, 'type') ?? '') : ''),
      otherwise,
    );
    const content = valueAt(value, 'content') ?? null;
    // Events whose content is a whole list of messages.
    if (isList(content) && content.length > 0 && content.every((each) => isObject(each) && isSpoken(each)))
      return this.#readList(content, otherwise, depth + 1);
    const parts = bodyOf(value, role, depth);
    return this.#count([{ role, name: stringAt(value, 'name'), parts, finishReason: finishReasonOf(value) }]);
  }

  /** Parts outside of any message, in messages of the role that their type has. */
  #loose(parts: readonly Part[], role: string, finishReason: string | null = null): readonly Message[] {
    const found: { role: string; parts: Part[] }[] = [];
    for (const each of parts) {
      const own =
        each.type === 'tool_result'
          ? 'tool'
          : each.type === 'tool_call' || each.type === 'reasoning'
            ? 'assistant'
            : role;
      const last = found.at(-1);
      if (last?.role === own) last.parts.push(each);
      else found.push({ role: own, parts: [each] });
    }
    return this.#count(found.map((each) => ({ ...messageOf(each.role, each.parts), finishReason })));
  }

  #count(messages: readonly Message[]): readonly Message[] {
    return messages.map((each) => {
      const parts = each.parts.slice(0, Math.max(0, this.#left));
      this.#left -= Math.max(1, each.parts.length);
      return { ...each, parts };
    });
  }
}

const anyOrJson = (value: Json): readonly Part[] => (isObject(value) ? jsonParts(value) : anyParts(value));
