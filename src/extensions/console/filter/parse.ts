/**
 * Reads a filter: `model:gpt-5* cost:>0.05 -service:worker error "timed out"`. Terms are separated by spaces, the
 * values of a term by commas. Every refusal has a position.
 */
import { nearest } from '../../../component/nearest.ts';
import { ERROR_FIELD, FIELD_NAMES, FIELDS, type Field, findField, TEXT_FIELD } from './fields.ts';
import {
  type Filter,
  FilterError,
  type FilterValue,
  MAX_FILTER_BYTES,
  MAX_TERMS,
  type Operator,
  type Term,
} from './filter.ts';
import { checkTerm } from './values.ts';

const OPERATOR = /^(?:>=|<=|>|<|~|=)/u;
/** A name ends before these characters. */
const NAME = /[^\s:",]*/uy;
const WORD = /[^\s",]*/uy;
const SPACE = /\s*/uy;

export function parseFilter(text: string): Filter {
  if (Buffer.byteLength(text) > MAX_FILTER_BYTES)
    throw new FilterError(`a filter has at most ${MAX_FILTER_BYTES} bytes`, 0);
  const zero = text.indexOf('\0');
  if (zero >= 0) throw new FilterError('a filter cannot contain U+0000', zero);
  return { terms: new FilterReader(text).read() };
}

class FilterReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): readonly Term[] {
    const terms: Term[] = [];
    for (this.#take(SPACE); this.#at < this.#text.length; this.#take(SPACE)) {
      if (terms.length === MAX_TERMS) throw new FilterError(`a filter has at most ${MAX_TERMS} terms`, this.#at);
      const term = this.#readTerm();
      checkTerm(term);
      terms.push(term);
    }
    return terms;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #next(): string {
    return this.#text[this.#at] ?? '';
  }

  #readTerm(): Term {
    const negated = this.#next() === '-';
    if (negated) this.#at += 1;
    const at = this.#at;
    if (this.#next() === '"') {
      const values = [this.#readValue()];
      this.#expectEnd();
      return { field: TEXT_FIELD, key: '', operator: '=', values, negated, at };
    }
    const name = this.#take(NAME);
    if (this.#next() !== ':') return { ...this.#flag(name, at), negated };
    const { field, key } = known(name, at);
    if (field.kind === 'flag') throw new FilterError(`"${name}" has no value`, this.#at, name);
    this.#at += 1;
    const operator = this.#readOperator();
    const values = [this.#readValue()];
    while (this.#next() === ',') {
      this.#at += 1;
      values.push(this.#readValue());
    }
    this.#expectEnd();
    const { fold } = field;
    const folded = fold === undefined ? values : values.map((value) => ({ ...value, text: fold(value.text) }));
    return { field, key, operator, values: folded, negated, at };
  }

  #flag(name: string, at: number): Omit<Term, 'negated'> {
    if (name === '') throw new FilterError('a term is missing', at, 'field:value');
    this.#expectEnd();
    const field = name === ERROR_FIELD.name ? ERROR_FIELD : FIELDS.get(name);
    if (field?.kind === 'flag' || field?.kind === 'error') return { field, key: '', operator: '=', values: [], at };
    if (findField(name) !== null) throw new FilterError(`"${name}" needs a value`, this.#at, `${name}:value`);
    const near = nearest(name, ['error', 'unpriced', 'root']);
    throw new FilterError(`"${name}" is no field and no flag`, at, near ?? `"${name}" in quotes searches for the text`);
  }

  #readOperator(): Operator {
    const found = OPERATOR.exec(this.#text.slice(this.#at, this.#at + 2))?.[0] ?? '';
    this.#at += found.length;
    return found === '' ? '=' : (found as Operator);
  }

  #readValue(): FilterValue {
    const at = this.#at;
    if (this.#next() === '"') {
      const text = this.#readQuoted();
      const isPrefix = this.#next() === '*';
      if (isPrefix) this.#at += 1;
      return { text, isPrefix, at };
    }
    const word = this.#take(WORD);
    if (word === '') throw new FilterError('a value is missing', at);
    const star = word.indexOf('*');
    if (star >= 0 && star < word.length - 1)
      throw new FilterError('* can only be at the end of a value', at + star, 'quotes make it an ordinary character');
    return { text: star < 0 ? word : word.slice(0, -1), isPrefix: star >= 0, at };
  }

  /** A backslash stands before a quote or a backslash; elsewhere it is an ordinary character. */
  #readQuoted(): string {
    const start = this.#at;
    let text = '';
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const character = this.#text.charAt(at);
      const following = this.#text.charAt(at + 1);
      if (character === '"') {
        this.#at = at + 1;
        return text;
      }
      const isEscape = character === '\\' && (following === '"' || following === '\\');
      text += isEscape ? following : character;
      if (isEscape) at += 1;
    }
    throw new FilterError('the quote is not closed', start, '"');
  }

  #expectEnd(): void {
    if (this.#at < this.#text.length && !/\s/u.test(this.#next()))
      throw new FilterError('a space is missing between two terms', this.#at);
  }
}

function known(name: string, at: number): { readonly field: Field; readonly key: string } {
  if (name === '') throw new FilterError('the name of a field is missing', at);
  const found = findField(name);
  if (found !== null) return found;
  const near = nearest(name, FIELD_NAMES);
  throw new FilterError(`there is no field "${name}"`, at, near);
}
