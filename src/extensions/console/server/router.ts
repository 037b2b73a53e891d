/** Finds the route of a request by its path. */
import { ConsoleError } from '../errors.ts';
import type { Method, Route } from './route.ts';

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

export interface Match {
  readonly route: Route;
  readonly parameters: ReadonlyMap<string, string>;
}

/** HEAD is answered as GET. */
export const READS = ['GET', 'HEAD'];
const PARAMETER = /^\{([a-z_]+)\}$/u;

export class Router {
  readonly #patterns: readonly Pattern[];

  /** Throws when a route breaks a rule that holds for all routes. */
  constructor(routes: readonly Route[]) {
    for (const route of routes) checkRoute(route);
    this.#patterns = routes.map((route) => ({ route, segments: route.path.split('/') }));
  }

  /** HEAD is answered as GET. Throws `not_found` or `method_not_allowed`. */
  find(method: string, path: string): Match {
    const segments = path.split('/');
    const matching = this.#patterns.flatMap((pattern) => matchOf(pattern, segments) ?? []);
    if (matching.length === 0) throw new ConsoleError('not_found');
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = matching.filter(({ route }) => route.method === wanted);
    // A path with fewer parameters is more precise: /traces/top before /traces/{trace}.
    const [best] = found.sort((one, other) => one.parameters.size - other.parameters.size);
    if (best === undefined) {
      const allow = new Set(matching.flatMap(({ route }) => (route.method === 'GET' ? READS : [route.method])));
      throw new ConsoleError('method_not_allowed', { allow: [...allow] });
    }
    return best;
  }
}

function checkRoute({ method, path, role, readToken, changes }: Route): void {
  const fault = (reason: string): Error => new Error(`the route ${method} ${path} ${reason}`);
  if (!path.startsWith('/') || path.endsWith('/')) throw fault('has no usable path');
  if (method === ('GET' satisfies Method) && changes) throw fault('changes something');
  if (changes && readToken) throw fault('lets a read token change something');
  if (role === 'anyone' && path.includes('{project}')) throw fault('needs no login but has a project');
}

function matchOf({ route, segments }: Pattern, actual: readonly string[]): Match | null {
  if (segments.length !== actual.length) return null;
  const parameters = new Map<string, string>();
  for (const [index, segment] of segments.entries()) {
    const written = actual[index] ?? '';
    const name = PARAMETER.exec(segment)?.[1];
    if (name === undefined) {
      if (segment !== written) return null;
      continue;
    }
    const value = decoded(written);
    // No stored text has U+0000.
    if (value === null || value === '' || value.includes('\0')) return null;
    parameters.set(name, value);
  }
  return { route, parameters };
}

/** Null for a faulty encoding. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
