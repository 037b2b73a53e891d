/** Which operators and values a field takes, and the exact figures that values stand for. */
import type { FieldKind } from './fields.ts';
import { FilterError, type FilterValue, type Operator, type Term } from './filter.ts';

const TEXT_OPERATORS: readonly Operator[] = ['=', '~'];
const ORDER_OPERATORS: readonly Operator[] = ['=', '>', '>=', '<', '<='];

interface Rule {
  readonly operators: readonly Operator[];
  readonly takesPrefix: boolean;
  /** Whether the value can be used; left out: any. */
  readonly accepts?: (text: string) => boolean;
  /** How a value is written. */
  readonly form: string;
}

const DURATION_RULE: Rule = {
  operators: ORDER_OPERATORS,
  takesPrefix: false,
  accepts: isDuration,
  form: 'a duration such as 2s or 150ms',
};
const RULES: Readonly<Record<FieldKind, Rule>> = {
  text: { operators: TEXT_OPERATORS, takesPrefix: true, form: 'a text' },
  trace_id: {
    operators: ['='],
    takesPrefix: true,
    accepts: (text) => /^[0-9a-f]{1,32}$/iu.test(text),
    form: 'up to 32 hexadecimal digits',
  },
  span_id: {
    operators: ['='],
    takesPrefix: false,
    accepts: (text) => /^[0-9a-f]{16}$/iu.test(text),
    form: '16 hexadecimal digits',
  },
  number: {
    operators: ORDER_OPERATORS,
    takesPrefix: false,
    accepts: (text) => AMOUNT.test(text),
    form: 'a number such as 0.05, 1200 or 3k',
  },
  duration_ns: DURATION_RULE,
  duration_ms: DURATION_RULE,
  json: { operators: [...ORDER_OPERATORS, '~'], takesPrefix: true, form: 'a text or a number' },
  search: { operators: TEXT_OPERATORS, takesPrefix: false, accepts: (text) => text !== '', form: 'a text' },
  error: { operators: TEXT_OPERATORS, takesPrefix: false, accepts: (text) => text !== '', form: 'a text' },
  flag: { operators: ['='], takesPrefix: false, form: 'nothing' },
};

const isOrder = (operator: Operator): boolean => operator !== '=' && operator !== '~';

/** Throws a `FilterError` for an operator or a value that the field does not take. */
export function checkTerm({ field, operator, values, at }: Term): void {
  const { kind } = field;
  const rule = RULES[kind];
  if (!rule.operators.includes(operator))
    throw new FilterError(`"${field.name}" cannot be compared by ${operator}`, at, rule.operators.join(' '));
  for (const value of values) checkValue(value, rule, operator);
  const wrong = values.find(({ text }) => kind === 'json' && isOrder(operator) && !isPlainNumber(text));
  if (wrong !== undefined) throw new FilterError(`"${wrong.text}" is no number`, wrong.at, 'a number such as 0.05');
}

function checkValue(value: FilterValue, rule: Rule, operator: Operator): void {
  if (value.isPrefix && (!rule.takesPrefix || operator !== '='))
    throw new FilterError('* cannot be used here', value.at + value.text.length, rule.form);
  if (rule.accepts !== undefined && !rule.accepts(value.text))
    throw new FilterError(`"${value.text}" cannot be used here`, value.at, rule.form);
}

const AMOUNT = /^(\d{1,15}(?:\.\d{1,9})?)([kKM]?)$/u;
const DURATION_PART = /(\d{1,9})(?:\.(\d{1,9}))?(ns|us|µs|ms|s|m|h|d)/gu;
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h|d)){1,4}$/u;
const FRACTION_DIGITS = 9;

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};

export function isDuration(text: string): boolean {
  return DURATION.test(text);
}

export function isPlainNumber(text: string): boolean {
  return /^-?\d{1,15}(?:\.\d{1,9})?$/u.test(text);
}

/** A decimal number, with an exponent in place of the unit: the database reads it exactly. */
export function amountOf(text: string): string {
  const [, digits = '0', unit = ''] = AMOUNT.exec(text) ?? [];
  return unit === '' ? digits : `${digits}e${unit === 'M' ? 6 : 3}`;
}

/** Nanoseconds; what is below them is cut off. */
export function nanosecondsOf(text: string): bigint {
  let sum = 0n;
  for (const [, whole = '0', fraction = '', unit = 'ns'] of text.matchAll(DURATION_PART)) {
    const scaled = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'));
    sum += (scaled * (UNITS[unit] ?? 1n)) / 10n ** BigInt(FRACTION_DIGITS);
  }
  return sum;
}
