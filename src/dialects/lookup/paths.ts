/** Finds values inside a JSON document by path. */

const STEP = /\[(\*|\d+)\]|[^.[\]]+/g;
/** Further elements of a list are ignored. */
const MAX_ELEMENTS = 1000;

/** The first value of a path, or undefined. `$` is the document, `[0]` an element, `[*]` every element. */
export function valueAt(document: unknown, path: string): unknown {
  return path === '$' ? document : walk(document, path.match(STEP) ?? [], 0);
}

/** All values of a path with `[*]`, in order. */
export function valuesAt(document: unknown, path: string): unknown[] {
  const star = path.indexOf('[*]');
  if (star < 0) return [valueAt(document, path)].filter((value) => value !== undefined);
  const list = star === 0 ? document : valueAt(document, path.slice(0, star));
  if (!Array.isArray(list)) return [];
  const rest = path.slice(star + '[*]'.length).replace(/^\./, '');
  return list
    .slice(0, MAX_ELEMENTS)
    .flatMap((element: unknown) => (rest === '' ? [element] : valuesAt(element, rest)))
    .filter((value) => value !== undefined);
}

function walk(value: unknown, steps: readonly string[], at: number): unknown {
  const step = steps[at];
  if (step === undefined) return value ?? undefined;
  if (step === '[*]') {
    if (!Array.isArray(value)) return undefined;
    for (const element of value.slice(0, MAX_ELEMENTS)) {
      const found = walk(element, steps, at + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const key = step.startsWith('[') ? step.slice(1, -1) : step;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return walk((value as Record<string, unknown>)[key], steps, at + 1);
}
