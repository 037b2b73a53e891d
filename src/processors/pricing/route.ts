/**
 * Routes: which price list a provider name means. Senders spell the same provider in many ways (`aws.bedrock`, `AWS`,
 * `amazon-bedrock`); a route is the canonical one, and most routes are named as the catalogue names the provider.
 */
import { PROVIDERS } from '../../dialects/providers.ts';

/** Words that name no provider: gateways that put it into the model name, and placeholders. */
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

/** Routes with the price list of another route. */
const PRICE_LIST: Readonly<Record<string, string>> = { vertex: 'google', gemini: 'google' };

/** A Bedrock model id: optional region or inference profile, vendor, dot, model. */
const BEDROCK_ID =
  /^(?:arn:aws|(?:(?:us|eu|apac|jp|au|in|ca|sa|uk|global|us-gov)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|writer|nvidia|google|moonshot|minimax|zai)\.[a-z])/;
const VERTEX_PATH = /(?:^|\/)publishers\/[^/]+\/models\//;

/** What the routes need from a catalogue. */
export interface ProviderIndex {
  /** The catalogue's provider id for a folded spelling; null when it knows none. */
  providerNamed(folded: string): string | null;
  /** The provider with model names of this form; null: none. */
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

export function priceListOf(route: string): string {
  return PRICE_LIST[route] ?? route;
}

/** The route of an emitted provider name; null for a placeholder and for an unknown provider. */
export function routeOfProvider(provider: string | null, index: ProviderIndex): string | null {
  const folded = foldProvider(provider ?? '');
  if (NO_PROVIDER.has(folded)) return null;
  // `openai.responses`, `google.vertex.chat`, `azure.ai.openai`: the last segments name the API.
  for (let name = folded; name !== ''; name = name.slice(0, Math.max(name.lastIndexOf('.'), 0))) {
    const route = ROUTES.get(name);
    if (route !== undefined) return route;
  }
  return index.providerNamed(folded);
}

/**
 * Whether the name is a placeholder, so that the model name may give the provider. An unknown provider is private and
 * stays unpriced.
 */
export function namesNoProvider(provider: string | null): boolean {
  return NO_PROVIDER.has(foldProvider(provider ?? ''));
}

/** The route from the form of a model name: Bedrock ids and Vertex paths have their own prices. */
export function routeOfForm(model: string): string | null {
  if (VERTEX_PATH.test(model)) return 'vertex';
  return BEDROCK_ID.test(model) ? 'aws' : null;
}
