/**
 * Routes: which price list a provider name means. Senders spell the same provider in many ways (`aws.bedrock`, `AWS`,
 * `amazon-bedrock`); a route is the canonical one, and most routes are named as the catalogue names the provider.
 */
import { PROVIDERS } from '../../dialects/providers.ts';

/** Words that name no provider: gateways that put it into the model name, and fillers. */
const NO_PROVIDER = new Set([
  '',
  'litellm',
  'gateway',
  'ai-gateway',
  'vercel',
  'unknown',
  'other',
  '-other',
  'none',
  'null',
  'undefined',
]);

/** Routes that read another route's price list. */
const PRICE_LIST: Readonly<Record<string, string>> = { vertex: 'google', gemini: 'google' };

/** A Bedrock model id: optional region or inference profile, vendor, dot, model. */
const BEDROCK_ID =
  /^(?:arn:aws|(?:(?:us|eu|apac|jp|au|in|ca|sa|uk|global|us-gov)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|writer|nvidia|google|moonshot|minimax|zai)\.[a-z])/;
const VERTEX_PATH = /(?:^|\/)publishers\/[^/]+\/models\//;

/** What the route table needs to know of a catalogue. */
export interface ProviderIndex {
  /** The catalogue's provider id for a folded spelling; null when it knows none. */
  providerNamed(folded: string): string | null;
  /** The provider whose model names look like this one; null when none does. */
  providerOfModel(model: string): string | null;
}

const ROUTES: ReadonlyMap<string, string> = new Map(
  PROVIDERS.flatMap(({ route, spellings, priceSpellings }) =>
    route === null ? [] : [...spellings, ...priceSpellings].map((word) => [foldProvider(word), route] as const),
  ),
);

/** Case and separators do not distinguish providers. */
export function foldProvider(provider: string): string {
  return provider
    .trim()
    .toLowerCase()
    .replace(/[_\s]+/g, '-');
}

/** The price list that a route reads. */
export function priceListOf(route: string): string {
  return PRICE_LIST[route] ?? route;
}

/** The route of an emitted provider name; null when the name is filler or nobody knows it. */
export function routeOfProvider(provider: string | null, index: ProviderIndex): string | null {
  const folded = foldProvider(provider ?? '');
  if (NO_PROVIDER.has(folded)) return null;
  // `openai.responses`, `google.vertex.chat`, `azure.ai.openai`: the last words say which API was called.
  for (let name = folded; name !== ''; name = name.slice(0, Math.max(name.lastIndexOf('.'), 0))) {
    const route = ROUTES.get(name);
    if (route !== undefined) return route;
  }
  return index.providerNamed(folded);
}

/**
 * Whether the name is filler, so that the model name may tell the provider. An unknown provider is a private one, and
 * stays unpriced.
 */
export function namesNoProvider(provider: string | null): boolean {
  return NO_PROVIDER.has(foldProvider(provider ?? ''));
}

/** The route that a model name gives away by its form alone: Bedrock ids and Vertex paths carry their own prices. */
export function routeOfForm(model: string): string | null {
  if (VERTEX_PATH.test(model)) return 'vertex';
  return BEDROCK_ID.test(model) ? 'aws' : null;
}
