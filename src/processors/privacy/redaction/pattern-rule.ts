/**
 * A configured pattern, run by RE2: its time grows with the text, never faster. Finding *all* matches can still be slow for a
 * pattern whose match may go on far beyond where it ends, so each rule watches how far it gets.
 */
import { RE2JS } from 're2js';
import type { Rule, Stretches } from './rule.ts';

/** What finding may take before the rest of a text counts as found: ordinary patterns stay far below. */
const SLACK_MS = 250;
const MS_PER_CHARACTER = 0.0005;
const MS_PER_MATCH = 0.01;

export function patternRule(name: string, pattern: string, replacement: string): Rule {
  const compiled = RE2JS.compile(pattern);
  return { name, replacement, hint: null, numbers: false, find: (text) => findAll(compiled, text) };
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
