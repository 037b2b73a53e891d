/**
 * What is wrong with a configuration: problems are collected, not thrown, so that one run shows all of them; each names its
 * place, shows the line and says what to do.
 */
import { UserError } from '../errors.ts';
import { excerptOf, type Origin, placeOf, printable } from './source.ts';

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint: string | null;
  /** Null when the fault has no place in any file, as a missing file. */
  readonly origin: Origin | null;
}

/** More than this many are counted, not shown: the first ones usually explain the rest. */
const MAX_SHOWN = 50;
/** Longer values are cut when a message quotes them. */
const MAX_QUOTED = 80;
/** Shorter values of variables are not searched for in messages: they occur in ordinary words. */
const MIN_HIDDEN_TEXT = 6;

export class Problems {
  readonly #list: Problem[] = [];
  readonly #secrets: Origin[] = [];
  /** What variables and files hold, as messages may quote it, with the reference that is shown in its place. */
  readonly #texts = new Map<string, string>();

  error(origin: Origin | null, message: string, hint: string | null = null): void {
    this.#add({ severity: 'error', message, hint, origin });
  }

  warn(origin: Origin | null, message: string, hint: string | null = null): void {
    this.#add({ severity: 'warning', message, hint, origin });
  }

  /** Takes over what was found elsewhere. */
  absorb(others: Problems | undefined): void {
    if (others === undefined) return;
    for (const problem of others.#list) this.#add(problem);
    for (const [text, reference] of others.#texts) this.#texts.set(text, reference);
  }

  get list(): readonly Problem[] {
    return this.#list;
  }

  /** This stretch of text is never shown. */
  hide(origin: Origin): void {
    this.#secrets.push(origin);
  }

  /** The value of a variable or file: messages show the reference in its place. */
  hideText(text: string, reference: string): void {
    if (text.length < MIN_HIDDEN_TEXT) return;
    for (const form of [text, quote(text).slice(1, -1)]) this.#texts.set(form, reference);
  }

  get errors(): readonly Problem[] {
    return this.#list.filter((problem) => problem.severity === 'error');
  }

  get warnings(): readonly Problem[] {
    return this.#list.filter((problem) => problem.severity === 'warning');
  }

  get failed(): boolean {
    return this.errors.length > 0;
  }

  /** Errors first, each group in the order of the files; the text ends with a line that counts them. */
  render(): string {
    const sorted = [...sortByPlace(this.errors), ...sortByPlace(this.warnings)];
    const lines = sorted.slice(0, MAX_SHOWN).flatMap((problem) => this.#renderOne(problem));
    return [...lines, `${countOf(this.errors.length, 'error')}, ${countOf(this.warnings.length, 'warning')}`].join(
      '\n',
    );
  }

  /** One text of several lines for each; the first line says it all, for a log. */
  renderWarnings(): readonly string[] {
    return sortByPlace(this.warnings).map((problem) => this.#renderOne(problem).join('\n'));
  }

  #renderOne(problem: Problem): readonly string[] {
    const hint = problem.hint === null ? [] : [`        hint: ${this.#withoutTexts(problem.hint)}`];
    const message = this.#withoutTexts(problem.message);
    if (problem.origin === null) return [`${problem.severity}: ${message}`, ...hint];
    const head = `${placeOf(problem.origin)}: ${problem.severity}: ${message}`;
    return [head, ...excerptOf(problem.origin, this.#secrets), ...hint];
  }

  #withoutTexts(message: string): string {
    // The longest first: one value may be a part of another.
    const texts = [...this.#texts].sort(([a], [b]) => b.length - a.length);
    return texts.reduce((shown, [text, reference]) => shown.replaceAll(text, () => reference), message);
  }

  #add(problem: Problem): void {
    const known = this.#list.some(
      (other) =>
        other.message === problem.message &&
        other.origin?.source === problem.origin?.source &&
        other.origin?.offset === problem.origin?.offset,
    );
    if (!known) this.#list.push(problem);
  }
}

/** Thrown once, with everything that is wrong. */
export class ConfigError extends UserError {
  readonly problems: Problems;

  constructor(problems: Problems) {
    super(problems.render());
    this.problems = problems;
  }
}

/** Text from a file or the environment inside a message: quoted, on one line, bounded. */
export function quote(text: string): string {
  return JSON.stringify(printable(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text));
}

function sortByPlace(problems: readonly Problem[]): readonly Problem[] {
  const sources = [...new Set(problems.map((problem) => problem.origin?.source))];
  const rank = (problem: Problem): number => (problem.origin === null ? -1 : sources.indexOf(problem.origin.source));
  return [...problems].sort((a, b) => rank(a) - rank(b) || (a.origin?.offset ?? 0) - (b.origin?.offset ?? 0));
}

const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
