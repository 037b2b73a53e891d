/**
 * Counts what each project stores, for budgets and alarms: records, tokens and cost of acknowledged requests. The first
 * projects have series of their own, and the others share one, so that the number of series is bounded.
 */
import type { Counter, Meter } from '../../component/meter.ts';
import type { Batch } from '../../pdata/batch.ts';
import { USAGE_SCOPES } from '../../pdata/columns.ts';
import type { Signal } from '../../pdata/context.ts';
import { COST_TOTAL, DERIVED_USAGE_SCOPE, NUMBER_INPUT_TOKENS, NUMBER_OUTPUT_TOKENS } from '../../pdata/layout.ts';
import { MONEY_DIGITS } from '../../pdata/money.ts';

/** Projects with series of their own, in the order in which they first store something after the start. */
const MAX_PROJECTS = 100;
const OTHER = 'other';
const OWN = USAGE_SCOPES.indexOf('own');
const UNITS_PER_DOLLAR = 10 ** MONEY_DIGITS;

/** The sums of one request. Roll-ups are left out, because they repeat the usage of other records. */
export interface RequestUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In units of money.ts. */
  readonly cost: number;
}

/** Null when the request has no usage. */
export function usageOf({ derived }: Batch): RequestUsage | null {
  const { count } = derived;
  if (count === 0) return null;
  let [inputTokens, outputTokens, cost] = [0, 0, 0];
  for (let row = 1; row <= count; row++) {
    if (derived.goto(row).byte(DERIVED_USAGE_SCOPE) !== OWN) continue;
    inputTokens += derived.number(NUMBER_INPUT_TOKENS) || 0;
    outputTokens += derived.number(NUMBER_OUTPUT_TOKENS) || 0;
    cost += derived.approximateCost(COST_TOTAL) || 0;
  }
  return { inputTokens, outputTokens, cost };
}

export class ProjectCounts {
  readonly #records: Counter;
  readonly #tokens: Counter;
  readonly #cost: Counter;
  readonly #projects = new Set<string>();

  constructor(meter: Meter) {
    this.#records = meter.counter('sluice_project_records', 'Records stored, by project.');
    this.#tokens = meter.counter('sluice_project_tokens', 'Tokens of stored records, by project. Without roll-ups.');
    this.#cost = meter.counter('sluice_project_cost_dollars', 'Cost of stored records, by project. Without roll-ups.');
  }

  stored(name: string, signal: Signal, records: number, usage: RequestUsage | null): void {
    const project = this.#labelOf(name);
    this.#records.add(records, { project, signal });
    if (usage === null) return;
    const { inputTokens, outputTokens, cost } = usage;
    if (inputTokens > 0) this.#tokens.add(inputTokens, { project, signal, type: 'input' });
    if (outputTokens > 0) this.#tokens.add(outputTokens, { project, signal, type: 'output' });
    if (cost > 0) this.#cost.add(cost / UNITS_PER_DOLLAR, { project, signal });
  }

  #labelOf(name: string): string {
    if (this.#projects.has(name)) return name;
    if (this.#projects.size >= MAX_PROJECTS) return OTHER;
    this.#projects.add(name);
    return name;
  }
}
