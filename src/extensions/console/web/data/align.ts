/** Two sequences side by side. The module has no import, so that tests can run it without a browser. */

export interface Pair<T> {
  readonly a: T | null;
  readonly b: T | null;
}

/** With more cells the table would take seconds; items are then joined to the next one of their key. */
const MAX_CELLS = 4_000_000;

/** Pairs as many equal keys as the order of both allows. Every item is in exactly one pair, in its order. */
export function align<T>(a: readonly T[], b: readonly T[], keyOf: (item: T) => string): readonly Pair<T>[] {
  const keysA = a.map(keyOf);
  const keysB = b.map(keyOf);
  let start = 0;
  while (start < a.length && start < b.length && keysA[start] === keysB[start]) start += 1;
  let end = 0;
  const longest = Math.min(a.length, b.length) - start;
  while (end < longest && keysA[a.length - 1 - end] === keysB[b.length - 1 - end]) end += 1;
  const middleA = keysA.slice(start, a.length - end);
  const middleB = keysB.slice(start, b.length - end);
  const matches =
    middleA.length * middleB.length > MAX_CELLS ? inOrder(middleA, middleB) : longestCommon(middleA, middleB);
  const shared = [
    ...Array.from({ length: start }, (_, at) => [at, at] as const),
    ...matches.map(([x, y]) => [x + start, y + start] as const),
    ...Array.from({ length: end }, (_, at) => [a.length - end + at, b.length - end + at] as const),
  ];
  const pairs: Pair<T>[] = [];
  let [atA, atB] = [0, 0];
  for (const [toA, toB] of [...shared, [a.length, b.length] as const]) {
    for (; atA < toA; atA += 1) pairs.push({ a: a[atA] ?? null, b: null });
    for (; atB < toB; atB += 1) pairs.push({ a: null, b: b[atB] ?? null });
    if (atA < a.length && atB < b.length) pairs.push({ a: a[atA++] ?? null, b: b[atB++] ?? null });
  }
  return pairs;
}

type Match = readonly [a: number, b: number];

function longestCommon(a: readonly string[], b: readonly string[]): readonly Match[] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (x: number, y: number): number => lengths[x * width + y] ?? 0;
  for (let x = a.length - 1; x >= 0; x -= 1) {
    for (let y = b.length - 1; y >= 0; y -= 1) {
      lengths[x * width + y] = a[x] === b[y] ? at(x + 1, y + 1) + 1 : Math.max(at(x + 1, y), at(x, y + 1));
    }
  }
  const matches: Match[] = [];
  for (let x = 0, y = 0; x < a.length && y < b.length; ) {
    if (a[x] === b[y]) matches.push([x++, y++]);
    else if (at(x + 1, y) >= at(x, y + 1)) x += 1;
    else y += 1;
  }
  return matches;
}

/** Each item with the first one of its key behind the last match. */
function inOrder(a: readonly string[], b: readonly string[]): readonly Match[] {
  const places = new Map<string, number[]>();
  for (const [at, key] of b.entries()) places.set(key, [...(places.get(key) ?? []), at]);
  const matches: Match[] = [];
  let next = 0;
  for (const [at, key] of a.entries()) {
    const place = places.get(key)?.find((each) => each >= next);
    if (place === undefined) continue;
    matches.push([at, place]);
    next = place + 1;
  }
  return matches;
}

/** Items that were not paired, joined by another key where both sides have some between two pairs. */
function alignRest<T>(pairs: readonly Pair<T>[], keyOf: (item: T) => string): readonly Pair<T>[] {
  const joined: Pair<T>[] = [];
  let alone: Pair<T>[] = [];
  const flush = (): void => {
    const left = alone.flatMap(({ a }) => (a === null ? [] : [a]));
    const right = alone.flatMap(({ b }) => (b === null ? [] : [b]));
    joined.push(...(left.length === 0 || right.length === 0 ? alone : align(left, right, keyOf)));
    alone = [];
  };
  for (const pair of pairs) {
    if (pair.a === null || pair.b === null) {
      alone.push(pair);
      continue;
    }
    flush();
    joined.push(pair);
  }
  flush();
  return joined;
}

export interface Branch {
  readonly name: string;
  readonly category: string | null;
  readonly children: readonly Branch[];
}

export interface ComparedPair<T> extends Pair<T> {
  readonly depth: number;
}

/**
 * Joins two trees from the top. Siblings are paired by name, the rest by category, because calls of another model have
 * another name. Not recursive: a trace may be a chain of thousands of spans.
 */
export function alignTrees<T extends Branch>(a: readonly T[], b: readonly T[]): readonly ComparedPair<T>[] {
  const rows: ComparedPair<T>[] = [];
  const siblings = (left: readonly T[], right: readonly T[], depth: number): ComparedPair<T>[] =>
    alignRest(
      align(left, right, ({ name, category }) => `${category} ${name}`),
      ({ name, category }) => category ?? ` ${name}`,
    ).map((pair) => ({ ...pair, depth }));
  const waiting = siblings(a, b, 0).reverse();
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    rows.push(row);
    const below = siblings(
      (row.a?.children ?? []) as readonly T[],
      (row.b?.children ?? []) as readonly T[],
      row.depth + 1,
    );
    for (const each of below.reverse()) waiting.push(each);
  }
  return rows;
}
