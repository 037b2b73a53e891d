/** JSON Schema of the pricing options: the documentation of every option, its default and its limits. */
import { SERVICE_TIERS } from '../../pdata/columns.ts';
import { PATTERN_LENGTH } from './name-pattern.ts';
import { WEEKDAYS } from './options.ts';
import { RATE_DECIMALS, RATE_KEYS, RATE_LIMIT_USD, type RateKey } from './rates.ts';
import { booleanOption, objectOption } from '../../component/option-schema.ts';

/** Limits of the price list in a configuration file. */
const OVERRIDES_LIMIT = 2_000;
const NAMES_LIMIT = 200;
const PERIODS_LIMIT = 100;
const TIERS_LIMIT = 10;
const WINDOWS_LIMIT = 50;
const NAME_LENGTH = 256;
const NOTE_LENGTH = 1_000;

const name = (description: string) => ({ type: 'string', minLength: 1, maxLength: NAME_LENGTH, description });

const RATE_DESCRIPTIONS: Readonly<Record<RateKey, string>> = {
  input: 'Fresh tokens of the prompt.',
  cache_read: 'Prompt tokens read from a cache; default: the input rate.',
  cache_write: 'Prompt tokens written to a cache; default: the input rate.',
  cache_write_1h: 'Prompt tokens written to a cache for an hour; default: the cache_write rate.',
  input_audio: 'Audio tokens of the prompt; default: the input rate.',
  cache_audio_read: 'Audio tokens read from a cache; default: the cache_read rate.',
  input_image: 'Image tokens of the prompt; default: the input rate.',
  output: 'Generated tokens. Without it the output side has no price, as for embeddings.',
  reasoning: 'Reasoning tokens; default: the output rate.',
  output_audio: 'Generated audio tokens; default: the output rate.',
  output_image: 'Generated image tokens; default: the output rate.',
};

const rates = (description: string) => ({
  type: 'object',
  description,
  additionalProperties: false,
  minProperties: 1,
  properties: Object.fromEntries(
    RATE_KEYS.map((key) => [
      key,
      {
        type: ['string', 'number'],
        description: `${RATE_DESCRIPTIONS[key]} USD per million tokens, from 0 to ${RATE_LIMIT_USD}, at most ${RATE_DECIMALS} decimals; quote it to keep every digit.`,
      },
    ]),
  ),
});

const tiers = {
  type: 'array',
  maxItems: TIERS_LIMIT,
  description:
    'Rates by the size of the prompt. The highest threshold that the prompt exceeds decides the whole request.',
  items: objectOption('Rates above one threshold; a rate left out is the base rate.', ['above_input_tokens', 'rates'], {
    above_input_tokens: {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The tier holds for prompts with strictly more tokens, cached ones included.',
    },
    rates: rates('Rates of this tier.'),
  }),
} as const;

const windows = {
  type: 'array',
  maxItems: WINDOWS_LIMIT,
  description:
    'Rates by hour of the week. The first window that applies is used; outside all windows the base rates apply.',
  items: objectOption('Rates during some hours; a rate left out is the base rate.', ['utc', 'rates'], {
    days: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: [...WEEKDAYS] },
      description: 'Days (UTC) on which the window opens; default: every day.',
    },
    utc: {
      type: 'string',
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d-(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
      description: 'From (inclusive) to (exclusive) in UTC, such as 22:00-02:00; may pass midnight.',
    },
    rates: rates('Rates during these hours.'),
    tiers,
  }),
} as const;

const prices = {
  type: 'array',
  minItems: 1,
  maxItems: PERIODS_LIMIT,
  description:
    'Prices over time. Periods must not overlap; a call is priced by its start time. Outside of them the entry does not apply.',
  items: objectOption('The rates of one period.', ['rates'], {
    from: {
      type: 'string',
      maxLength: 40,
      description: 'First moment of the period: a date or an RFC 3339 time with offset; default: always.',
    },
    until: {
      type: 'string',
      maxLength: 40,
      description: 'First moment after the period; default: the begin of the next period, else unlimited.',
    },
    rates: rates('Base rates of the period; needs input or output.'),
    tiers,
    windows,
  }),
} as const;

