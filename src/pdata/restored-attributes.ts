/**
 * The attributes of a stored span or log record as a sender would write them. Content whose column replaced its
 * attribute is put back, under OpenTelemetry's keys, or under its own where the keys are indexed. Other derived columns
 * are left out while the attributes state them, because a receiver derives them again.
 */
import { exactNumber, isList, isObject, type Json, parseJson } from './exact-json.ts';
import type { StoredText } from './stored-text.ts';

const CONTENT_KEYS: Readonly<Record<string, string>> = {
  system_instructions: 'gen_ai.system_instructions',
  input_content: 'gen_ai.input.messages',
  output_content: 'gen_ai.output.messages',
  tool_arguments: 'gen_ai.tool.call.arguments',
  tool_result: 'gen_ai.tool.call.result',
  retrieval_query: 'gen_ai.retrieval.query.text',
  retrieval_documents: 'gen_ai.retrieval.documents',
};
/** The keys of dialects that are read before OpenTelemetry's. */
const OWN_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openinference: { input_content: 'input.value', output_content: 'output.value' },
  'vercel-ai': { output_content: 'ai.response.text' },
  // Its attribute under OpenTelemetry's key is the same result as JSON.
  livekit: { tool_result: 'lk.pii.function_tool.output' },
};
/** What a sender may state only inside a document that has become content. */
const FACT_KEYS: Readonly<Record<string, string>> = {
  request_model: 'gen_ai.request.model',
  response_model: 'gen_ai.response.model',
  response_id: 'gen_ai.response.id',
  input_tokens: 'gen_ai.usage.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
  total_tokens: 'gen_ai.usage.total_tokens',
  cache_read_tokens: 'gen_ai.usage.cache_read.input_tokens',
  cache_write_tokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning_tokens: 'gen_ai.usage.reasoning.output_tokens',
  finish_reasons: 'gen_ai.response.finish_reasons',
  tool_name: 'gen_ai.tool.name',
  tool_call_id: 'gen_ai.tool.call.id',
  agent_name: 'gen_ai.agent.name',
  conversation_id: 'gen_ai.conversation.id',
  user_id: 'user.id',
};
/**
 * Dialects whose facts are read from a document before the attributes, with the attribute of tokens that a receiver
 * adds to the output. Attributes of ADK for JavaScript leave these tokens out, and only its document states them. Where
 * the attribute was sent, the attributes alone give the same counts.
 */
const DOCUMENT_FIRST: Readonly<Record<string, string>> = {
  'google-adk': 'gen_ai.usage.experimental.reasoning_tokens',
};
/** Each dialect has attributes of its own for these, so they are added only where no attribute is left. */
const KIND_KEYS: Readonly<Record<string, string>> = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  error_type: 'error.type',
};
const COUNTS = /_tokens$/u;
/** A list that was sent as one attribute for each leaf is stored as one object of these attributes. */
const INDEXED = /^[a-z_]+(?:\.[a-z_]+)+\.\d{1,6}(?:\.|$)/u;

/** `attributes` is null in rows whose attributes the reader may not see. */
export function restoredAttributes(row: StoredText): ReadonlyMap<string, Json> {
  const { attributes: stored = null } = row;
  const attributes = storedAttributes(stored);
  const hasDocument = addContent(attributes, row);
  if (stored === null) addFacts(attributes, row, { ...KIND_KEYS, ...FACT_KEYS });
  else if (hasDocument) addFacts(attributes, isSum(row) ? { ...row, total_tokens: null } : row, FACT_KEYS);
  addCost(attributes, row);
  return attributes;
}

/**
 * The keys under which `restoredAttributes` puts columns back and that the sender may not have used. Keys of indexed
 * lists are the sender's own.
 */
export function assumedKeys(row: StoredText): ReadonlySet<string> {
  const stored = storedAttributes(row['attributes'] ?? null);
  const added = [...restoredAttributes(row).keys()].filter((key) => !stored.has(key));
  return new Set(added.filter((key) => !INDEXED.test(key)));
}

function storedAttributes(text: string | null): Map<string, Json> {
  const stored = parseJson(text ?? '{}');
  return new Map(isObject(stored) ? Object.entries(stored) : []);
}

/** Whether some content is a document, which may hold more than its column. */
function addContent(attributes: Map<string, Json>, row: StoredText): boolean {
  let hasDocument = false;
  for (const [column, key] of Object.entries(CONTENT_KEYS)) {
    const content = row[column];
    if (content === null || content === undefined) continue;
    if (isInEvent(row, key, content)) continue;
    const indexed = indexedKeys(content);
    hasDocument ||= indexed === null && /^\s*[[{]/u.test(content);
    const own = OWN_KEYS[row['dialect'] ?? '']?.[column] ?? key;
    for (const [name, value] of indexed ?? [[attributes.has(own) ? key : own, content] as const])
      if (!attributes.has(name)) attributes.set(name, value);
  }
  return hasDocument;
}

/** Content of events stays in them. */
function isInEvent(row: StoredText, key: string, content: string): boolean {
  const events = row['events'] ? parseJson(row['events']) : undefined;
  if (!isList(events)) return false;
  return events.some((event) => {
    const attributes = isObject(event) ? event['attributes'] : undefined;
    return isObject(attributes) && (Object.hasOwn(attributes, key) || Object.values(attributes).includes(content));
  });
}

/** Whether the total is what a receiver computes by itself. */
function isSum({ input_tokens: input = null, output_tokens: output = null, total_tokens: total = null }: StoredText) {
  return input !== null && output !== null && total !== null && BigInt(input) + BigInt(output) === BigInt(total);
}

/** Adds the facts that no attribute states, and replaces those that the document stated before the attributes. */
function addFacts(attributes: Map<string, Json>, row: StoredText, keys: Readonly<Record<string, string>>): void {
  const told = row['attributes'] ?? '';
  const added = DOCUMENT_FIRST[row['dialect'] ?? ''];
  const isDocumentFirst = added !== undefined && !attributes.has(added);
  for (const [column, key] of Object.entries(keys)) {
    const text = row[column] ?? null;
    if (text === null || (attributes.has(key) && !isDocumentFirst)) continue;
    const fact = column === 'finish_reasons' || COUNTS.test(column) ? (parseJson(text) ?? text) : text;
    const words = isList(fact) ? fact.map(String) : [text];
    if (attributes.has(key) || !words.every((word) => told.includes(word))) attributes.set(key, fact);
  }
}

/** What Sluice computed. No receiver derives a column from these keys. */
function addCost(
  attributes: Map<string, Json>,
  { total_cost: cost = null, cost_source: source = null }: StoredText,
): void {
  if (cost === null) return;
  attributes.set('sluice.cost_usd', exactNumber(cost));
  if (source !== null) attributes.set('sluice.cost_source', source);
}

function indexedKeys(content: string): readonly (readonly [string, Json])[] | null {
  const document = content.startsWith('{') ? parseJson(content) : undefined;
  if (!isObject(document)) return null;
  const entries = Object.entries(document);
  return entries.length > 0 && entries.every(([key]) => INDEXED.test(key)) ? entries : null;
}
