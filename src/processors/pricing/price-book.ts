/**
 * The price book: finds the card for an emitted provider and model. Layers, first match wins: stored entries, those of
 * the configuration, the shipped supplement, the catalogue. Answers, also "no price", are remembered, so that a busy
 * model costs two map look-ups.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { LOCAL } from '../../dialects/providers.ts';
import type { Card } from './card.ts';
import { Catalogue, shortHash } from './catalogue.ts';
import { MODEL_NAME_LENGTH, type Spellings, spellingsOf, versionIn } from './model-name.ts';
import type { PriceEntry, PricingOptions } from './options.ts';
import { EntryIndex } from './entry-index.ts';
import { type CompiledEntry, compileEntries, PricingOptionsError, type PricingProblem } from './price-entry.ts';
import { type MatchKind, PricedModel } from './priced-model.ts';
import { RecentNames } from './recent-names.ts';
import { foldProvider, namesNoProvider, priceListOf, routeOfForm, routeOfProvider } from './route.ts';

const SUPPLEMENT_FILE = new URL('prices.supplement.yaml', import.meta.url);

/** The price of a name, or the reason why it has none. */
export interface Resolution {
  readonly route: string | null;
  readonly priced: PricedModel | null;
  readonly reason: string | null;
}

/** The explanation steps: each searched list and name; for explanations only. */
export type ExplanationSteps = string[];

/** One search: the spellings of the model and the provider. */
interface Search {
  readonly folded: string;
  readonly route: string | null;
  readonly list: string | null;
  readonly spellings: Spellings;
  readonly steps: ExplanationSteps | null;
}

/** An entry with its providers looked up once. */
interface PlacedEntry extends CompiledEntry {
  /** Each provider as written, and the route it means. Null: any provider. */
  readonly places: readonly { readonly word: string; readonly route: string | null }[] | null;
}

type Entries = EntryIndex<PlacedEntry>;
const NO_ENTRIES: Entries = new EntryIndex<PlacedEntry>([]);

interface Layers {
  readonly catalogue: Catalogue;
  readonly supplement: Entries;
  readonly user: Entries;
  readonly stored: Entries;
}

/** An emitted provider name, looked up once. */
interface EmittedProvider {
  readonly folded: string;
  /** The name is a placeholder, so the model name may give the provider. */
  readonly isNone: boolean;
  /** The route it names; null when it names none. */
  readonly route: string | null;
}

/** The most cached provider names. A deployment has a few; a hostile sender may send any number. */
const MAX_PROVIDERS = 256;

export class PriceBook {
  readonly #layers: Layers;
  readonly #catalogue: Catalogue;
  readonly #recent = new RecentNames<Resolution>();
  readonly #providers = new Map<string, EmittedProvider>();
  /** By card, match and the price outside of the card's periods. */
  readonly #priced = new Map<Card, Map<MatchKind, Map<PricedModel | null, PricedModel>>>();

  private constructor(layers: Layers) {
    this.#layers = layers;
    this.#catalogue = layers.catalogue;
  }

