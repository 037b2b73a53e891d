/**
 * The published price list, compiled: for each provider a map of exact names and a list of patterns. The bundled list
 * is the data of `@pydantic/genai-prices`; a local copy of the same file can take its place. Nothing is fetched.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLimitedFile } from '../../component/limited-file.ts';
import { literalPattern } from '../../pdata/literal-pattern.ts';
import { Card, type Origin } from './card.ts';
import { draftCard, type RawMatch, type RawModel, type RawProvider } from './catalogue-data.ts';
import { versionIn } from './model-name.ts';
import {
  containing,
  endingWith,
  equalTo,
  matching,
  mayMatchAny,
  type NamePattern,
  startingWith,
} from './name-pattern.ts';
import { foldProvider, type ProviderIndex } from './route.ts';

/** Upstream's file has about 1 MB. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface CatalogueModel {
  readonly id: string;
  /** Null when the model is known but has no price per token. */
  readonly card: Card | null;
}

/** A model whose card is compiled when it is first needed: a list has thousands of models, and a daemon uses few. */
class ListedModel implements CatalogueModel {
  readonly id: string;
  #card: Card | null | undefined;
  readonly #compile: () => Card | null;

  constructor(provider: string, raw: RawModel, origin: Origin) {
    this.id = raw.id;
    this.#compile = () => {
      const draft = draftCard(provider, raw, origin);
      return draft === null ? null : new Card(draft);
    };
  }

  get card(): Card | null {
    if (this.#card === undefined) this.#card = this.#compile();
    return this.#card;
  }
}

export interface CatalogueHit {
  readonly model: CatalogueModel;
  readonly exact: boolean;
}

interface CataloguePattern {
  readonly matches: NamePattern;
  readonly model: CatalogueModel;
  readonly version: string | null;
  /** A literal that every matching name contains, or else the expression. */
  readonly literal: string | null;
  readonly expression: string | null;
}

interface CatalogueProvider {
  readonly exact: ReadonlyMap<string, { readonly model: CatalogueModel; readonly version: string | null }>;
  readonly patterns: readonly CataloguePattern[];
  /**
   * Prefilters: whether a name contains a literal of any pattern, or may match an expression of any. Most unknown names
   * fail both.
   */
  readonly literals: RegExp;
  readonly expressions: NamePattern;
  readonly fallbacks: readonly string[];
  readonly named: NamePattern | null;
  readonly makes: NamePattern | null;
}

/** Characters of the hash in a version. */
const VERSION_HASH_LENGTH = 16;
const PACKAGE = '@pydantic/genai-prices';

export class Catalogue implements ProviderIndex {
  readonly origin: Origin;
  readonly #providers: ReadonlyMap<string, CatalogueProvider>;

