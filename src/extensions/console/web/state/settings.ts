/** What the reader chose for this browser: theme, zone, shortcuts, widths. */
import { type Signal, effect, signal } from '@preact/signals';

const PREFIX = 'sluice.';
/** The list of traces has room for facets beside it. */
const WIDE_PX = 1000;

/** A setting that is kept in the browser. Storage may be switched off; then it lasts as long as the page. */
function kept<T extends string>(name: string, initial: T, allowed: readonly T[] | null): Signal<T> {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(PREFIX + name);
  } catch {
    // Without storage every visit begins with the defaults.
  }
  const isAllowed = stored !== null && (allowed === null || allowed.includes(stored as T));
  const setting = signal<T>(isAllowed ? (stored as T) : initial);
  effect(() => {
    // What was not chosen follows the default, which may depend on the window.
    if (!isAllowed && setting.value === initial) return;
    try {
      localStorage.setItem(PREFIX + name, setting.value);
    } catch {
      // Without storage the setting lasts as long as the page.
    }
  });
  return setting;
}

export type Theme = 'system' | 'light' | 'dark';

export const theme = kept<Theme>('theme', 'system', ['system', 'light', 'dark']);
export const zone = kept<'local' | 'utc'>('zone', 'local', ['local', 'utc']);
export const shortcuts = kept<'on' | 'off'>('shortcuts', 'on', ['on', 'off']);
export const facetsShown = kept<'yes' | 'no'>('facets', innerWidth > WIDE_PX ? 'yes' : 'no', ['yes', 'no']);
export const DEFAULT_COLUMNS = 'age,service,calls,tokens,cost,took,spans,errors';
/** The ids of the columns of the list of traces. */
export const traceColumns = kept<string>('columns', DEFAULT_COLUMNS, null);
export const panelWidth = kept<string>('panel', '480', null);
export const asMarkdown = kept<'yes' | 'no'>('markdown', 'no', ['yes', 'no']);
export const lastProject = kept<string>('project', '', null);

const NEXT_THEME = { system: 'light', light: 'dark', dark: 'system' } as const;

export function nextTheme(): void {
  theme.value = NEXT_THEME[theme.value];
}

export function startTheme(): void {
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
  });
}
