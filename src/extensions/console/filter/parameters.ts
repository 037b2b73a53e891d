import type { Statement } from '../../../component/capabilities/postgres.ts';

const PLACE = /\$(\d+)/gu;

/** A statement with those of the values that its text names: PostgreSQL does not find the types of the others. */
export function statementOf(text: string, values: readonly unknown[]): Statement {
  const named = [...new Set(Array.from(text.matchAll(PLACE), ([, at]) => Number(at)))];
  return {
    text: text.replaceAll(PLACE, (_, at: string) => `$${named.indexOf(Number(at)) + 1}`),
    values: named.map((at) => values[at - 1]),
  };
}

/** The values of a statement. Nothing of a request becomes part of its text. */
export class Parameters {
  readonly values: unknown[];

  /** Places follow those of the values that are there. */
  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** The place of the value in the statement. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** When `work` throws, the values that it added are removed: a value without a place is an error of PostgreSQL. */
  allOrNone<Result>(work: () => Result): Result {
    const before = this.values.length;
    try {
      return work();
    } catch (error) {
      this.values.length = before;
      throw error;
    }
  }

  text(value: string): string {
    return `${this.add(value)}::text`;
  }
}
