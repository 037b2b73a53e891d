/** What is known of how a dialect counts cached tokens, by scope and provider. Asked again and again for the same two. */
import type { CacheRule } from '../../dialects/dialect.ts';
import { tableOf } from './name-table.ts';

export class CacheAccounting {
  readonly #rules: readonly {
    readonly inScopes: ((scope: string) => boolean) | null;
    readonly providers: readonly string[] | null;
    readonly cached: 'inside' | 'outside';
  }[];
  #scope: string | null = null;
  /** By provider: what was found for it in this scope. Providers are few, because they are ours. */
  readonly #answers = new Map<string, 'inside' | 'outside' | null>();

  constructor(rules: readonly CacheRule[]) {
    this.#rules = rules.map(({ scopes, providers, cached }) => {
      const table = scopes === undefined ? null : tableOf(scopes);
      const inScopes = table === null ? null : (scope: string): boolean => table.find(scope) === true;
      return { inScopes, providers: providers ?? null, cached };
    });
  }

  /** Null: nothing is known. */
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
