/** Parses the arguments of the command line into options and words, with a hint for unknown options. */
import { suggest } from '../config/nearest.ts';

export interface Option {
  readonly type: 'flag' | 'text' | 'list';
  /** One letter, such as `h` for `-h`. */
  readonly short?: string;
  /** The name of the value in the help: `FILE`. */
  readonly value?: string;
  readonly description: string;
}

export type Options = Readonly<Record<string, Option>>;

/** Wrong usage of the command line: exit code 2. */
export class UsageError extends Error {
  readonly hint: string | null;
  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

export class Values {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  flag(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}

export interface Parsed {
  readonly values: Values;
  readonly words: readonly string[];
}

/** `--name value`, `--name=value`, `-n`; `--` ends the options. Throws a `UsageError`. */
export function parseWords(input: readonly string[], options: Options): Parsed {
  const values = new Map<string, readonly string[]>();
  const words: string[] = [];
  for (let at = 0; at < input.length; at += 1) {
    const word = input[at] ?? '';
    if (word === '--') return { values: new Values(values), words: [...words, ...input.slice(at + 1)] };
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      continue;
    }
    const { name, option, attached } = recognise(word, options);
    if (option.type === 'flag') {
      if (attached !== null) throw new UsageError(`--${name} takes no value`);
      values.set(name, ['']);
      continue;
    }
    const value = attached ?? input[(at += 1)];
    if (value === undefined) throw new UsageError(`--${name} needs a value`, `as --${name} ${option.value ?? 'VALUE'}`);
    if (option.type === 'text' && values.has(name)) throw new UsageError(`--${name} is given twice`);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return { values: new Values(values), words };
}

function recognise(word: string, options: Options) {
  const equals = word.indexOf('=');
  const written = equals === -1 ? word : word.slice(0, equals);
  const attached = equals === -1 ? null : word.slice(equals + 1);
  // A single dash works for long names too, as in Go programs.
  const bare = written.replace(/^--?/u, '');
  const name = Object.hasOwn(options, bare)
    ? bare
    : Object.keys(options).find((each) => options[each]?.short === bare && !written.startsWith('--'));
  const option = name === undefined ? undefined : options[name];
  if (name === undefined || option === undefined) {
    const hint = suggest(bare, Object.keys(options), '');
    const near =
      hint?.startsWith('did you mean') === true ? hint.replace('"', '"--') : 'Use --help to list the options.';
    throw new UsageError(`unknown option ${written}`, near);
  }
  return { name, option, attached };
}
