/**
 * The reload plan: which components of a running service the next configuration reuses. A component is reused when its
 * definition and options are unchanged, or it can apply the change in place, and every component whose capability it
 * uses is reused as well.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Capabilities, SERVICE_OWNER } from '../component/capabilities/capability.ts';
import type { Component } from '../component/component.ts';
import type { Kind } from '../component/definition.ts';
import type { Pipeline } from '../component/receiver.ts';
import type { Signal } from '../pdata/context.ts';

/** A component of the new configuration. Keys are `extension postgres`, `processor auth in traces`. */
export interface DesiredComponent {
  readonly definition: { readonly kind: Kind };
  readonly options: unknown;
}

export interface RunningComponent extends DesiredComponent {
  readonly component: Component;
  readonly capabilities: Capabilities;
  /** The pipelines of a receiver, changed in place by a reload; null for other components. */
  readonly routes: Map<Signal, Pipeline> | null;
}

export interface ReusedComponent {
  readonly running: RunningComponent;
  /** Applies changed options. */
  readonly apply: () => void;
}

/** Throws the `UserError` of a component whose change needs a restart. */
export function planReload(
  previous: ReadonlyMap<string, RunningComponent>,
  desired: ReadonlyMap<string, DesiredComponent>,
): ReadonlyMap<string, ReusedComponent> {
  const reused = new Map<string, ReusedComponent>();
  for (const [key, running] of previous) {
    const next = desired.get(key);
    if (next?.definition !== running.definition) continue;
    const apply = isDeepStrictEqual(running.options, next.options)
      ? unchanged
      : running.component.reconfigure?.(next.options);
    if (apply !== undefined && apply !== null) reused.set(key, { running, apply });
  }
  // A component whose capability comes from a replaced component is replaced too; repeated until nothing changes.
  for (let before = -1; before !== reused.size; ) {
    before = reused.size;
    const hasNewExtension = [...desired].some(
      ([key, { definition }]) => definition.kind === 'extension' && !reused.has(key),
    );
    for (const [key, { running }] of reused) {
      const isUnaffected = [...running.capabilities.sources].every((source) => {
        // A new extension may offer a capability that was missing before.
        return source === null ? !hasNewExtension : source === SERVICE_OWNER || reused.has(source);
      });
      if (!isUnaffected) reused.delete(key);
    }
  }
  return reused;
}

const unchanged = (): void => undefined;
