// Which card an emitted name finds: known prices, spellings of providers and models, and names that must stay unpriced.
import t from 'tap';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { formatRate } from '../../../src/processors/pricing/rates.ts';
import { aPipe } from '../../support/named-pipe.ts';
import { isPrompt } from '../../support/promptness.ts';

const SEPTEMBER = Date.UTC(2026, 8, 20, 12);

type Quote = [
  input: string | undefined,
  cacheRead: string | undefined,
  cacheWrite: string | undefined,
  hourWrite: string | undefined,
  output: string | undefined,
];

function quote(book: PriceBook, provider: string | null, model: string, timeMs = SEPTEMBER): Quote | null {
  const stated = book.find(provider, model)?.card.tableAt(timeMs)?.base.stated;
  if (stated === undefined) return null;
  const text = (rate: number | undefined) => (rate === undefined ? undefined : formatRate(rate));
  return [
    text(stated.input),
    text(stated.cache_read),
    text(stated.cache_write),
    text(stated.cache_write_1h),
    text(stated.output),
  ];
}

t.test('price book', async (t) => {
  const book = await PriceBook.load();
  const listed = await PriceBook.load({ supplement: false });

  t.test('twenty prices read from provider pages and price lists', (t) => {
    const no = undefined;
    const known: [string, string, Quote][] = [
      ['openai', 'gpt-4o', ['2.5', '1.25', no, no, '10']],
      ['openai', 'gpt-4o-mini', ['0.15', '0.075', no, no, '0.6']],
      ['openai', 'gpt-4.1', ['2', '0.5', no, no, '8']],
      ['openai', 'o3', ['2', '0.5', no, no, '8']],
      ['openai', 'o4-mini', ['1.1', '0.275', no, no, '4.4']],
      ['openai', 'gpt-5', ['1.25', '0.125', no, no, '10']],
      ['openai', 'gpt-5.2', ['1.75', '0.175', no, no, '14']],
      ['openai', 'gpt-5.4', ['2.5', '0.25', no, no, '15']],
      ['openai', 'gpt-5.5', ['5', '0.5', no, no, '30']],
      ['openai', 'gpt-5.6-terra', ['2', '0.2', '2.5', no, '12']],
      ['anthropic', 'claude-sonnet-4-5', ['3', '0.3', '3.75', '6', '15']],
      ['anthropic', 'claude-opus-4-1', ['15', '1.5', '18.75', '30', '75']],
      ['anthropic', 'claude-opus-4-5', ['5', '0.5', '6.25', '10', '25']],
      ['anthropic', 'claude-haiku-4-5', ['1', '0.1', '1.25', '2', '5']],
      ['anthropic', 'claude-sonnet-5', ['2', '0.2', '2.5', '4', '10']],
      ['aws.bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', ['3.3', '0.33', '4.125', '6.6', '16.5']],
      ['gcp.gemini', 'gemini-2.5-pro', ['1.25', '0.125', no, no, '10']],
      ['gcp.gemini', 'gemini-2.5-flash', ['0.3', '0.03', no, no, '2.5']],
      ['groq', 'llama-3.3-70b-versatile', ['0.59', no, no, no, '0.79']],
      ['mistral_ai', 'codestral-latest', ['0.3', no, no, no, '0.9']],
    ];
    for (const [provider, model, expected] of known)
      t.same(quote(book, provider, model), expected, `${provider} ${model}`);
    t.end();
  });

  t.test('names that only begin or end like a known model stay unpriced', (t) => {
    const names: [string, string][] = [
      ['anthropic', 'claude-opus-4-10'],
      ['anthropic', 'claude-sonnet-5-9-turbo'],
      ['anthropic', 'claude-sonnet-50'],
      ['aws.bedrock', 'amazon.nova-pro-v2:0'],
      ['aws.bedrock', 'us.amazon.nova-pro-v2:0'],
      ['aws.bedrock', 'anthropic.claude-sonnet-5-9-turbo-v1:0'],
      ['gcp.gemini', 'gemini-2.5-pro-ultra'],
      ['gcp.gemini', 'gemini-3.8-flash-lite'],
      ['openai', 'gpt-5-nano-anything'],
      ['openai', 'my-gpt-4o'],
      ['gcp.gemini', 'my-gemini-1.5-pro'],
      ['gcp.gemini', 'gemini-3.5-flash-8b'],
      ['gcp.vertex_ai', 'not-claude-opus-5'],
      ['openai', 'gpt-4o-realtime-2x'],
      ['gcp.gemini', 'tunedModels/my-gemini-1.5-pro'],
      ['cohere', 'my-aya-expanse-8b'],
      ['minimax', 'MiniMax-M2.5-highspeed-2'],
    ];
    for (const [provider, model] of names) t.equal(book.find(provider, model), null, `${provider} ${model}`);
    for (const [, model] of names) t.equal(book.find(null, model), null, `${model} without provider`);
    t.equal(listed.find('aws', 'amazon.titan-embed-text-v2:0'), null, 'version 2 is not version 1');
    t.equal(listed.find('anthropic', 'claude-2.1'), null, 'refused by the guard; the supplement has it');
    t.end();
  });

  t.test('local servers, free routes, private deployments and unknown providers have no list price', (t) => {
    const names: [string | null, string][] = [
      ['ollama', 'llama3'],
      ['vllm', 'gpt-4o'],
      [null, 'ollama/llama3'],
      ['openrouter', 'deepseek/deepseek-chat:free'],
      ['aws', 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2'],
      ['aws', 'arn:aws:bedrock:us-east-1:123456789012:provisioned-model/a1b2'],
      ['azure', 'my-gpt4o-prod'],
      ['my-proxy', 'gpt-4o'],
      ['openai', 'ft:gpt-5-2025-08-07:acme::1'],
      ['openai', 'omni-moderation-latest'],
      ['gcp.vertex_ai', 'projects/p/locations/l/endpoints/123'],
      [null, ''],
      ['openai', ' '],
      [null, 'my-model'],
    ];
    for (const [provider, model] of names) t.equal(book.find(provider, model), null, `${provider} ${model}`);
    t.end();
  });

  t.test('a provider is known in every spelling that emitters use', (t) => {
    const spellings: [string, string, string][] = [
      ['azure.ai.openai', 'gpt-4o', 'openai/gpt-4o'],
      ['az.ai.openai', 'gpt-4o', 'openai/gpt-4o'],
      ['azure_openai', 'gpt-35-turbo', 'openai/gpt-3.5-turbo'],
      ['AWS', 'amazon.nova-pro-v1:0', 'aws/amazon.nova-pro-v1:0'],
      ['amazon-bedrock', 'amazon.nova-pro-v1:0', 'aws/amazon.nova-pro-v1:0'],
      ['aws_bedrock', 'eu.amazon.nova-pro-v1:0', 'aws/amazon.nova-pro-v1:0'],
      ['gcp.vertex_ai', 'gemini-2.5-flash', 'google/gemini-2.5-flash'],
      ['gcp.gen_ai', 'gemini-2.5-flash', 'google/gemini-2.5-flash'],
      ['google.generative-ai', 'gemini-2.5-flash', 'google/gemini-2.5-flash'],
      ['google.vertex.chat', 'gemini-2.5-flash', 'google/gemini-2.5-flash'],
      ['openai.responses', 'gpt-4o', 'openai/gpt-4o'],
      ['anthropic.messages', 'claude-opus-4-5', 'anthropic/claude-opus-4-5'],
      ['x_ai', 'grok-3', 'x-ai/grok-3'],
      ['xai.chat', 'grok-3', 'x-ai/grok-3'],
      ['mistral_ai', 'mistral-embed', 'mistral/mistral-embed'],
      ['TogetherAI', 'Qwen/Qwen1.5-14B-Chat', 'together/Qwen/Qwen1.5-14B'],
      ['fireworks_ai', 'accounts/fireworks/models/deepseek-v3p2', 'fireworks/deepseek-v3p2'],
      ['Cohere', 'command-r-plus', 'cohere/command-r-plus'],
      ['X.AI', 'grok-3', 'x-ai/grok-3'],
      ['Perplexity AI', 'sonar-deep-research', 'perplexity/sonar-deep-research'],
      ['google_anthropic_vertex', 'claude-opus-5', 'google/claude-opus-5'],
      [
        'huggingface_groq',
        'meta-llama/Llama-4-Scout-17B-16E-Instruct',
        'huggingface_groq/meta-llama/Llama-4-Scout-17B-16E-Instruct',
      ],
    ];
    for (const [provider, model, expected] of spellings) {
      const draft = book.find(provider, model)?.card.draft;
      t.equal(draft && `${draft.provider}/${draft.model}`, expected, `${provider} ${model}`);
    }
    t.end();
  });

  t.test('a model is known with path, prefix, date, version, region and tag', (t) => {
    const spellings: [string | null, string, string][] = [
      ['openai', 'GPT-4o-2024-11-20', 'openai/gpt-4o'],
      ['openai', 'openai/gpt-4o', 'openai/gpt-4o'],
      ['openai', 'gpt-5.2-2027-01-01', 'openai/gpt-5.2'],
      [null, 'gpt-4o-mini', 'openai/gpt-4o-mini'],
      ['litellm', 'openai/gpt-4o', 'openai/gpt-4o'],
      ['litellm', 'azure/gpt-4o', 'openai/gpt-4o'],
      ['litellm', 'bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0', 'aws/regional.anthropic.claude-opus-4-5-v1:0'],
      ['gcp.gemini', 'models/gemini-2.5-flash', 'google/gemini-2.5-flash'],
      ['gcp.gemini', 'gemini-2.5-pro-preview-05-06', 'google/gemini-2.5-pro'],
      ['gcp.gemini', 'gemini-2.5-flash-lite-preview-09-2025', 'google/gemini-2.5-flash-lite'],
      ['gcp.gemini', 'gemini-1.5-pro-002', 'google/gemini-1.5-pro'],
      ['gcp.gemini', 'gemini-2.0-flash-001', 'google/gemini-2.0-flash'],
      ['gcp.gemini', 'gemini-3.5-flash-001', 'google/gemini-3.5-flash'],
      ['gcp.vertex_ai', 'projects/p/locations/l/publishers/google/models/gemini-2.5-pro', 'google/gemini-2.5-pro'],
      ['gcp.vertex_ai', 'claude-sonnet-4@20250514', 'google/claude-4-sonnet'],
      ['gcp.vertex_ai', 'claude-3-5-sonnet-v2@20241022', 'google/claude-3-5-sonnet'],
      ['gcp.vertex_ai', 'claude-opus-5@default', 'google/claude-opus-5'],
      ['anthropic', 'claude-sonnet-4-20250514', 'anthropic/claude-sonnet-4-0'],
      ['anthropic', 'claude-3-5-sonnet-latest', 'anthropic/claude-3-5-sonnet'],
      ['anthropic', 'us.anthropic.claude-opus-4-5-20251101-v1:0', 'aws/regional.anthropic.claude-opus-4-5-v1:0'],
      [null, 'us.anthropic.claude-opus-4-5-20251101-v1:0', 'aws/regional.anthropic.claude-opus-4-5-v1:0'],
      [
        'aws',
        'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0',
        'aws/regional.anthropic.claude-opus-4-5-v1:0',
      ],
      ['aws', 'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0', 'aws/amazon.nova-lite-v1:0'],
      [
        'aws',
        'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
        'aws/global.anthropic.claude-sonnet-4-5-20250929-v1:0',
      ],
      ['openrouter', 'anthropic/claude-sonnet-4.5:nitro', 'openrouter/anthropic/claude-sonnet-4.5'],
      ['openrouter', 'openrouter/anthropic/claude-sonnet-4.5', 'openrouter/anthropic/claude-sonnet-4.5'],
      ['azure', 'Phi-4-mini-instruct', 'azure/phi-4-mini-instruct'],
      ['cohere', 'c4ai-aya-expanse-8b', 'cohere/c4ai-aya-expanse-8b'],
      ['minimax', 'MiniMax-M2.5-highspeed', 'minimax/MiniMax-M2.5-highspeed'],
    ];
    for (const [provider, model, expected] of spellings) {
      const draft = book.find(provider, model)?.card.draft;
      t.equal(draft && `${draft.provider}/${draft.model}`, expected, `${provider} ${model}`);
    }
    t.end();
  });

  t.test('every exact name of the catalogue finds its own card', async (t) => {
    const { waitForUpdate } = await import('@pydantic/genai-prices');
    type Match = Record<string, string | readonly Match[]>;
    const exact = (match: Match): string[] =>
      Array.isArray(match['or'])
        ? match['or'].flatMap(exact)
        : typeof match['equals'] === 'string'
          ? [match['equals']]
          : [];
    const strays: string[] = [];
    let found = 0;
    for (const provider of (await waitForUpdate()) ?? []) {
      for (const model of provider.models) {
        const prices = Array.isArray(model.prices) ? model.prices.map((entry) => entry.prices) : [model.prices];
        if (!prices.some((price) => price['input_mtok'] !== undefined || price['output_mtok'] !== undefined)) continue;
        for (const name of exact(model.match as Match)) {
          if (name.endsWith(':free')) continue;
          const draft = listed.find(provider.id, name)?.card.draft;
          if (draft?.provider === provider.id && draft.model === model.id) found++;
          else strays.push(`${provider.id} ${name} => ${draft?.provider}/${draft?.model}`);
        }
      }
    }
    t.same(strays, []);
    t.ok(found > 1500, `${found} names`);
  });

  t.test('the match shows how the name was found', (t) => {
    t.equal(book.find('openai', 'gpt-4o')?.match, 'exact');
    t.equal(book.find('anthropic', 'claude-opus-4-5-20251101')?.match, 'rule');
    t.equal(book.find('openai', 'gpt-5.2-2027-01-01')?.match, 'rule');
    t.equal(book.find('azure', 'gpt-4o')?.match, 'fallback');
    t.end();
  });

  t.test("the catalogue's long-prompt threshold of OpenAI is 272,000, exclusive, and xAI's is inclusive", (t) => {
    const tier = (provider: string, model: string, inputTokens: number) =>
      book.find(provider, model)?.cost({ inputTokens, outputTokens: 0 }, SEPTEMBER).audit;
    for (const model of ['gpt-5.4', 'gpt-5.6-sol', 'gpt-6-sol']) {
      t.match(tier('openai', model, 272_000), 'tier=base', model);
      t.match(tier('openai', model, 272_001), 'tier=>272000', model);
    }
    t.match(tier('aws', 'us.openai.gpt-5.6-sol', 272_000), 'tier=base');
    t.match(tier('xai', 'grok-4.3', 199_999), 'tier=base');
    t.match(tier('xai', 'grok-4.3', 200_000), 'tier=>199999');
    t.end();
  });

  t.test('prices by hour do not apply before their price change', (t) => {
    const at = (timeMs: number) =>
      listed.find('deepseek', 'deepseek-v4-flash')?.cost({ inputTokens: 1_000_000, outputTokens: 0 }, timeMs).inputCost;
    t.equal(at(Date.UTC(2026, 6, 15, 2)), 14_000_000n, 'July at two is the flat price');
    t.equal(at(Date.UTC(2026, 7, 18, 2)), 44_000_000n, 'August at two is the peak price');
    t.equal(at(Date.UTC(2026, 7, 18, 4)), 22_000_000n, 'the window closes at four');
    const early = listed.find('deepseek', 'deepseek-chat');
    t.equal(
      early?.cost({ inputTokens: 1_000_000, outputTokens: 0 }, Date.UTC(2025, 2, 1, 0, 30)).inputCost,
      27_000_000n,
    );
    t.equal(
      early?.cost({ inputTokens: 1_000_000, outputTokens: 0 }, Date.UTC(2025, 2, 1, 16, 30)).inputCost,
      13_500_000n,
    );
    t.end();
  });

  t.test('dated prices follow the start of the call', (t) => {
    const june = Date.UTC(2025, 5, 10);
    t.equal(quote(book, 'openai', 'o3', june - 1)?.[0], '10');
    t.equal(quote(book, 'openai', 'o3', june)?.[0], '2');
    t.equal(quote(book, 'openai', 'gpt-5.6-terra', Date.UTC(2026, 6, 29))?.[0], '2.5');
    t.end();
  });

  t.test('float noise is rounded away and embeddings have no output side', (t) => {
    for (const model of ['mistral-embed'])
      t.same(quote(book, 'mistral', model), ['0.1', undefined, undefined, undefined, undefined]);
    const cost = book
      .find('openai', 'text-embedding-3-small')
      ?.cost({ inputTokens: 1000, outputTokens: null }, SEPTEMBER);
    t.equal(cost?.totalCost, 2000n);
    t.end();
  });

  t.test('names of any content are looked up in bounded time', async (t) => {
    const shapes = ['a', '-', '1', '.', '/', ':', '@', 'gpt-5-nano-', 'claude-', '-1', '4-1'];
    const lookUp = (): void => {
      for (const shape of shapes) {
        const name = shape.repeat(256).slice(0, 256);
        for (const provider of ['openai', 'aws', 'google', 'anthropic', null]) book.resolve(provider, name, []);
      }
    };
    t.ok(await isPrompt(2_000, lookUp));
  });

  t.test('without a catalogue only own entries have prices', async (t) => {
    const own = await PriceBook.load({
      catalogue: 'none',
      overrides: [
        { id: 'mine', match: { provider: 'groq', model: 'x' }, prices: [{ rates: { input: '1', output: '1' } }] },
      ],
    });
    t.equal(own.find('openai', 'gpt-4o'), null);
    t.equal(own.find('Groq', 'X')?.card.draft.model, 'mine');
  });

  t.test('a catalogue file replaces the bundled list, and a wrong one is reported', async (t) => {
    const dir = t.testdir({
      'prices.json': JSON.stringify([
        {
          id: 'acme',
          models: [
            {
              id: 'm1',
              match: { equals: 'M1' },
              prices: [
                { prices: { input_mtok: 0.18000000000000002 } },
                {
                  constraint: { start_date: '2026-01-01' },
                  prices: { input_mtok: { base: 1, tiers: [{ start: 5, price: 2 }] } },
                },
              ],
            },
          ],
        },
      ]),
      'other.json': '{"models":[]}',
    });
    const file = await PriceBook.load({ catalogue: `${dir}/prices.json` });
    t.equal(quote(file, 'acme', 'm1', 0)?.[0], '0.18');
    t.match(
      file.find('acme', 'm1')?.cost({ inputTokens: 6, outputTokens: 0 }, SEPTEMBER).audit,
      /^file:prices\.json@[0-9a-f]{16} acme\/m1 from=2026-01-01 tier=>5 match=exact$/,
    );
    await t.rejects(PriceBook.load({ catalogue: `${dir}/other.json` }), {
      message: 'catalogue: is not a genai-prices data file',
    });
    await t.rejects(PriceBook.load({ catalogue: `${dir}/none.json` }), { message: /^catalogue: ENOENT/ });
    await t.rejects(PriceBook.load({ catalogue: aPipe(dir) }), { message: 'catalogue: it is not a file' });
  });
});
