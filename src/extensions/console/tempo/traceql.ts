/**
 * A subset of TraceQL: one `{ … }` with comparisons, `&&`, `||`, `!` and parentheses, then at most one
 * `| select(…)`. Every refusal has a position.
 */
import { FilterError, MAX_TERMS } from '../filter/filter.ts';
import { type AttributeName, attributeNamed } from './attributes.ts';
import { type Token, tokensOf } from './tokens.ts';

export type ComparisonOperator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '=~' | '!~';

export interface Comparison {
  readonly kind: 'comparison';
  readonly attribute: AttributeName;
  readonly operator: ComparisonOperator;
  readonly value: Token;
}

export type Expression =
  | Comparison
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression };

export interface Query {
  readonly expression: Expression;
  /** Attributes to show, besides those that are compared. */
  readonly selected: readonly AttributeName[];
}

const MAX_DEPTH = 50;
const COMPARISONS: readonly string[] = ['=', '!=', '>', '>=', '<', '<=', '=~', '!~'] satisfies ComparisonOperator[];
const ALL: Query = { expression: { kind: 'constant', value: true }, selected: [] };

/** Without a text: every span. Throws a `FilterError`. */
export function parseQuery(text: string): Query {
  const tokens = tokensOf(text);
  return tokens.length === 1 ? ALL : new QueryReader(tokens).read();
}

class QueryReader {
  readonly #tokens: readonly Token[];
  #next = 0;
  #terms = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  read(): Query {
    this.#expect('{', 'Sluice reads one { }');
    const expression = this.#is('}') ? ALL.expression : this.#readOr(0);
    this.#expect('}', 'an operator or } is missing');
    const selected = this.#take('|') ? this.#readSelect() : [];
    const rest = this.#token();
    if (rest.kind !== 'end') throw new FilterError('Sluice reads one { } and one select()', rest.at);
    return { expression, selected };
  }

  #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #is(operator: string): boolean {
    const { kind, text } = this.#token();
    return kind === 'operator' && text === operator;
  }

  #take(operator: string): boolean {
    const found = this.#is(operator);
    if (found) this.#next += 1;
    return found;
  }

  #expect(operator: string, message: string): void {
    if (!this.#take(operator)) throw new FilterError(message, this.#token().at);
  }

  #readOr(depth: number): Expression {
    let left = this.#readAnd(depth);
    while (this.#take('||')) left = { kind: 'or', left, right: this.#readAnd(depth) };
    return left;
  }

  #readAnd(depth: number): Expression {
    let left = this.#readOne(depth);
    while (this.#take('&&')) left = { kind: 'and', left, right: this.#readOne(depth) };
    return left;
  }

  #readOne(depth: number): Expression {
    const { at, kind, text } = this.#token();
    if (depth === MAX_DEPTH) throw new FilterError(`parentheses can be nested ${MAX_DEPTH} times`, at);
    if (this.#take('!')) return { kind: 'not', of: this.#readOne(depth + 1) };
    if (this.#take('(')) {
      const inner = this.#readOr(depth + 1);
      this.#expect(')', 'an operator or ) is missing');
      return inner;
    }
    if (kind === 'name' && (text === 'true' || text === 'false')) {
      this.#next += 1;
      return { kind: 'constant', value: text === 'true' };
    }
    return this.#readComparison();
  }

  #readComparison(): Comparison {
    const attribute = this.#readAttribute();
    this.#terms += 1;
    if (this.#terms > MAX_TERMS) throw new FilterError(`a query has at most ${MAX_TERMS} comparisons`, attribute.at);
    const { kind, text, at } = this.#token();
    if (kind !== 'operator' || !COMPARISONS.includes(text))
      throw new FilterError('a comparison is missing', at, COMPARISONS.join(' '));
    this.#next += 1;
    const value = this.#token();
    if (value.kind === 'operator' || value.kind === 'end') throw new FilterError('a value is missing', value.at);
    this.#next += 1;
    return { kind: 'comparison', attribute, operator: text as ComparisonOperator, value };
  }

  #readAttribute(): AttributeName {
    const { kind, text, at } = this.#token();
    if (kind !== 'name') throw new FilterError('the name of an attribute is missing', at, 'span.http.route');
    this.#next += 1;
    return attributeNamed(text, at);
  }

  #readSelect(): readonly AttributeName[] {
    const { kind, text, at } = this.#token();
    if (kind !== 'name' || text !== 'select') throw new FilterError('only select() can follow { }', at);
    this.#next += 1;
    this.#expect('(', '( is missing');
    const selected = [this.#readAttribute()];
    while (this.#take(',')) {
      if (selected.length === MAX_TERMS)
        throw new FilterError(`select() takes at most ${MAX_TERMS} attributes`, this.#token().at);
      selected.push(this.#readAttribute());
    }
    this.#expect(')', ') or , is missing');
    return selected;
  }
}
