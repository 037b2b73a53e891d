/** Parses the arguments of the command line into options and words, with a hint for unknown options. */
import { parseArgs } from 'node:util';
import { suggest } from '../component/nearest.ts';

export interface Option {
  readonly type: 'flag' | 'text' | 'list';
  /** One letter, such as `h` for `-h`. */
  readonly short?: string;
  /** The name of the value in the help: `FILE`. */
  readonly value?: string;
  readonly description: string;
  /** The value without the option. Help and docs/cli.md show it. */
  readonly default?: string;
  /** What applies without the option, when that is not a value: `all projects`. */
  readonly otherwise?: string;
}

export type Options = Readonly<Record<string, Option>>;

/** What an option has besides its value and description. */
type Rest = Pick<Option, 'short' | 'default' | 'otherwise'>;

export const flagOption = (description: string, rest: Rest = {}): Option => ({ type: 'flag', description, ...rest });

export const textOption = (value: string, description: string, rest: Rest = {}): Option => ({
  type: 'text',
  value,
  description,
  ...rest,
});

/** A text that may be given several times. */
export const listOption = (value: string, description: string, rest: Rest = {}): Option => ({
  ...textOption(value, description, rest),
  type: 'list',
});

/** The option `limit`, whose value `limitOf` reads. */
export const limitOption = (description: string, limit: number): Option =>
  textOption('N', description, { short: 'n', default: String(limit) });

/** Wrong usage of the command line: exit code 2. */
export class UsageError extends Error {
  readonly hint: string | null;
  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

export class Values {
  readonly #given: ReadonlyMap<string, readonly string[]>;
  readonly #options: Options;

  constructor(given: ReadonlyMap<string, readonly string[]>, options: Options) {
    this.#given = given;
    this.#options = options;
  }

  flag(name: string): boolean {
    return this.#given.has(name);
  }

  /** The given value, or else the default of the option. */
  text(name: string): string | undefined {
    return this.#given.get(name)?.at(-1) ?? this.#options[name]?.default;
  }

  /** As `text`, of an option that has a default. */
  word(name: string): string {
    return this.text(name) ?? '';
  }

  list(name: string): readonly string[] {
    return this.#given.get(name) ?? [];
  }
}

export interface Parsed {
  readonly values: Values;
  readonly words: readonly string[];
}

/** The value of an option `limit`. */
export function limitOf(values: Values, highest: number): number {
  const text = values.word('limit');
  const limit = /^\d{1,9}$/u.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > highest) throw new UsageError(`--limit takes a number from 1 to ${highest}, not "${text}"`);
  return limit;
}

/** The pairs of a value such as `input=1,output=2`; each name once, because one of two values would be ignored. */
export function pairsOf(option: string, text: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const part of text.split(',')) {
    const [name = '', value, ...more] = part.split('=').map((each) => each.trim());
    if (value === undefined || more.length > 0)
      throw new UsageError(`--${option} takes NAME=VALUE, several with commas, not "${part}"`);
    if (pairs.has(name)) throw new UsageError(`--${option} has "${name}" twice`);
    pairs.set(name, value);
  }
  return pairs;
}

/** The first word, which the command needs. `name`: as the help has it. */
export function onlyWord({ words }: Pick<Parsed, 'words'>, name: string): string {
  const [word] = words;
  if (word === undefined || word === '') throw new UsageError(`${name} is missing`);
  return word;
}

/** `--name value`, `--name=value`, `-n`; `--` ends the options. Throws a `UsageError`. */
export function parseWords(input: readonly string[], options: Options): Parsed {
  const given = new Map<string, readonly string[]>();
  const words: string[] = [];
  for (const token of tokensOf(input, options)) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) throw unknownOption(rawName, options);
    if (option.type === 'flag') {
      if (value !== undefined) throw new UsageError(`--${name} takes no value`);
      given.set(name, ['']);
      continue;
    }
    // An empty value is most often a variable of the shell that is not set.
    if (value === undefined || value === '' || (!inlineValue && isLongOption(value, options)))
      throw new UsageError(`--${name} needs a value`, `as --${name} ${option.value ?? 'VALUE'}`);
    if (option.type === 'text' && given.has(name)) throw new UsageError(`--${name} is given twice`);
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  return { values: new Values(given, options), words };
}

/** Another option, where the value was forgotten. A value of this form is written as `--name=--value`. */
const isLongOption = (word: string, options: Options): boolean =>
  word.startsWith('--') && Object.hasOwn(options, word.slice(2).replace(/=.*$/su, ''));

/** The index of the first argument that is neither an option nor the value of an option. */
export function firstWord(input: readonly string[], options: Options): number {
  return tokensOf(input, options).find(({ kind }) => kind === 'positional')?.index ?? input.length;
}

function tokensOf(input: readonly string[], options: Options) {
  const known = Object.entries(options).map(([name, { type, short }]) => {
    const kind = type === 'flag' ? ('boolean' as const) : ('string' as const);
    return [name, { type: kind, multiple: true, ...(short === undefined ? {} : { short }) }] as const;
  });
  return parseArgs({
    args: input.map((word) => withTwoDashes(word, options)),
    options: Object.fromEntries(known),
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

/** A single dash works for long names too, as in Go programs, and `-c=FILE` for short ones. */
function withTwoDashes(word: string, options: Options): string {
  const [, bare = '', rest = ''] = /^-([a-z][^=]*)(.*)$/su.exec(word) ?? [];
  if (bare.length > 1 && Object.hasOwn(options, bare)) return `-${word}`;
  const named = Object.keys(options).find((name) => options[name]?.short === bare);
  return named === undefined || rest === '' ? word : `--${named}${rest}`;
}

function unknownOption(written: string, options: Options): UsageError {
  const hint = suggest(written.replace(/^--?/u, ''), Object.keys(options), '');
  const near = hint?.startsWith('did you mean') === true ? hint.replace('"', '"--') : 'Use --help to list the options.';
  return new UsageError(`unknown option ${written}`, near);
}
