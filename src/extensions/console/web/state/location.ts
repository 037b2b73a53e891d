/** The address of the page. It holds all state that a link should carry. */
import { computed, signal } from '@preact/signals';

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly hash: string;
}

export type Changes = Readonly<Record<string, string | null>>;

const read = (): Place => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
  hash: location.hash.slice(1),
});

export const place = signal<Place>(read());

/** What scrolls on a page without a list. */
export const PAGE = '.thread-page, main:not(:has(.grid, .thread-page))';

/** Parameters that a link to another page keeps. */
const SHARED = ['env', 'from', 'to'];

export interface Route {
  readonly page: string;
  readonly project: string | null;
  readonly id: string | null;
}

export const route = computed<Route>(() => routeOf(place.value.path));

function routeOf(path: string): Route {
  const [first = '', second, third, ...rest] = path.split('/').slice(1).map(decode);
  if (first === 'p' && second !== undefined) {
    const id = rest.length === 0 ? null : rest.join('/');
    return { page: third === undefined || third === '' ? 'traces' : third, project: second, id };
  }
  if (first === 't' && second !== undefined) return { page: 'find', project: null, id: second };
  return { page: first, project: null, id: null };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The id of the page that the reader came back from. A list has its row active. */
export const cameFrom = signal<string | null>(null);

export function startLocation(): void {
  addEventListener('popstate', () => {
    cameFrom.value = route.value.id;
    place.value = read();
  });
}

/** Opens an address of this page. `replace` leaves no step in the history. */
export function open(href: string, replace = false): void {
  if (href === location.pathname + location.search + location.hash) return;
  if (replace) history.replaceState(null, '', href);
  else {
    // For a return to this page.
    history.replaceState(document.querySelector(`.grid, ${PAGE}`)?.scrollTop, '');
    history.pushState(null, '', href);
  }
  cameFrom.value = null;
  place.value = read();
}

/** The present address with other parameters; null removes one. */
export function hrefWith(changes: Changes): string {
  const { path, query } = place.value;
  return path + searchOf(new URLSearchParams(query), changes);
}

/** Keeps the fragment: the selected span stays selected. */
export function setQuery(changes: Changes, replace = false): void {
  open(hrefWith(changes) + location.hash, replace);
}

export const parameter = (name: string): string | null => place.value.query.get(name);

/** The address of a page of a project, with the range and the environment of the present one. */
export function pageHref(page: string, id: string | null = null, changes: Changes = {}): string {
  const { project } = route.value;
  const kept = new URLSearchParams();
  for (const name of SHARED) {
    const value = parameter(name);
    if (value !== null) kept.set(name, value);
  }
  const path = id === null ? page : `${page}/${encodeURIComponent(id)}`;
  return `/p/${encodeURIComponent(project ?? '')}/${path}${searchOf(kept, changes)}`;
}

function searchOf(query: URLSearchParams, changes: Changes): string {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The list that a trace was opened from, for the keys that open the next and the previous trace. */
export const neighbours = signal<readonly string[]>([]);

export function neighbourOf(id: string, by: 1 | -1): string | null {
  const at = neighbours.value.indexOf(id);
  return at < 0 ? null : (neighbours.value[at + by] ?? null);
}
