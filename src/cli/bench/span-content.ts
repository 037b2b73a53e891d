/** The attributes of benchmark spans: model calls with long messages, and small spans. The same dice give the same. */
import type { Dice } from '../demo/dice.ts';

const MESSAGE_BYTES = { least: 900, spread: 1000 };
// biome-ignore format: one word a line would take twenty lines
export const PLAIN_WORDS = [
  'the', 'model', 'answers', 'with', 'a', 'short', 'summary', 'of', 'every', 'document', 'it', 'was', 'given', 'and',
  'names', 'its', 'sources', 'when', 'they', 'are', 'known',
] as const;
const OTHER_WORDS = [
  'größere',
  'données',
  'модель',
  'ответ',
  '検索',
  '結果',
  'κείμενο',
  'año',
  '文書',
  'état',
  '🚀',
  '“quoted”',
] as const;
export const MODELS = ['gpt-5-mini', 'gpt-4.1', 'claude-sonnet-4-5', 'gemini-2.5-pro'] as const;
export const PROVIDERS = ['openai', 'openai', 'anthropic', 'gcp.gemini'] as const;

const SYLLABLES = [
  'ba',
  'con',
  'de',
  'fi',
  'gra',
  'lo',
  'men',
  'ni',
  'per',
  'qua',
  'ri',
  'sta',
  'tor',
  'ul',
  'ver',
  'xi',
] as const;

/** Names, numbers and rare words, so that the text compresses about as well as real prompts do. */
function rareWord(dice: Dice): string {
  if (dice.chance(1 / 4)) return String(dice.between(0, 99_999));
  return Array.from({ length: 2 + dice.between(0, 2) }, () => dice.pick(SYLLABLES)).join('');
}

/** Text in which about a quarter of the letters is not ASCII. */
export function prose(dice: Dice, bytes: number): string {
  let result = '';
  let size = 0;
  while (size < bytes) {
    const word =
      dice.between(0, 99) < 28 ? dice.pick(OTHER_WORDS) : dice.chance(1 / 2) ? rareWord(dice) : dice.pick(PLAIN_WORDS);
    result += `${word}${dice.chance(1 / 14) ? '.\n' : ' '}`;
    size += Buffer.byteLength(word) + 1;
  }
  return result;
}

/** Messages as instrumentations write them: JSON as a string. */
function messages(dice: Dice, roles: readonly string[]): string {
  const bytes = (MESSAGE_BYTES.least + dice.between(0, MESSAGE_BYTES.spread)) / roles.length - 60;
  return JSON.stringify(roles.map((role) => ({ role, parts: [{ type: 'text', content: prose(dice, bytes) }] })));
}

export function modelCallAttributes(dice: Dice): Record<string, string | number | boolean | string[]> {
  const index = dice.between(0, MODELS.length - 1);
  const [input, output] = [200 + dice.between(0, 3999), 20 + dice.between(0, 899)];
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': PROVIDERS[index] ?? 'openai',
    'gen_ai.request.model': MODELS[index] ?? 'gpt-5-mini',
    'gen_ai.response.model': `${MODELS[index]}-2026-01-01`,
    'gen_ai.response.id': `chatcmpl-${dice.id(12)}`,
    'gen_ai.request.temperature': dice.between(0, 99) / 100,
    'gen_ai.request.top_p': 0.95,
    'gen_ai.request.max_tokens': 2048,
    'gen_ai.request.frequency_penalty': 0.1,
    'gen_ai.request.stream': true,
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.cache_read.input_tokens': Math.floor(input / 3),
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.output.type': 'text',
    'gen_ai.conversation.id': `conv_${dice.id(8)}`,
    'gen_ai.agent.name': 'support-agent',
    'gen_ai.input.messages': messages(dice, ['system', 'user']),
    'gen_ai.output.messages': messages(dice, ['assistant']),
    'user.id': `user-${dice.between(0, 4999)}`,
    'session.id': dice.id(8),
    'server.address': 'api.example.com',
    'server.port': 443,
    'http.response.status_code': 200,
    'app.tenant': `tenant-${dice.between(0, 39)}`,
    'app.feature': dice.pick(['search', 'summary', 'chat'] as const),
    'app.retry': dice.chance(1 / 9),
  };
}

const SMALL_SPAN_KEYS = [
  'http.request.method',
  'url.path',
  'server.address',
  'thread.name',
  'code.function',
  'app.stage',
] as const;

export function smallSpanAttributes(dice: Dice): Record<string, string | number | boolean> {
  const result: Record<string, string | number | boolean> = {};
  for (const key of SMALL_SPAN_KEYS) result[key] = `${dice.pick(PLAIN_WORDS)}-${dice.between(0, 99)}`;
  return { ...result, 'http.response.status_code': 200 + dice.between(0, 4), 'app.cached': dice.chance(1 / 2) };
}
