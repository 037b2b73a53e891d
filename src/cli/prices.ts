/** `sluice prices check MODEL`: the cost of a call, the price that applies, and the reason. */
import { parseMoment } from '../component/moment.ts';
import { describePrice, explainPrice, type PriceExplanation } from '../processors/pricing/explanation.ts';
import type { PriceEntry } from '../processors/pricing/options.ts';
import type { PriceBook } from '../processors/pricing/price-book.ts';
import { isProblem, StoredEntries } from '../processors/pricing/stored-entry.ts';
import type { Usage } from '../processors/pricing/usage.ts';
import { nearest } from '../component/nearest.ts';
import { SERVICE_TIERS, type ServiceTier } from '../pdata/columns.ts';
import { listPrices, ownFirst } from '../extensions/postgres/price-directory.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, onlyWord, pairsOf, textOption, UsageError } from './options.ts';
import { loadBook, pricingOptionsOf } from './price-book.ts';
import { asJson, clean } from './view/screen-text.ts';

const USAGE_WORDS: Readonly<Record<string, Exclude<keyof Usage, 'serviceTier'>>> = {
  input: 'inputTokens',
  output: 'outputTokens',
  cache_read: 'cacheReadTokens',
  cache_write: 'cacheWriteTokens',
  cache_write_1h: 'cacheWrite1hTokens',
  reasoning: 'reasoningTokens',
  input_audio: 'inputAudioTokens',
  cache_audio_read: 'cacheReadAudioTokens',
  input_image: 'inputImageTokens',
  output_audio: 'outputAudioTokens',
  output_image: 'outputImageTokens',
};
const DEFAULT_USAGE = 'input=1000,output=1000';

export const command: Command = {
  description:
    'The model and provider are looked up exactly as telemetry names them, with the prices of the configuration;\nwith --project, stored prices come before them.\nExits 1 when there is no price. Input includes cached tokens, output includes reasoning.',
  options: {
    ...CONFIG_OPTIONS,
    provider: textOption('NAME', 'The provider, as telemetry names it'),
    project: textOption('NAME', 'Also with the prices stored for this project and for all', { short: 'p' }),
    usage: textOption('LIST', 'Tokens, such as input=1000,output=200,cache_read=800', { default: DEFAULT_USAGE }),
    'service-tier': textOption('TIER', `The tier of service: ${SERVICE_TIERS.join(', ')}`, {
      otherwise: 'the standard one',
    }),
    at: textOption('TIME', 'When the call begins, such as 2026-03-01', { otherwise: 'now' }),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice prices check gpt-5-mini --provider openai', 'a thousand tokens each way'],
    [
      'sluice prices check claude-sonnet-4-5 --provider anthropic --usage input=90000,output=800,cache_read=85000',
      'a cached prompt',
    ],
  ],
  async run(call) {
    const { values, terminal } = call;
    const model = onlyWord(call, 'MODEL');
    const usage = {
      ...parseUsage(values.word('usage')),
      serviceTier: tierOf(values.text('service-tier')),
    };
    const at = momentOf(values.text('at'));
    const explanation = explainPrice(await bookOf(call), values.text('provider') ?? null, model, usage, at);
    terminal.print(values.flag('json') ? asJson(explanation) : describe(explanation));
    return explanation.card === null ? 1 : 0;
  },
};

/** Includes the stored prices of a project if one is named. */
async function bookOf(call: Call): Promise<PriceBook> {
  const project = call.values.text('project');
  const book = await loadBook(call, pricingOptionsOf(await readConfig(call)));
  if (project === undefined) return book;
  const prices = await withDatabase(call, 'read', (database) => listPrices(database, project));
  const reader = new StoredEntries();
  const read = prices.toSorted(ownFirst).map(({ id, entry }) => reader.read(id, entry));
  const stored = read.filter((each): each is PriceEntry => !isProblem(each));
  return book.withStored(stored, () => undefined);
}

/** The output echoes the model name. It is cleaned line by line, so that it cannot control the terminal. */
const describe = (explanation: PriceExplanation): string =>
  describePrice(explanation)
    .split('\n')
    .map((line) => (line.startsWith('  ') ? `  ${clean(line)}` : clean(line)))
    .join('\n');

function parseUsage(text: string): Usage {
  const usage: { -readonly [key in keyof Usage]: Usage[key] } = { inputTokens: 0, outputTokens: 0 };
  for (const [word, count] of pairsOf('usage', text)) {
    const field = Object.hasOwn(USAGE_WORDS, word) ? USAGE_WORDS[word] : undefined;
    if (field === undefined) {
      const near = nearest(word, Object.keys(USAGE_WORDS));
      const hint = near === null ? `one of ${Object.keys(USAGE_WORDS).join(', ')}` : `did you mean "${near}"?`;
      throw new UsageError(`--usage does not know "${word}"`, hint);
    }
    const tokens = /^\d+$/u.test(count) ? Number(count) : Number.NaN;
    if (!Number.isSafeInteger(tokens))
      throw new UsageError(`--usage takes whole numbers, not "${word}=${count}"`, `as ${DEFAULT_USAGE}`);
    usage[field] = tokens;
  }
  return usage;
}

function tierOf(word: string | undefined): ServiceTier | null {
  if (word === undefined) return null;
  const tier = SERVICE_TIERS.find((one) => one === word);
  if (tier === undefined)
    throw new UsageError(`--service-tier does not know "${word}"`, `one of ${SERVICE_TIERS.join(', ')}`);
  return tier;
}

function momentOf(text: string | undefined): number {
  if (text === undefined) return Date.now();
  const moment = parseMoment(text);
  if (Number.isNaN(moment))
    throw new UsageError(`--at takes a date, not "${text}"`, 'as 2026-03-01 or 2026-03-01T12:00:00Z');
  return moment;
}
