/**
 * How a dialect counts cached tokens, by scope and provider. Most requests ask for one scope and provider only, so
 * answers are kept.
 */
import type { CacheRule } from '../../dialects/dialect.ts';
import { tableOf } from './name-table.ts';

export class CacheAccounting {
  readonly #rules: readonly {
    readonly inScopes: ((scope: string) => boolean) | null;
    readonly providers: readonly string[] | null;
    readonly cached: 'inside' | 'outside';
  }[];
  #scope: string | null = null;
  /** By provider: the answer for the current scope. Bounded: providers are those of our table. */
  readonly #answers = new Map<string, 'inside' | 'outside' | null>();

  constructor(rules: readonly CacheRule[]) {
    this.#rules = rules.map(({ scopes, providers, cached }) => {
      const table = scopes === undefined ? null : tableOf(scopes);
      const inScopes = table === null ? null : (scope: string): boolean => table.find(scope) === true;
      return { inScopes, providers: providers ?? null, cached };
    });
  }

  /** Null: no rule applies. */
  cached(scope: string, provider: string): 'inside' | 'outside' | null {
    if (scope !== this.#scope) {
      this.#scope = scope;
      this.#answers.clear();
    }
    const known = this.#answers.get(provider);
    if (known !== undefined) return known;
    const rule = this.#rules.find(
      ({ inScopes, providers }) => inScopes?.(scope) !== false && providers?.includes(provider) !== false,
    );
    const answer = rule?.cached ?? null;
    this.#answers.set(provider, answer);
    return answer;
  }
}
