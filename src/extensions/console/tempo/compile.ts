/** TraceQL as SQL conditions. Each comparison is a term of the console's filter, with its checks and its SQL. */
import { type CompileOptions, compileTerm, type Conditions } from '../filter/compile.ts';
import { FilterError, type Operator } from '../filter/filter.ts';
import { checkTerm } from '../filter/values.ts';
import type { AttributeName } from './attributes.ts';
import { checkPattern } from './pattern.ts';
import type { Comparison, Expression } from './traceql.ts';

export type QueryOptions = Omit<CompileOptions, 'target'>;

/** All comparisons must hold on one span. Those of the trace alone are checked once for each trace. */
export function compileQuery(expression: Expression, options: QueryOptions): Conditions {
  const row = spanConditions(expression, options);
  const sums = conjuncts(expression)
    .filter(isOfTrace)
    .map((each) => compile(each, options));
  const isHeavy = comparisonsOf(expression).some(({ attribute }) => attribute.key !== '' || attribute.isOfTrace);
  return { trace: [], row, own: row, sums, implied: [], conversations: [], isHeavy };
}

/** The conditions on one span. */
export function spanConditions(expression: Expression, options: QueryOptions): readonly string[] {
  const ofSpan = conjuncts(expression).filter((each) => !isOfTrace(each) && !(each.kind === 'constant' && each.value));
  return ofSpan.map((each) => compile(each, options));
}

export function comparisonsOf(expression: Expression): readonly Comparison[] {
  switch (expression.kind) {
    case 'comparison':
      return [expression];
    case 'constant':
      return [];
    case 'not':
      return comparisonsOf(expression.of);
    case 'and':
    case 'or':
      return [...comparisonsOf(expression.left), ...comparisonsOf(expression.right)];
  }
}

function conjuncts(expression: Expression): readonly Expression[] {
  return expression.kind === 'and' ? [...conjuncts(expression.left), ...conjuncts(expression.right)] : [expression];
}

function isOfTrace(expression: Expression): boolean {
  const comparisons = comparisonsOf(expression);
  return comparisons.length > 0 && comparisons.every(({ attribute }) => attribute.isOfTrace);
}

function compile(expression: Expression, options: QueryOptions): string {
  switch (expression.kind) {
    case 'constant':
      return String(expression.value);
    case 'not':
      return `((${compile(expression.of, options)}) IS NOT TRUE)`;
    case 'and':
    case 'or': {
      const operator = expression.kind.toUpperCase();
      return `(${compile(expression.left, options)} ${operator} ${compile(expression.right, options)})`;
    }
    case 'comparison':
      return compileComparison(expression, options);
  }
}

function compileComparison(comparison: Comparison, options: QueryOptions): string {
  const { attribute, operator, value } = comparison;
  if (value.kind === 'name' && value.text === 'nil') return compileNil(comparison, options);
  if (operator === '=~' || operator === '!~') return compilePattern(comparison, options);
  const isNot = operator === '!=';
  const { fold = (text: string) => text } = attribute.field;
  const term = {
    field: attribute.field,
    key: attribute.key,
    operator: (isNot ? '=' : operator) as Operator,
    values: [{ text: fold(literalOf(comparison)), isPrefix: false, at: value.at }],
    negated: false,
    at: attribute.at,
  };
  checkTerm(term);
  const condition = compileTerm(term, { ...options, target: 'span' });
  // As in Tempo, a span without the attribute meets neither = nor !=.
  return isNot ? `(NOT ${condition})` : condition;
}

function literalOf({ attribute: { words, field }, value }: Comparison): string {
  const { kind, text, at } = value;
  if (words !== null) {
    if (!words.includes(text)) throw new FilterError(`"${text}" cannot be used here`, at, words.join(' '));
    return text;
  }
  if (kind === 'name' && text !== 'true' && text !== 'false')
    throw new FilterError(`"${text}" is no value`, at, `a text in quotes, such as "${text}"`);
  if (kind === 'duration' && field.kind !== 'duration_ns')
    throw new FilterError('a duration cannot be used here', at, 'a number or a text');
  return text;
}

function compileNil({ attribute, operator, value }: Comparison, options: QueryOptions): string {
  if (operator !== '=' && operator !== '!=') throw new FilterError('nil takes = or !=', value.at);
  const expression = textOf(attribute, options);
  return `(${expression} IS ${operator === '=' ? '' : 'NOT '}NULL)`;
}

/** The whole value must match, as in Tempo. */
function compilePattern({ attribute, operator, value }: Comparison, options: QueryOptions): string {
  if (value.kind !== 'string') throw new FilterError('a pattern in quotes is missing', value.at);
  const { kind } = attribute.field;
  if (kind !== 'text' && kind !== 'json') throw new FilterError(`${operator} needs a text`, attribute.at);
  checkPattern(value);
  const expression = textOf(attribute, options);
  const condition = `(${expression} ~ ${options.parameters.text(`^(?:${value.text})$`)})`;
  return operator === '=~' ? condition : `(NOT ${condition})`;
}

/** The value as SQL. Throws a `FilterError` without the right to it. */
export function textOf({ field, key, name, at }: AttributeName, { seesContent, parameters }: QueryOptions): string {
  if (field.isContent === true && !seesContent)
    throw new FilterError(`"${name}" is content, which you may not see`, at);
  const expression = String(field.sql.span);
  return key === '' ? expression : `(${expression} ->> ${parameters.text(key)})`;
}
