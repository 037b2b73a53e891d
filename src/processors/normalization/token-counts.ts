/** Reads a record's token counts, brings them to one way of counting, and says whose they are: its own or those of steps below it. */
import {
  NUMBER_AUDIO_INPUT_TOKENS,
  NUMBER_AUDIO_OUTPUT_TOKENS,
  NUMBER_CACHE_READ_TOKENS,
  NUMBER_CACHE_WRITE_1H_TOKENS,
  NUMBER_CACHE_WRITE_TOKENS,
  NUMBER_INPUT_TOKENS,
  NUMBER_OUTPUT_TOKENS,
  NUMBER_REASONING_TOKENS,
  NUMBER_TOTAL_TOKENS,
  SLOT_PROVIDER,
} from '../../model/layout.ts';
import { readBuckets } from './buckets.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, isRollup, operationNumber, type ReadField } from './rules.ts';
import { type SenderHabits, type SentUsage, unifyUsage } from './usage.ts';

/** A document of buckets that do not overlap replaces every other count. */
const BUCKETS = 'langfuse.observation.usage_details';
const SCOPE_OWN = 1;
const SCOPE_ROLLUP = 2;

interface Reading {
  value: number;
  aggregate: boolean;
  proves: 'inside' | 'outside' | null;
}

export class TokenCounts implements SenderHabits {
  readonly #view: RecordView;
  readonly #reading: Reading = { value: Number.NaN, aggregate: false, proves: null };
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
    usage.total = this.#main(TOTAL);
    usage.cacheRead = this.#cached(CACHE_READ);
    usage.cacheWrite = this.#cached(CACHE_WRITE);
    usage.cacheWrite5m = this.#cached(CACHE_WRITE_5M);
    usage.cacheWrite1h = this.#cached(CACHE_WRITE_1H);
    usage.reasoning = this.#read(REASONING).value;
    usage.reasoningProof = this.#reading.proves;
    this.#readBuckets();
    unifyUsage(usage, this);
    this.#write();
  }

  ruled(): 'inside' | 'outside' | null {
    const { cacheCounting, detection } = this.#view.knowledge;
    if (cacheCounting === undefined) return null;
    const provider = this.#view.batch.slotText(SLOT_PROVIDER);
    for (const rules of cacheCounting.values()) {
      const inclusive = rules.inclusive(detection.scopeName, provider);
      if (inclusive !== null) return inclusive ? 'inside' : 'outside';
    }
    return null;
  }

  cached(): 'inside' | 'outside' {
    const { knowledge, dialect, provider } = this.#view;
    const name = knowledge.providers.nameOf(provider);
    const scope = knowledge.detection.scopeName;
    const known = knowledge.cacheHabits[dialect]?.cached(scope, name) ?? null;
    if (known !== null) return known;
    return RAW_OUTSIDE.has(name) && dialect !== knowledge.standard ? 'outside' : 'inside';
  }

  reasoningOutside(): boolean {
    const { knowledge, dialect } = this.#view;
    return knowledge.dialects[dialect]?.reasoningOutside === true;
  }

  writesNothing(): boolean {
    return this.#view.operation === EMBEDDINGS;
  }

  #main(field: number): number {
    const { value, aggregate } = this.#read(field);
    if (aggregate) this.#aggregate = true;
    return value;
  }

  #cached(field: number): number {
    const { value, proves } = this.#read(field);
    this.#usage.cacheProof ??= proves;
    return value;
  }

  /** The first usable count of a field. */
  #read(field: number): Reading {
    const { evidence, reader } = this.#view;
    const reading = this.#reading;
    for (let index = 0; index < evidence.candidates(field); index++) {
      const rule = evidence.ruleAt(field, index);
      if (!this.#view.applies(rule)) continue;
      reading.value = reader.count(rule, evidence.rowAt(field, index));
      reading.aggregate = rule.aggregate;
      reading.proves = rule.proves;
      if (!Number.isNaN(reading.value)) return reading;
    }
    reading.value = Number.NaN;
    reading.aggregate = false;
    reading.proves = null;
    return reading;
  }

  #readBuckets(): void {
    const { evidence, reader } = this.#view;
    for (let index = 0; index < evidence.candidates(INPUT); index++) {
      if (evidence.ruleAt(INPUT, index).attribute !== BUCKETS) continue;
      readBuckets(reader.document(evidence.rowAt(INPUT, index)), this.#usage);
      return;
    }
  }

  #write(): void {
    const { derived } = this.#view.batch;
    const usage = this.#usage;
    derived.setNumber(NUMBER_INPUT_TOKENS, usage.input);
    derived.setNumber(NUMBER_OUTPUT_TOKENS, usage.output);
    derived.setNumber(NUMBER_TOTAL_TOKENS, usage.total);
    derived.setNumber(NUMBER_CACHE_READ_TOKENS, usage.cacheRead);
    derived.setNumber(NUMBER_CACHE_WRITE_TOKENS, usage.cacheWrite);
    derived.setNumber(NUMBER_CACHE_WRITE_1H_TOKENS, usage.cacheWrite1h);
    derived.setNumber(NUMBER_REASONING_TOKENS, usage.reasoning);
    derived.setNumber(NUMBER_AUDIO_INPUT_TOKENS, this.#read(AUDIO_INPUT).value);
    derived.setNumber(NUMBER_AUDIO_OUTPUT_TOKENS, this.#read(AUDIO_OUTPUT).value);
    if (!Number.isNaN(usage.input) || !Number.isNaN(usage.output) || !Number.isNaN(usage.total)) {
      derived.usageScope = this.#aggregate || this.#repeats() ? SCOPE_ROLLUP : SCOPE_OWN;
    }
  }

  #repeats(): boolean {
    const { knowledge, dialect, category, operation } = this.#view;
    const habits = knowledge.dialects[dialect];
    if (operation === 0) return habits?.repeatsWithoutOperation === true;
    if (!isRollup(category)) return false;
    return knowledge.ownUsage[dialect]?.find(knowledge.detection.scopeName) !== true;
  }
}

/** Providers whose own usage counts cached tokens apart; senders that pass it on without a rule of their own do so too. */
const RAW_OUTSIDE: ReadonlySet<string> = new Set(['anthropic', 'aws.bedrock']);

const field = (name: ReadField): number => fieldNumber(name);
const EMBEDDINGS = operationNumber('embeddings');
const INPUT = field('input_tokens');
const OUTPUT = field('output_tokens');
const TOTAL = field('total_tokens');
const CACHE_READ = field('cache_read_tokens');
const CACHE_WRITE = field('cache_write_tokens');
const CACHE_WRITE_5M = field('cache_write_5m_tokens');
const CACHE_WRITE_1H = field('cache_write_1h_tokens');
const REASONING = field('reasoning_tokens');
const AUDIO_INPUT = field('audio_input_tokens');
const AUDIO_OUTPUT = field('audio_output_tokens');
