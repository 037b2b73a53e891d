/**
 * Audio, images, cached audio and tiers of service: from the attributes of each sender to the exact cost, with what was
 * assumed.
 */
import t from 'tap';
import { formatMoney } from '../../../src/pdata/money.ts';
import { explainPrice } from '../../../src/processors/pricing/explanation.ts';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

const RATES = {
  input: 1,
  cache_read: 0.1,
  input_audio: 10,
  cache_audio_read: 3,
  input_image: 7,
  output: 2,
  output_audio: 20,
  output_image: 30,
};
const ENTRIES = [
  {
    id: 'kinds',
    match: { model: 'kinds' },
    prices: [{ rates: RATES }],
    service_tiers: { batch: { multiplier: '0.5' }, priority: { multiplier: '1.75' } },
  },
  { id: 'text-only', match: { model: 'text-only' }, prices: [{ rates: { input: 1, output: 2 } }] },
];
const CONFIG = FILE_CONFIG.replace(
  '  environment: {}',
  `  environment: {}\n  normalization: {}\n  pricing: { overrides: ${JSON.stringify(ENTRIES)} }`,
).replaceAll('[auth, environment]', '[auth, environment, normalization, pricing]');

type Attributes = Readonly<Record<string, string | number | boolean>>;
const CALL = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'kinds',
  'gen_ai.usage.input_tokens': 1000,
  'gen_ai.usage.output_tokens': 500,
};
const PLAIN = ['0.00100000', '0.00100000'] as const;
/**
 * 400 of the prompt are audio, 100 of these cached, and 200 are images: 400 text, 300 audio, 100 cached audio, 200
 * images.
 */
const INPUT = '0.00510000';
/** 200 of the answer are audio, 100 an image. */
const OUTPUT = '0.00740000';

const CASES: readonly (readonly [what: string, more: Attributes, input: string, output: string, audit: RegExp])[] = [
  ['text', {}, ...PLAIN, /^user@.* match=exact$/],
  [
    'the names to come of OpenTelemetry',
    {
      'gen_ai.usage.cache_read.input_tokens': 100,
      'gen_ai.usage.audio.input_tokens': 400,
      'gen_ai.usage.audio.cache_read.input_tokens': 100,
      'gen_ai.usage.image.input_tokens': 200,
      'gen_ai.usage.audio.output_tokens': 200,
      'gen_ai.usage.image.output_tokens': 100,
    },
    INPUT,
    OUTPUT,
    /match=exact$/,
  ],
  [
    'Pydantic AI',
    {
      'gen_ai.usage.details.cache_read_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 100,
      'gen_ai.usage.details.input_audio_tokens': 400,
      'gen_ai.usage.details.cache_audio_read_tokens': 100,
      'gen_ai.usage.details.output_audio_tokens': 200,
    },
    // 600 text, 300 audio, 100 cached audio; 300 text, 200 audio.
    '0.00390000',
    '0.00460000',
    /match=exact$/,
  ],
  [
    'LangSmith',
    {
      'langsmith.span.kind': 'llm',
      'gen_ai.usage.input_token_details': '{"audio": 300, "image": 200}',
      'gen_ai.usage.output_token_details': '{"audio": 200, "image": 100}',
    },
    // 500 text, 300 audio, 200 images.
    '0.00490000',
    OUTPUT,
    /match=exact$/,
  ],
  [
    'a card without rates of their own',
    {
      'gen_ai.request.model': 'text-only',
      'gen_ai.usage.audio.input_tokens': 400,
      'gen_ai.usage.image.output_tokens': 100,
    },
    ...PLAIN,
    /match=exact audio=text-rate image=text-rate$/,
  ],
  ['OpenAI’s batches', { 'openai.response.service_tier': 'batch' }, '0.00050000', '0.00050000', / service=batch$/],
  [
    'what served counts before what was asked for',
    { 'openai.request.service_tier': 'auto', 'openai.response.service_tier': 'priority' },
    '0.00175000',
    '0.00175000',
    / service=priority$/,
  ],
  ['Laminar’s batches', { 'gen_ai.request.batch': true }, '0.00050000', '0.00050000', / service=batch$/],
  [
    'a tier without a price of its own',
    { 'gen_ai.openai.response.service_tier': 'flex' },
    ...PLAIN,
    / service=flex:standard-rate$/,
  ],
  ['the standard tier', { 'openai.response.service_tier': 'default' }, ...PLAIN, /match=exact$/],
  ['an unknown word', { 'openai.response.service_tier': 'gold' }, ...PLAIN, /match=exact$/],
];

t.test('every token kind is billed at its own rate, for every sender', async (t) => {
  const daemon = await startDaemon(t, { config: CONFIG });
  const spans = CASES.map(([, more]) => aSpan({ attributes: { ...CALL, ...more } }));
  const answer = await send(daemon.url, { body: JSON.stringify(aTraceRequest(spans)) });
  t.equal(answer.status, 200);
  const rows = await daemon.rows();
  for (const [index, [what, , input, output, audit]] of CASES.entries())
    t.match(rows[index], { input_cost: input, output_cost: output, price_id: audit }, what);
});

t.test('a tier is explained with its rates, and borrowed with the card', async (t) => {
  const book = await PriceBook.load({
    overrides: [
      ...ENTRIES,
      {
        id: 'half',
        match: { model: 'half' },
        use: { provider: 'openai', model: 'gpt-4o' },
        service_tiers: { batch: { multiplier: '0.5' } },
      },
    ],
  });
  const usage = { inputTokens: 1000, outputTokens: 0, serviceTier: 'batch' } as const;
  const explained = explainPrice(book, null, 'kinds', usage, 0);
  t.match(explained, {
    inputCost: '0.00050000',
    card: { priceId: / service=batch$/, rates: { input: '0.5' } },
    flags: [],
  });
  const cost = book.find(null, 'half')?.cost(usage, Date.parse('2026-09-01'));
  t.equal(formatMoney(cost?.inputCost ?? 0n), '0.00125000');
  t.match(explainPrice(book, null, 'text-only', usage, 0), { flags: ['service_at_standard_rate'] });
  await t.rejects(
    PriceBook.load({ overrides: [{ ...ENTRIES[1], service_tiers: { batch: { multiplier: 'cheap' } } } as never] }),
    { message: /^overrides\[0\]\.service_tiers\.batch\.multiplier: must be a decimal/ },
  );
});
