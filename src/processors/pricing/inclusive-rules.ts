/**
 * The user's rules on how a producer counts: whether its input tokens include the cached ones. They decide before any
 * other sign.
 */
import type { CacheCounting } from '../../component/capabilities/cache-counting.ts';
import type { InclusiveRule } from './options.ts';
import { foldProvider } from './route.ts';

export class InclusiveRules implements CacheCounting {
  readonly #rules: readonly {
    readonly scope: string | null;
    readonly provider: string | null;
    readonly inclusive: boolean;
  }[];

  constructor(rules: readonly InclusiveRule[] = []) {
    this.#rules = rules.map(({ scope, provider, inclusive }) => ({
      scope: scope ?? null,
      provider: provider === undefined ? null : foldProvider(provider),
      inclusive,
    }));
  }

  /** The first rule that matches wins. */
  inclusive(scope: string | null, provider: string | null): boolean | null {
    if (this.#rules.length === 0) return null;
    const folded = provider === null ? null : foldProvider(provider);
    const rule = this.#rules.find(
      (candidate) =>
        (candidate.scope === null || candidate.scope === scope) &&
        (candidate.provider === null || candidate.provider === folded),
    );
    return rule?.inclusive ?? null;
  }
}
