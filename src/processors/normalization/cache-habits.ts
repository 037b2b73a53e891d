/** What is known of how a dialect counts cached tokens, by scope and provider. Asked again and again for the same two. */
import type { CacheRule } from '../../dialects/dialect.ts';
import { tableOf } from './name-table.ts';

export class CacheHabits {
  readonly #rules: readonly {
    readonly inScopes: ((scope: string) => boolean) | null;
    readonly providers: readonly string[] | null;
    readonly cached: 'inside' | 'outside';
  }[];
  #scope: string | null = null;
  #provider = '';
  #answer: 'inside' | 'outside' | null = null;

  constructor(rules: readonly CacheRule[]) {
    this.#rules = rules.map(({ scopes, providers, cached }) => {
      const table = scopes === undefined ? null : tableOf(scopes);
      const inScopes = table === null ? null : (scope: string): boolean => table.find(scope) === true;
      return { inScopes, providers: providers ?? null, cached };
    });
  }

  /** Null: nothing is known. */
  cached(scope: string, provider: string): 'inside' | 'outside' | null {
    if (scope === this.#scope && provider === this.#provider) return this.#answer;
    this.#scope = scope;
    this.#provider = provider;
    const rule = this.#rules.find(
      ({ inScopes, providers }) => inScopes?.(scope) !== false && providers?.includes(provider) !== false,
    );
    this.#answer = rule?.cached ?? null;
    return this.#answer;
  }
}