  constructor(providers: readonly RawProvider[], origin: Origin) {
    this.origin = origin;
    this.#providers = new Map(
      providers.map((provider) => [foldProvider(provider.id), compileProvider(provider, origin)]),
    );
  }

  /** The list of the package. */
  static async bundled(): Promise<Catalogue> {
    const { waitForUpdate } = await import('@pydantic/genai-prices');
    // Without a storage factory this returns the bundled data and opens no connection.
    const providers = (await waitForUpdate()) as readonly RawProvider[] | null;
    const version = `${await packageVersion()}+${shortHash(JSON.stringify(providers))}`;
    return new Catalogue(providers ?? [], { source: 'genai-prices', version });
  }

  /** A local copy of upstream's data file. Throws when it has another format. */
  static async fromFile(path: string): Promise<Catalogue> {
    const text = readLimitedFile(path, { maxBytes: MAX_FILE_BYTES }).toString('utf8');
    const parsed: unknown = JSON.parse(text);
    const providers = Array.isArray(parsed) ? parsed : (parsed as { providers?: unknown } | null)?.providers;
    if (!Array.isArray(providers) || !providers.every(isProvider))
      throw new TypeError('is not a genai-prices data file');
    const origin = { source: `file:${basename(path)}`, version: shortHash(text) };
    // Cards are compiled at their first use. A fault of the file is found here.
    for (const { id, models } of providers) for (const model of models) void new ListedModel(id, model, origin).card;
    return new Catalogue(providers, origin);
  }

  static none(): Catalogue {
    return new Catalogue([], { source: 'none', version: '0' });
  }

  providerNamed(folded: string): string | null {
    if (this.#providers.has(folded)) return folded;
    for (const [id, { named }] of this.#providers) if (named?.(folded)) return id;
    return null;
  }

  providerOfModel(model: string): string | null {
    for (const [id, { makes }] of this.#providers) if (makes?.(model)) return id;
    return null;
  }

  /** Providers whose models a provider resells at the vendor's price. */
  fallbacksOf(provider: string): readonly string[] {
    return this.#providers.get(provider)?.fallbacks ?? [];
  }

  /**
   * One spelling in one provider's list. `version` is the `-vN` of the name as emitted, which a card of another version
   * must not take.
   */
  find(provider: string, name: string, version: string | null): CatalogueHit | null {
    const entry = this.#providers.get(provider);
    if (entry === undefined) return null;
    const exact = entry.exact.get(name);
    if (exact !== undefined && sameVersion(exact.version, version)) return { model: exact.model, exact: true };
    const hasLiteral = entry.literals.test(name);
    const hasExpression = entry.expressions(name);
    if (!hasLiteral && !hasExpression) return null;
    for (const pattern of entry.patterns) {
      if (!hasLiteral && pattern.literal !== null) continue;
      if (!hasExpression && pattern.expression !== null) continue;
      if (sameVersion(pattern.version, version) && pattern.matches(name)) return { model: pattern.model, exact: false };
    }
    return null;
  }
}

/** The first 16 hex digits of a SHA-256. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, VERSION_HASH_LENGTH);
}

function sameVersion(inCatalogue: string | null, emitted: string | null): boolean {
  return inCatalogue === null || emitted === null || inCatalogue === emitted;
}

function isProvider(value: unknown): value is RawProvider {
  const provider = value as Partial<RawProvider> | null;
  return (
    typeof provider?.id === 'string' &&
    Array.isArray(provider.models) &&
    provider.models.every(
      (model) => typeof model?.id === 'string' && typeof model.match === 'object' && typeof model.prices === 'object',
    )
  );
}

async function packageVersion(): Promise<string> {
  const manifest = new URL('../package.json', import.meta.resolve(PACKAGE));
  const { version } = JSON.parse(await readFile(fileURLToPath(manifest), 'utf8')) as { version: string };
  return version;
}

function compileProvider(raw: RawProvider, origin: Origin): CatalogueProvider {
  const exact = new Map<string, { model: CatalogueModel; version: string | null }>();
  const patterns: CataloguePattern[] = [];
  for (const rawModel of raw.models) {
    const model = new ListedModel(raw.id, rawModel, origin);
    const version = versionIn(rawModel.id);
    for (const leaf of alternatives(rawModel.match)) {
      const literal = leaf['equals'];
      if (typeof literal === 'string') {
        if (!exact.has(literal.toLowerCase())) exact.set(literal.toLowerCase(), { model, version });
      } else {
        const sign = signOf(leaf);
        patterns.push({ matches: namePattern(leaf, sign, rawModel.id.toLowerCase()), model, version, ...sign });
      }
    }
  }
  return {
    exact,
    patterns,
    literals: anyOf(patterns.flatMap(({ literal }) => literal ?? [])),
    expressions: expressionsOf(patterns),
    fallbacks: raw.fallback_model_providers ?? [],
    named: raw.provider_match ? compileMatch(raw.provider_match, false) : null,
    makes: raw.model_match ? compileMatch(raw.model_match, false) : null,
  };
}

/** The guard knows no word around a literal such as `aya-expanse-8b`. The id of the model is still its name. */
function namePattern(match: RawMatch, { literal }: Sign, id: string): NamePattern {
  const guarded = compileMatch(match, true);
  const isOwn = literal !== null && !guarded(id) && compileMatch(match, false)(id);
  return isOwn ? (name) => name === id || guarded(name) : guarded;
}

type Sign = Pick<CataloguePattern, 'literal' | 'expression'>;

/** The literal or expression that a match needs; null for combinations. */
function signOf(match: RawMatch): Sign {
  const [operator = '', operand] = Object.entries(match)[0] ?? [];
  if (typeof operand !== 'string') return { literal: null, expression: null };
  return operator === 'regex'
    ? { literal: null, expression: operand }
    : { literal: operand.toLowerCase(), expression: null };
}

/** Matches any of some literals. */
function anyOf(literals: readonly string[]): RegExp {
  if (literals.length === 0) return /(?!)/;
  return new RegExp(literals.map(literalPattern).join('|'));
}

/** Whether any pattern without a literal may match. */
function expressionsOf(patterns: readonly CataloguePattern[]): NamePattern {
  if (patterns.some(({ literal, expression }) => literal === null && expression === null)) return () => true;
  return mayMatchAny(patterns.flatMap(({ expression }) => expression ?? []));
}

/** The branches of nested `or`s, in order. */
function alternatives(match: RawMatch): RawMatch[] {
  const branches = match['or'];
  return Array.isArray(branches) ? branches.flatMap(alternatives) : [match];
}

/**
 * `guarded`: the pattern must account for the whole of a model name. Patterns of provider names and of vendors' models
 * need not.
 */
function compileMatch(match: RawMatch, guarded: boolean): NamePattern {
  const [operator = '', operand = ''] = Object.entries(match)[0] ?? [];
  if (typeof operand !== 'string') {
    const parts = operand.map((part) => compileMatch(part, guarded));
    return operator === 'and'
      ? (name) => parts.every((part) => part(name))
      : (name) => parts.some((part) => part(name));
  }
  const literal = operand.toLowerCase();
  switch (operator) {
    case 'equals':
      return equalTo(literal);
    case 'starts_with':
      return guarded ? startingWith(literal) : (name) => name.startsWith(literal);
    case 'ends_with':
      return guarded ? endingWith(literal) : (name) => name.endsWith(literal);
    case 'contains':
      return guarded ? containing(literal) : (name) => name.includes(literal);
    case 'regex':
      return matching(operand, guarded);
    default:
      throw new TypeError(`unknown match operator ${JSON.stringify(operator)}`);
  }
}
