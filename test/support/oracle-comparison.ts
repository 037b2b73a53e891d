/** Compares lines of NDJSON with the expected rows without loss: integers as integers, members in any order. */
import { type Json, JsonNumber, parseStrictJson } from './oracle-json.ts';
import type { Expected, Row } from './oracle-rows.ts';

function show(value: Expected | Json | undefined): string {
  if (value instanceof JsonNumber) return value.text;
  const plain = (inner: unknown): unknown => {
    if (inner instanceof Map) return Object.fromEntries([...inner].map(([key, member]) => [key, plain(member)]));
    if (Array.isArray(inner)) return inner.map(plain);
    if (inner instanceof JsonNumber) return inner.text;
    return typeof inner === 'bigint' ? `${inner}n` : inner;
  };
  return JSON.stringify(plain(value)) ?? 'nothing';
}

function sameNumber(expected: bigint | number, text: string): boolean {
  // Negative zero keeps its sign.
  if (typeof expected === 'number') return Object.is(Number(text), expected);
  return /^-?[0-9]+$/.test(text) && BigInt(text) === expected;
}

/** The first difference, as a path and both sides; null when there is none. */
function difference(expected: Expected | undefined, actual: Json | undefined, path: string): string | null {
  const differs = `${path}: expected ${show(expected)}, got ${show(actual)}`;
  if (typeof expected === 'bigint' || typeof expected === 'number') {
    return actual instanceof JsonNumber && sameNumber(expected, actual.text) ? null : differs;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return differs;
    return firstOf(expected, (element, index) => difference(element, actual[index], `${path}[${index}]`));
  }
  if (expected instanceof Map) {
    if (!(actual instanceof Map)) return differs;
    const keys = new Set<string>([...expected.keys(), ...actual.keys()]);
    return firstOf([...keys], (key) => difference(expected.get(key), actual.get(key), `${path}.${key}`));
  }
  return expected === actual ? null : differs;
}

function firstOf<T>(values: readonly T[], compare: (value: T, index: number) => string | null): string | null {
  for (const [index, value] of values.entries()) {
    const found = compare(value, index);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Compares a line with a row; null when they are the same. A line that is not JSON, or repeats a key, is a difference.
 */
function compareLine(expected: Row, line: string): string | null {
  try {
    return difference(expected, parseStrictJson(line), 'row');
  } catch (error) {
    return `the line cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Compares all lines of an output with the expected rows. */
export function compareLines(expected: readonly Row[], output: string): string | null {
  const lines = output === '' ? [] : output.replace(/\n$/, '').split('\n');
  if (lines.length !== expected.length) return `expected ${expected.length} lines, got ${lines.length}`;
  return firstOf(expected, (row, index) => {
    const found = compareLine(row, lines[index] ?? '');
    return found === null ? null : `line ${index}: ${found}`;
  });
}
