/**
 * Which components of a running service go on in the next one, when its configuration is loaded again: those whose definition and
 * options did not change, or that can take the change in place, and that found nothing which is about to go.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Capabilities, SERVICE_OWNER } from '../component/capabilities/capability.ts';
import type { Component } from '../component/component.ts';
import type { Kind } from '../component/definition.ts';
import type { Pipeline } from '../component/receiver.ts';
import type { Signal } from '../pdata/context.ts';

/** What a configuration asks for under one key: `extension postgres`, `processor auth in traces`. */
export interface Wanted {
  readonly definition: { readonly kind: Kind };
  readonly options: unknown;
}

/** A component that exists. */
export interface Live extends Wanted {
  readonly component: Component;
  readonly capabilities: Capabilities;
  /** A receiver's own; changed in place when other pipelines take over. */
  readonly routes: Map<Signal, Pipeline> | null;
}

export interface Kept {
  readonly live: Live;
  /** Applies changed options. */
  readonly apply: () => void;
}

/** Throws the `UserError` of a component whose change needs a restart. */
export function keep(
  previous: ReadonlyMap<string, Live>,
  wanted: ReadonlyMap<string, Wanted>,
): ReadonlyMap<string, Kept> {
  const kept = new Map<string, Kept>();
  for (const [key, live] of previous) {
    const want = wanted.get(key);
    if (want?.definition !== live.definition) continue;
    const apply = isDeepStrictEqual(live.options, want.options)
      ? unchanged
      : live.component.reconfigure?.(want.options);
    if (apply !== undefined && apply !== null) kept.set(key, { live, apply });
  }
  // Who loses what it leans on goes as well, and whoever leans on that one.
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    const fresh = [...wanted].some(([key, { definition }]) => definition.kind === 'extension' && !kept.has(key));
    for (const [key, { live }] of kept) {
      const stands = [...live.capabilities.sources].every((source) => {
        // What nobody offered before, a new extension may offer now.
        return source === null ? !fresh : source === SERVICE_OWNER || kept.has(source);
      });
      if (!stands) kept.delete(key);
    }
  }
  return kept;
}

const unchanged = (): void => undefined;
