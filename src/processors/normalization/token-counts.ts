/**
 * Reads a record's token counts, converts them to one way of counting, and decides whether they are its own or a
 * roll-up.
 */
import * as layout from '../../pdata/layout.ts';
import { trimTo } from '../../dialects/lookup/trim-to.ts';
import { SERVICE_TIER_WORDS } from '../../dialects/service-tiers.ts';
import { SERVICE_TIERS, USAGE_SCOPES } from '../../pdata/columns.ts';
import { readBuckets } from './buckets.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, isRollup, operationNumber, PLACE_BITS } from './rules.ts';
import { type SenderAccounting, type SentUsage, unifyUsage } from './usage.ts';

/** A document with disjoint buckets; it replaces every other count. */
const BUCKETS = 'langfuse.observation.usage_details';
const SCOPE_OWN = USAGE_SCOPES.indexOf('own');
const SCOPE_ROLLUP = USAGE_SCOPES.indexOf('rollup');

export class TokenCounts implements SenderAccounting {
  readonly #view: RecordView;
  /** Properties of the rule that gave the last count. */
  #sums = false;
  #proves: 'inside' | 'outside' | null = null;
  readonly #usage: SentUsage = {
    input: Number.NaN,
    output: Number.NaN,
    total: Number.NaN,
    cacheRead: Number.NaN,
    cacheWrite: Number.NaN,
    cacheWrite5m: Number.NaN,
    cacheWrite1h: Number.NaN,
    reasoning: Number.NaN,
    cacheProof: null,
    reasoningProof: null,
  };
  #aggregate = false;

  constructor(view: RecordView) {
    this.#view = view;
  }

  fill(): void {
    const usage = this.#usage;
    this.#aggregate = false;
    usage.cacheProof = null;
    usage.reasoningProof = null;
    usage.input = this.#main(INPUT);
    usage.output = this.#main(OUTPUT);
    const outputProof = this.#proves;
    usage.total = this.#main(TOTAL);
    usage.cacheRead = this.#cached(CACHE_READ);
    usage.cacheWrite = this.#cached(CACHE_WRITE);
    usage.cacheWrite5m = this.#cached(CACHE_WRITE_5M);
    usage.cacheWrite1h = this.#cached(CACHE_WRITE_1H);
    usage.reasoning = this.#read(REASONING);
    usage.reasoningProof = outputProof ?? this.#proves;
    this.#readBuckets();
    unifyUsage(usage, this);
    this.#write();
  }

  ruled(): 'inside' | 'outside' | null {
    const { cacheCounting, detection } = this.#view.lookups;
    if (cacheCounting === undefined) return null;
    const provider = this.#view.batch.slotText(layout.SLOT_PROVIDER);
    for (const rules of cacheCounting.values()) {
      const inclusive = rules.inclusive(detection.scopeName, provider);
      if (inclusive !== null) return inclusive ? 'inside' : 'outside';
    }
    return null;
  }

  cached(): 'inside' | 'outside' {
    const { lookups, dialect, provider } = this.#view;
    const name = lookups.providers.nameOf(provider);
    const scope = lookups.detection.scopeName;
    const known = lookups.cacheAccounting[dialect]?.cached(scope, name) ?? null;
    if (known !== null) return known;
    return RAW_OUTSIDE.has(name) && dialect !== lookups.standard ? 'outside' : 'inside';
  }

  reasoningOutside(): boolean {
    const { lookups, dialect, provider } = this.#view;
    const { reasoningOutside = false } = lookups.dialects[dialect] ?? {};
    if (typeof reasoningOutside === 'boolean') return reasoningOutside;
    return reasoningOutside.includes(lookups.providers.nameOf(provider));
  }

  writesNothing(): boolean {
    return this.#view.operation === EMBEDDINGS;
  }

  #main(field: number): number {
    const count = this.#read(field);
    if (this.#sums) this.#aggregate = true;
    return count;
  }

  #cached(field: number): number {
    const count = this.#read(field);
    this.#usage.cacheProof ??= this.#proves;
    return count;
  }

  /** The first usable count of a field. */
  #read(field: number): number {
    const { fields } = this.#view;
    const candidates = fields.countOf(field);
    if (candidates > 0) return this.#best(field, candidates);
    this.#sums = false;
    this.#proves = null;
    return Number.NaN;
  }

  #best(field: number, candidates: number): number {
    const { fields, reader } = this.#view;
    for (let index = 0; index < candidates; index++) {
      const rule = fields.ruleAt(field, index);
      if (!this.#view.applies(rule)) continue;
      const count = reader.count(rule, fields.rowAt(field, index));
      if (Number.isNaN(count)) continue;
      this.#sums = rule.aggregate;
      this.#proves = rule.proves;
      return count;
    }
    this.#sums = false;
    this.#proves = null;
    return Number.NaN;
  }

  #readBuckets(): void {
    const { fields, reader } = this.#view;
    const candidates = fields.countOf(INPUT);
    for (let index = 0; index < candidates; index++) {
      if (fields.ruleAt(INPUT, index).attribute !== BUCKETS) continue;
      readBuckets(reader.document(fields.rowAt(INPUT, index)), this.#usage);
      return;
    }
  }

  #write(): void {
    const { derived } = this.#view;
    const usage = this.#usage;
    derived.setNumber(layout.NUMBER_INPUT_TOKENS, usage.input);
    derived.setNumber(layout.NUMBER_OUTPUT_TOKENS, usage.output);
    derived.setNumber(layout.NUMBER_TOTAL_TOKENS, usage.total);
    derived.setNumber(layout.NUMBER_CACHE_READ_TOKENS, usage.cacheRead);
    derived.setNumber(layout.NUMBER_CACHE_WRITE_TOKENS, usage.cacheWrite);
    derived.setNumber(layout.NUMBER_CACHE_WRITE_1H_TOKENS, usage.cacheWrite1h);
    derived.setNumber(layout.NUMBER_REASONING_TOKENS, usage.reasoning);
    derived.setNumber(layout.NUMBER_SERVICE_TIER, this.#serviceTier());
    if (this.#counts() && !(Number.isNaN(usage.input) && Number.isNaN(usage.output) && Number.isNaN(usage.total))) {
      derived.setByte(layout.DERIVED_USAGE_SCOPE, this.#aggregate || this.#repeats() ? SCOPE_ROLLUP : SCOPE_OWN);
    }
  }

  /** The number of the tier that served the call, or else of the requested one; NaN: the standard tier, or not sent. */
  #serviceTier(): number {
    const { fields, reader } = this.#view;
    for (let index = 0; index < fields.countOf(SERVICE_TIER); index++) {
      const rule = fields.ruleAt(SERVICE_TIER, index);
      const row = fields.rowAt(SERVICE_TIER, index);
      if (!this.#view.applies(rule)) continue;
      // Only attributes about batches are booleans.
      if (rule.paths === null && reader.truth(row) === true) return SERVICE_TIERS.indexOf('batch');
      const word = rule.paths === null ? reader.text(row) : reader.part(rule, row);
      const tier = word === null ? undefined : SERVICE_TIER_WORDS.get(trimTo(word, rule).toLowerCase());
      if (tier !== undefined) return tier === 'standard' ? Number.NaN : SERVICE_TIERS.indexOf(tier);
    }
    return Number.NaN;
  }

  #counts(): boolean {
    const { lookups, dialect, operation, place } = this.#view;
    if (place !== PLACE_BITS.span) return true;
    const { usageOnLogs = false, repeatedUsage = [] } = lookups.dialects[dialect] ?? {};
    return !usageOnLogs && !repeatedUsage.some((repeating) => operationNumber(repeating) === operation);
  }

  #repeats(): boolean {
    const { lookups, dialect, category, operation, place } = this.#view;
    const rules = lookups.dialects[dialect];
    if (operation === 0) return rules?.repeatsWithoutOperation === true || place === PLACE_BITS.span;
    if (!isRollup(category)) return false;
    return lookups.ownUsage[dialect]?.find(lookups.detection.scopeName) !== true;
  }
}

/**
 * Providers whose usage leaves cached tokens out of the input. It holds for senders that forward the usage and have no
 * rule.
 */
const RAW_OUTSIDE: ReadonlySet<string> = new Set(['anthropic', 'aws.bedrock']);

const EMBEDDINGS = operationNumber('embeddings');
const INPUT = fieldNumber('input_tokens');
const OUTPUT = fieldNumber('output_tokens');
const TOTAL = fieldNumber('total_tokens');
const CACHE_READ = fieldNumber('cache_read_tokens');
const CACHE_WRITE = fieldNumber('cache_write_tokens');
const CACHE_WRITE_5M = fieldNumber('cache_write_5m_tokens');
const CACHE_WRITE_1H = fieldNumber('cache_write_1h_tokens');
const REASONING = fieldNumber('reasoning_tokens');
const SERVICE_TIER = fieldNumber('service_tier');