const modelMatch = {
  description:
    'Which model names the entry prices: one name, a list of names, a prefix, or an expression that must match the whole name. Case does not matter.',
  anyOf: [
    name('Exactly this name.'),
    {
      type: 'array',
      minItems: 1,
      maxItems: NAMES_LIMIT,
      items: name('One of the names.'),
      description: 'Any of these names.',
    },
    objectOption('Names with a common beginning.', ['prefix'], { prefix: name('Names that begin so.') }),
    objectOption('Names that match an expression as a whole.', ['regex'], {
      regex: {
        type: 'string',
        minLength: 1,
        maxLength: PATTERN_LENGTH,
        description: 'An RE2 expression: no look-around, no back-references.',
      },
    }),
  ],
} as const;

const priceEntry = objectOption(
  'The price of one model or group of models: its own prices, or prices borrowed from a price list.',
  ['id', 'match'],
  {
    id: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$',
      description: 'A unique name of the entry; stored beside every cost that it decides.',
    },
    match: objectOption('When the entry applies.', ['model'], {
      provider: {
        description:
          'The provider as emitted or in any spelling known for it; a list means any of them; default: any provider.',
        anyOf: [
          name('One provider.'),
          { type: 'array', minItems: 1, maxItems: NAMES_LIMIT, items: name('One of the providers.') },
        ],
      },
      model: modelMatch,
    }),
    source: {
      type: 'string',
      maxLength: NOTE_LENGTH,
      description: 'The source of the prices; shown when a price is explained.',
    },
    checked: { type: 'string', maxLength: 40, description: 'The day on which the source was read.' },
    note: { type: 'string', maxLength: NOTE_LENGTH, description: 'A comment for readers of the file.' },
    prices,
    use: objectOption('Borrow the prices of another provider and model from the price lists.', ['provider', 'model'], {
      provider: name('The provider to borrow from.'),
      model: name('The model to borrow.'),
    }),
    multiplier: {
      type: ['string', 'number'],
      description:
        'Factor on every borrowed rate, for example a regional surcharge or a negotiated discount; only with use; default 1.',
    },
    service_tiers: {
      type: 'object',
      description:
        'Service tiers with prices of their own, for example batches at half the price. Default: every tier has the standard prices.',
      additionalProperties: false,
      minProperties: 1,
      properties: Object.fromEntries(
        SERVICE_TIERS.map((tier) => [
          tier,
          objectOption(`Calls that were served as ${tier}.`, ['multiplier'], {
            multiplier: { type: ['string', 'number'], description: 'Factor on every rate of the entry.' },
          }),
        ]),
      ),
    },
  },
);

/** A list of price entries: the `overrides` option, and the form of the supplement file. */
export const PRICE_ENTRIES_SCHEMA = {
  type: 'array',
  maxItems: OVERRIDES_LIMIT,
  default: [],
  description:
    'Own prices. They come before every price list; the first entry that matches, and has a period at the time of the call, is used.',
  items: priceEntry,
} as const;

/** JSON Schema (draft-07) of the processor's options. */
export const PRICING_OPTIONS_SCHEMA = {
  type: 'object',
  description:
    'Derives the cost of model calls from reported usage and model prices; a cost that the span states itself comes first.',
  additionalProperties: false,
  properties: {
    enabled: booleanOption(true, 'Whether costs are derived. Costs that spans state themselves are kept either way.'),
    catalogue: {
      type: 'string',
      minLength: 1,
      maxLength: 4_096,
      default: 'bundled',
      description:
        'The price list: bundled (the one shipped with this version), none, or the path of a local genai-prices data file. Nothing is fetched.',
    },
    supplement: booleanOption(true, 'Whether the shipped corrections and additions to the price list apply.'),
    inclusive_rules: {
      type: 'array',
      maxItems: NAMES_LIMIT,
      default: [],
      description: 'How a producer counts: whether the cached tokens it reports are part of its input tokens.',
      items: {
        type: 'object',
        description: 'One producer, by instrumentation scope, provider, or both.',
        additionalProperties: false,
        required: ['inclusive'],
        minProperties: 2,
        properties: {
          scope: name('The name of the instrumentation scope.'),
          provider: name('The provider as emitted; case and separators do not matter.'),
          inclusive: { type: 'boolean', description: 'True when its input tokens include the cached ones.' },
        },
      },
    },
    overrides: PRICE_ENTRIES_SCHEMA,
  },
} as const;