  /** Compiles every layer. Throws `PricingOptionsError` with all mistakes at once. */
  static async load(options: PricingOptions = {}): Promise<PriceBook> {
    const catalogue = await loadCatalogue(options.catalogue ?? 'bundled');
    const supplement = options.supplement === false ? [] : await readSupplement();
    const bare = new PriceBook({ catalogue, supplement: NO_ENTRIES, user: NO_ENTRIES, stored: NO_ENTRIES });
    // An entry may borrow a card that this catalogue does not have; then there is nothing to correct.
    const shipped = { path: 'supplement', source: 'supplement', borrowed: bare };
    const lists = new PriceBook({
      ...bare.#layers,
      supplement: new EntryIndex(bare.#compile(supplement, shipped, [])),
    });
    const problems: PricingProblem[] = [];
    const own = { path: 'overrides', source: 'user', borrowed: lists };
    const user = lists.#compile(options.overrides ?? [], own, problems);
    if (problems.length > 0) throw new PricingOptionsError(problems);
    return new PriceBook({ ...lists.#layers, user: new EntryIndex(user) });
  }

  /**
   * This book with stored entries before all others, in their order. An entry with a mistake is left out and reported.
   */
  withStored(
    entries: readonly PriceEntry[],
    mistaken: (entry: PriceEntry, problem: PricingProblem) => void,
  ): PriceBook {
    const lists = new PriceBook({ ...this.#layers, user: NO_ENTRIES, stored: NO_ENTRIES });
    const stored = entries.flatMap((entry) => {
      const problems: PricingProblem[] = [];
      const compiled = this.#compile([entry], { path: '', source: 'stored', borrowed: lists }, problems);
      const [problem] = problems;
      if (problem !== undefined) mistaken(entry, { ...problem, path: problem.path.replace(/^\[0\]\.?/, '') });
      return compiled;
    });
    return new PriceBook({ ...this.#layers, stored: new EntryIndex(stored) });
  }

  /** Compiles the entries of one layer; they borrow from the layers of another book. */
  #compile(
    entries: readonly PriceEntry[],
    layer: { readonly path: string; readonly source: string; readonly borrowed: PriceBook },
    problems: PricingProblem[],
  ): readonly PlacedEntry[] {
    const origin = { source: layer.source, version: shortHash(JSON.stringify(entries)) };
    const borrow = (provider: string, model: string): Card | null =>
      layer.borrowed.#resolve(provider, model, null).priced?.card ?? null;
    return compileEntries(entries, { path: layer.path, origin, borrow }, problems).map((entry) => this.#place(entry));
  }

  /** The number of cached names. */
  get remembered(): number {
    return this.#recent.size;
  }

  /** The card for a name as emitted; null when it has no price. */
  find(provider: string | null, model: string): PricedModel | null {
    if (model.length > MODEL_NAME_LENGTH || (provider !== null && provider.length > MODEL_NAME_LENGTH)) return null;
    const emitted = provider ?? '';
    const known = this.#recent.get(emitted, model);
    if (known !== undefined) return known.priced;
    const resolution = this.#resolve(emitted, model, null);
    this.#recent.set(emitted, model, resolution);
    return resolution.priced;
  }

  /** As `find`, uncached and with the reasons. */
  resolve(provider: string | null, model: string, steps: ExplanationSteps): Resolution {
    const length = Math.max(model.length, provider?.length ?? 0);
    if (length > MODEL_NAME_LENGTH)
      return unpriced(null, `a name of more than ${MODEL_NAME_LENGTH} characters is not looked up`);
    return this.#resolve(provider ?? '', model, steps);
  }

  #resolve(provider: string, model: string, steps: ExplanationSteps | null): Resolution {
    const emitted = model.trim().toLowerCase();
    if (emitted === '') return NAMELESS;
    const from = this.#emittedProvider(provider);
    const route = this.#routeOf(from, emitted);
    const list = route === null ? null : priceListOf(route);
    const spellings = spellingsOf(emitted, route, (prefix) => {
      const same = routeOfProvider(prefix, this.#catalogue);
      return same !== null && priceListOf(same) === list;
    });
    const { stored, user } = this.#layers;
    const search: Search = { folded: from.folded, route, list, spellings, steps };
    const own: PlacedEntry[] = [];
    const isDecided = this.#collect(stored, 'stored', search, own) || this.#collect(user, 'user', search, own);
    const rest = isDecided ? UNKNOWN : (this.#ofLists(emitted, search) ?? unknownProvider(provider, from, steps));
    return this.#inOrder(own, route, rest);
  }

  /** Null: no list is the provider's. */
  #ofLists(emitted: string, search: Search): Resolution | null {
    const { route, list, spellings } = search;
    if (route === null || list === null) return null;
    if (route === LOCAL) return unpriced(route, 'a local or private server has no list price');
    if (spellings.unpriceable !== null) return unpriced(route, spellings.unpriceable);
    const corrections: PlacedEntry[] = [];
    const isDecided = this.#collect(this.#layers.supplement, 'supplement', search, corrections);
    const listed = isDecided ? null : this.#listed(list, emitted, route, search);
    return this.#inOrder(corrections, route, listed ?? unpriced(route, 'no price list has the model'));
  }

  /** Each entry decides for the moments that it has prices for and those before it do not; `rest` for all others. */
  #inOrder(entries: readonly PlacedEntry[], route: string | null, rest: Resolution): Resolution {
    return entries.reduceRight((next, { card, match }) => this.#hit(route, card, match, next.priced), rest);
  }

  #emittedProvider(provider: string): EmittedProvider {
    const known = this.#providers.get(provider);
    if (known !== undefined) return known;
    if (this.#providers.size >= MAX_PROVIDERS) this.#providers.clear();
    const isNone = namesNoProvider(provider);
    const route = isNone ? null : routeOfProvider(provider, this.#catalogue);
    const found = { folded: foldProvider(provider), isNone, route };
    this.#providers.set(provider, found);
    return found;
  }

  /**
   * The route of a call: by the form of the model name (a Bedrock id sent through a vendor's SDK), by provider, or by
   * the prefix of the model name.
   */
  #routeOf(provider: EmittedProvider, emitted: string): string | null {
    const form = routeOfForm(emitted);
    if (!provider.isNone) {
      const named = provider.route;
      return form !== null && named !== null && FORM_DECIDES[form]?.has(named) === true ? form : named;
    }
    if (form !== null) return form;
    const slash = emitted.indexOf('/');
    const prefixed = slash > 0 ? routeOfProvider(emitted.slice(0, slash), this.#catalogue) : null;
    return prefixed ?? this.#catalogue.providerOfModel(emitted);
  }

  /** Adds the entries that match, in their order; true when the last one has a price for every moment. */
  #collect(entries: Entries, layer: string, search: Search, found: PlacedEntry[]): boolean {
    if (entries.isEmpty) return false;
    const { folded, route, list, spellings, steps } = search;
    const names = spellings.names.flatMap(({ name, respelled }) => (respelled ? [] : [name]));
    steps?.push(...names.map((name) => `${layer}: ${name}`));
    const isNext = (entry: PlacedEntry): boolean =>
      !found.includes(entry) &&
      (entry.places === null || entry.places.some((place) => meansSame(place, folded, route, list)));
    for (let entry = entries.find(names, isNext); entry !== null; entry = entries.find(names, isNext)) {
      found.push(entry);
      if (entry.card.isUnbroken) return true;
    }
    return false;
  }

  #place(entry: CompiledEntry): PlacedEntry {
    const places = entry.providers?.map((word) => ({ word, route: routeOfProvider(word, this.#catalogue) })) ?? null;
    return { ...entry, places };
  }

  #listed(list: string, emitted: string, route: string, { spellings, steps }: Search): Resolution | null {
    const version = versionIn(emitted);
    for (const [index, provider] of [list, ...this.#catalogue.fallbacksOf(list)].entries()) {
      for (const { name, respelled } of spellings.names) {
        steps?.push(`${provider}: ${name}`);
        const hit = this.#catalogue.find(provider, name, version);
        if (hit === null) continue;
        if (hit.model.card === null) return unpriced(route, `${provider}/${hit.model.id} has no price per token`);
        return this.#hit(route, hit.model.card, index > 0 ? 'fallback' : hit.exact && !respelled ? 'exact' : 'rule');
      }
    }
    return null;
  }

  #hit(route: string | null, card: Card, match: MatchKind, otherwise: PricedModel | null = null): Resolution {
    const matches = made(this.#priced, card, () => new Map<MatchKind, Map<PricedModel | null, PricedModel>>());
    const others = made(matches, match, () => new Map<PricedModel | null, PricedModel>());
    return { route, priced: made(others, otherwise, () => new PricedModel(card, match, otherwise)), reason: null };
  }
}

/** The value of a key, which is made at its first use. */
function made<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  const known = values.get(key);
  if (known !== undefined) return known;
  const value = make();
  values.set(key, value);
  return value;
}

/** Vendors whose models Bedrock or Vertex also serve: a name of their form was served there. */
const FORM_DECIDES: Readonly<Record<string, ReadonlySet<string>>> = {
  aws: new Set(['anthropic', 'openai', 'mistral', 'cohere', 'deepseek']),
  vertex: new Set(['google', 'gemini', 'anthropic', 'mistral']),
};

/**
 * Whether an entry's provider is the emitted one: the same word, another spelling of it, or the family it belongs to.
 */
function meansSame(
  place: { word: string; route: string | null },
  folded: string,
  route: string | null,
  list: string | null,
): boolean {
  return (
    place.word === folded || (route !== null && (place.word === route || place.word === list || place.route === route))
  );
}

function unpriced(route: string | null, reason: string): Resolution {
  return { route, priced: null, reason };
}
const NAMELESS = unpriced(null, 'the model has no name');
const UNROUTED = unpriced(null, 'no provider is named, and the model name implies none');
const UNKNOWN = unpriced(null, 'no price list knows the provider');

/** Only an explanation contains the provider: a hostile sender may send hundreds of thousands of names. */
function unknownProvider(provider: string, { isNone }: EmittedProvider, steps: ExplanationSteps | null): Resolution {
  if (isNone) return UNROUTED;
  return steps === null ? UNKNOWN : unpriced(null, `no price list knows the provider ${JSON.stringify(provider)}`);
}

async function loadCatalogue(choice: string): Promise<Catalogue> {
  if (choice === 'bundled') return Catalogue.bundled();
  if (choice === 'none') return Catalogue.none();
  try {
    return await Catalogue.fromFile(choice);
  } catch (error) {
    throw new PricingOptionsError([
      { path: 'catalogue', message: error instanceof Error ? error.message : String(error) },
    ]);
  }
}

/** The shipped corrections and additions, in the form of `overrides`. */
export async function readSupplement(): Promise<readonly PriceEntry[]> {
  return parse(await readFile(fileURLToPath(SUPPLEMENT_FILE), 'utf8')) as readonly PriceEntry[];
}
