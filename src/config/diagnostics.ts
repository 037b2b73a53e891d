/**
 * Problems of a configuration. They are collected, not thrown, so that one run shows all of them. Each has its place,
 * shows the line and suggests a fix.
 */
import { maskUrls } from '../component/masked-url.ts';
import { UserError } from '../errors.ts';
import { excerptOf, type Origin, placeOf, printable } from './source.ts';

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint: string | null;
  /** Null when the problem has no place in a file, for example a missing file. */
  readonly origin: Origin | null;
}

/** Further problems are counted, not shown: the first ones usually explain them. */
const MAX_SHOWN = 50;
/** Longer values are cut in messages. */
const MAX_QUOTED = 80;
/** Shorter values of variables are not replaced in messages, because they occur in ordinary words. */
const MIN_HIDDEN_TEXT = 6;

export class Diagnostics {
  readonly #list: Diagnostic[] = [];
  readonly #secrets: Origin[] = [];
  /** Contents of variables and files in quoted form, each with the reference that messages show instead. */
  readonly #texts = new Map<string, string>();

  error(origin: Origin | null, message: string, hint: string | null = null): void {
    this.#add({ severity: 'error', message, hint, origin });
  }

  warn(origin: Origin | null, message: string, hint: string | null = null): void {
    this.#add({ severity: 'warning', message, hint, origin });
  }

  /** Adds the problems of another collection. */
  absorb(others: Diagnostics | undefined): void {
    if (others === undefined) return;
    for (const diagnostic of others.#list) this.#add(diagnostic);
    for (const [text, reference] of others.#texts) this.#texts.set(text, reference);
  }

  get list(): readonly Diagnostic[] {
    return this.#list;
  }

  /** This range of the source is never shown. */
  hide(origin: Origin): void {
    this.#secrets.push(origin);
  }

  /** The content of a variable or file. Messages show the reference instead. */
  hideText(text: string, reference: string): void {
    if (text.length < MIN_HIDDEN_TEXT) return;
    for (const form of [text, quote(text).slice(1, -1)]) this.#texts.set(form, reference);
  }

  get errors(): readonly Diagnostic[] {
    return this.#list.filter((diagnostic) => diagnostic.severity === 'error');
  }

  get warnings(): readonly Diagnostic[] {
    return this.#list.filter((diagnostic) => diagnostic.severity === 'warning');
  }

  get failed(): boolean {
    return this.errors.length > 0;
  }

  /** Errors first, each group in the order of the files. The last line counts them. */
  render(): string {
    const sorted = [...sortByPlace(this.errors), ...sortByPlace(this.warnings)];
    const lines = sorted.slice(0, MAX_SHOWN).flatMap((diagnostic) => this.#renderOne(diagnostic));
    return [...lines, `${countOf(this.errors.length, 'error')}, ${countOf(this.warnings.length, 'warning')}`].join(
      '\n',
    );
  }

  /** One text per problem. Its first line is complete by itself, for a log. */
  renderWarnings(): readonly string[] {
    return sortByPlace(this.warnings).map((diagnostic) => this.#renderOne(diagnostic).join('\n'));
  }

  #renderOne(diagnostic: Diagnostic): readonly string[] {
    const hint = diagnostic.hint === null ? [] : [`        hint: ${this.#withoutTexts(diagnostic.hint)}`];
    const message = this.#withoutTexts(diagnostic.message);
    if (diagnostic.origin === null) return [`${diagnostic.severity}: ${message}`, ...hint];
    const head = `${placeOf(diagnostic.origin)}: ${diagnostic.severity}: ${message}`;
    return [head, ...excerptOf(diagnostic.origin, this.#secrets), ...hint];
  }

  #withoutTexts(message: string): string {
    // Longest first: one value may be part of another.
    const texts = [...this.#texts].sort(([a], [b]) => b.length - a.length);
    return texts.reduce((shown, [text, reference]) => shown.replaceAll(text, () => reference), message);
  }

  #add(diagnostic: Diagnostic): void {
    const known = this.#list.some(
      (other) =>
        other.message === diagnostic.message &&
        other.origin?.source === diagnostic.origin?.source &&
        other.origin?.offset === diagnostic.origin?.offset,
    );
    if (!known) this.#list.push(diagnostic);
  }
}

/** Thrown once, with all problems. */
export class ConfigError extends UserError {
  readonly diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics) {
    super(diagnostics.render());
    this.diagnostics = diagnostics;
  }
}

/** Text from a file or the environment for a message: quoted, on one line, at most of a fixed length. */
export function quote(text: string): string {
  const shown = maskUrls(text);
  return JSON.stringify(printable(shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…` : shown));
}

function sortByPlace(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const sources = [...new Set(diagnostics.map((diagnostic) => diagnostic.origin?.source))];
  const rank = (diagnostic: Diagnostic): number =>
    diagnostic.origin === null ? -1 : sources.indexOf(diagnostic.origin.source);
  return [...diagnostics].sort((a, b) => rank(a) - rank(b) || (a.origin?.offset ?? 0) - (b.origin?.offset ?? 0));
}

const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
