/** Finds the known name nearest to a misspelt one, by edit distance with transpositions, for "did you mean" hints. */

/** Longer names are not compared; a typing error does not produce them. */
const MAX_LENGTH = 64;
/** A shorter common prefix is not significant. */
const MIN_BEGINNING = 3;

export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    if (candidate === name || candidate.length > MAX_LENGTH || name.length > MAX_LENGTH) continue;
    const distance = begins(name, candidate) ? 1 : editDistance(fold(name), fold(candidate));
    const allowed = Math.max(1, Math.floor(Math.max(name.length, candidate.length) / 3));
    if (distance <= allowed && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** One name is a prefix of the other, as `warning` and `warn`. */
const begins = (name: string, candidate: string): boolean =>
  name.length >= MIN_BEGINNING &&
  candidate.length >= MIN_BEGINNING &&
  (fold(name).startsWith(fold(candidate)) || fold(candidate).startsWith(fold(name)));

/** `did you mean "x"?`, or else the list of known names. */
export function suggest(name: string, known: readonly string[], noun: string): string | null {
  const near = nearest(name, known);
  if (near !== null) return `did you mean "${near}"?`;
  return known.length === 0 ? null : `known ${noun}: ${known.join(', ')}`;
}

/** Case, hyphens and underscores are the most frequent differences. */
const fold = (name: string): string => name.toLowerCase().replaceAll('-', '_');

/** Optimal string alignment distance. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
