/**
 * Signs of the dialects of a record. Names like `input` or `prompt` are content in certain dialects only. Any sign of
 * one of these is enough to drop the content, so this check is weaker than the detection that fills the `dialect`
 * column.
 */
import type { Dialect } from '../../dialects/dialect.ts';
import { KeyIndex } from '../../dialects/lookup/key-index.ts';
import { literalPattern } from '../../pdata/literal-pattern.ts';

/** A sign of a dialect: the presence of an attribute (null), or one value of it. */
interface Sign {
  readonly bit: number;
  readonly value: string | null;
}

/** Dialects are bits of one 32-bit number. */
const MAX_DIALECTS = 32;
/** The name under which the dialects of the configuration share a bit. */
const OWN = '(own)';

export class DialectSigns {
  readonly #bits = new Map<string, number>();
  readonly #attributes = new KeyIndex<Sign>();
  readonly #scopes: { readonly pattern: RegExp; readonly bit: number }[] = [];
  readonly #services: { readonly pattern: RegExp; readonly bit: number }[] = [];
  readonly #own: ReadonlySet<string>;

  /** `ids`: the dialects whose signs matter. Those of the configuration share one bit. */
  constructor(dialects: readonly Dialect[], ids: ReadonlySet<string>) {
    this.#own = new Set(dialects.flatMap(({ id, own }) => (own === true ? [id] : [])));
    for (const dialect of dialects) {
      if (!ids.has(dialect.id)) continue;
      const bit = this.#bit(dialect.id);
      for (const scope of dialect.scopes ?? []) this.#scopes.push({ pattern: wildcard(scope), bit });
      for (const service of dialect.services ?? []) this.#services.push({ pattern: wildcard(service), bit });
      for (const sign of [...(dialect.markers ?? []), ...(dialect.hints ?? [])]) this.#addAttribute(sign, bit);
    }
  }

  /** The bits of these dialects. */
  mask(ids: readonly string[]): number {
    return ids.reduce((mask, id) => mask | this.#bit(id), 0);
  }

  ofScope(name: string): number {
    return match(this.#scopes, name);
  }

  /** The value of `service.name` or `telemetry.sdk.name`. */
  ofService(name: string): number {
    return match(this.#services, name);
  }

  /** The dialects of which the presence of an attribute is a sign. */
  ofKey(key: string): number {
    return this.#attributes.find(key).reduce((mask, { entry }) => (entry.value === null ? mask | entry.bit : mask), 0);
  }

  /** Whether a value of this attribute can be a sign. */
  hasValues(key: string): boolean {
    return this.#attributes.find(key).some(({ entry }) => entry.value !== null);
  }

  ofValue(key: string, value: string): number {
    return this.#attributes.find(key).reduce((mask, { entry }) => (entry.value === value ? mask | entry.bit : mask), 0);
  }

  #bit(of: string): number {
    const id = this.#own.has(of) ? OWN : of;
    const known = this.#bits.get(id);
    if (known !== undefined) return known;
    if (this.#bits.size >= MAX_DIALECTS) throw new Error('more dialects with general names than bits');
    const bit = 1 << this.#bits.size;
    this.#bits.set(id, bit);
    return bit;
  }

  #addAttribute(sign: string, bit: number): void {
    const equals = sign.indexOf('=');
    if (equals < 0) this.#attributes.add(sign, { bit, value: null });
    else this.#attributes.add(sign.slice(0, equals), { bit, value: sign.slice(equals + 1) });
  }
}

function match(patterns: readonly { readonly pattern: RegExp; readonly bit: number }[], name: string): number {
  let mask = 0;
  for (const { pattern, bit } of patterns) if (pattern.test(name)) mask |= bit;
  return mask;
}

/** The expression of a name in which `*` matches any text. */
export function wildcard(pattern: string): RegExp {
  const parts = pattern.split('*').map(literalPattern);
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
