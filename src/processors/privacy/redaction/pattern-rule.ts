/**
 * A configured pattern, run by RE2: its time grows with the text, never faster. Finding *all* matches can still be slow for a
 * pattern whose match may go on far beyond where it ends, so each rule watches how far it gets.
 */
import { RE2JS } from 're2js';
import type { Hint, Rule, Stretches } from './rule.ts';

/** What finding may take before the rest of a text counts as found: ordinary patterns stay far below. */
const SLACK_MS = 250;
const MS_PER_CHARACTER = 0.0005;
const MS_PER_MATCH = 0.01;

export function patternRule(name: string, pattern: string, replacement: string): Rule {
  const compiled = RE2JS.compile(pattern);
  return { name, replacement, hint: hintOf(compiled), numbers: null, find: (text) => findAll(compiled, text) };
}

/** What RE2 itself looks for before it starts: texts that must stand in any match. `EXACT`, `AND`, `OR` as it numbers them. */
interface Prefilter {
  readonly type: number;
  readonly str: string;
  readonly subs: readonly Prefilter[];
}
const EXACT = 1;
const AND = 2;
const OR = 3;
/** Characters that are written one way only: see `Rule.hint`. */
const PLAIN = /^[A-Za-z0-9 _.@:=+#,;~!-]+$/;

/** Not part of the library's interface, so whatever is not as expected means that there is no hint. */
function hintOf(pattern: RE2JS): Hint | null {
  const inner = pattern.re2() as unknown as { readonly prefilter?: Prefilter | null };
  const texts = typeof inner.prefilter === 'object' && inner.prefilter !== null ? textsOf(inner.prefilter) : null;
  return texts === null ? null : { openings: texts.split('|') };
}

function textsOf({ type, str, subs }: Prefilter): string | null {
  if (type === EXACT) return PLAIN.test(str) ? str.replace(/[.+]/g, '\\$&') : null;
  if (type !== AND && type !== OR) return null;
  const inner = subs.map(textsOf);
  const known = inner.filter((hint) => hint !== null);
  if (type === OR) return known.length === inner.length && known.length > 0 ? known.join('|') : null;
  return known.reduce<string | null>((longest, hint) => (hint.length > (longest?.length ?? 0) ? hint : longest), null);
}

function findAll(pattern: RE2JS, text: string): Stretches {
  // Deciding whether there is any match is several times cheaper than finding one.
  if (!pattern.test(text)) return [];
  const found: number[] = [];
  const matcher = pattern.matcher(text);
  const begin = performance.now();
  while (matcher.find()) {
    const from = matcher.start();
    const to = matcher.end();
    if (to > from) found.push(from, to);
    const allowed = SLACK_MS + to * MS_PER_CHARACTER + found.length * MS_PER_MATCH;
    if (performance.now() - begin <= allowed) continue;
    found.push(to, text.length);
    break;
  }
  return found;
}
