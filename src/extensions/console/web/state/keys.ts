/** Keyboard shortcuts: only without a modifier and outside of inputs, and all can be switched off. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { shortcuts } from './settings.ts';

export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

interface Handlers {
  readonly keys: Shortcuts;
  readonly table: RefObject<HTMLElement | null> | undefined;
}

/** After the first key of a sequence such as `g t`. */
const SEQUENCE_MS = 1_200;
const handlers: { readonly current: Handlers }[] = [];
/** The first key of a sequence, and when it was pressed. */
const begun = { prefix: '', at: 0 };

/**
 * The keys of a component. Of two components with one key, the later mounted one gets it. A key moves the focus to
 * `table`: screen readers read the active row of a table only while it has the focus.
 */
export function useKeys(keys: Shortcuts, table?: RefObject<HTMLElement | null>): void {
  const current = useRef<Handlers>({ keys, table });
  current.current = { keys, table };
  // A layout effect: a key works as soon as the component is visible.
  useLayoutEffect(() => {
    handlers.push(current);
    return () => {
      handlers.splice(handlers.indexOf(current), 1);
    };
  }, []);
}

export function startKeys(): void {
  addEventListener('keydown', onKey);
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : null;
  const key = keyOf(event);
  if (key === null) return;
  if (key !== 'Escape' && key !== 'Ctrl K' && (shortcuts.value === 'off' || takesText(target))) return;
  if ((key === 'Enter' || key === 'Space') && target?.closest('button, a, summary, [role=menuitem], label') != null)
    return;
  const sequence = Date.now() - begun.at < SEQUENCE_MS && begun.prefix !== '' ? `${begun.prefix} ${key}` : key;
  begun.prefix = '';
  const handler = find(sequence) ?? find(key);
  if (handler !== undefined) {
    event.preventDefault();
    handler(event);
  } else if (handlers.some(({ current }) => Object.keys(current.keys).some((each) => each.startsWith(`${key} `)))) {
    begun.prefix = key;
    begun.at = Date.now();
  }
}

function keyOf(event: KeyboardEvent): string | null {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && !event.altKey) return 'Ctrl K';
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  return event.key === ' ' ? 'Space' : event.key;
}

/** A modal dialog gets all keys; the browser handles `Escape`. */
function find(key: string): ((event: KeyboardEvent) => void) | undefined {
  if (document.querySelector('dialog[open]') !== null) return undefined;
  for (let at = handlers.length - 1; at >= 0; at -= 1) {
    const { keys, table } = (handlers[at] as (typeof handlers)[number]).current;
    const handler = keys[key];
    if (handler !== undefined)
      return (event) => {
        table?.current?.focus();
        handler(event);
      };
  }
  return undefined;
}

const takesText = (element: Element | null): boolean =>
  element?.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') != null;
