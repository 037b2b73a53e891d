/**
 * Sends damaged bodies through the WASM module. It must never trap and never accept a body that the oracle refuses, and
 * the rows of an accepted body must equal the oracle's. Because the oracle is slow, it reads accepted bodies and a
 * sample of the refused ones.
 */
import fc from 'fast-check';
import { ENCODING_JSON, ENCODING_PROTOBUF } from '../../../src/pdata/layout.ts';
import { JsonWriter } from '../../support/generators-json.ts';
import { ProtobufWriter } from '../../support/generators-protobuf.ts';
import { Random } from '../../support/generators-random.ts';
import { requests } from '../../support/generators.ts';
import { JsonSpecimen, ProtobufSpecimen, type Specimen } from '../../support/mutations.ts';
import { compareLines } from '../../support/oracle-comparison.ts';
import { COMMON, type ModuleRun, type Outcome } from '../../support/oracle-module.ts';
import { RULES } from '../../support/oracle-refusal.ts';
import type { Row } from '../../support/oracle-rows.ts';
import type { Oracle } from '../../support/oracle.ts';
import type { Protos, Signal } from '../../support/protos.ts';

const DEFAULT_SPECIMENS = 400;
const MIN_SPECIMEN = 30;
const MAX_SPECIMEN = 2000;
/** Rows are compared for one in this many accepted bodies, refusal codes for one in this many refused bodies. */
const SAMPLE = 8;
const MAX_KEPT = 20;
/** Bodies that took longer are timed again, up to RETRIES times. */
const SLOW_MICROSECONDS = 2000;
const RETRIES = 5;
/** No body may take longer. */
const MAX_MICROSECONDS = 100_000;

export interface CampaignOptions {
  readonly signal: Signal;
  readonly encoding: number;
  readonly count: number;
  readonly seed: number;
  /** The oracle reads one in this many accepted bodies; 1: all. */
  readonly judgeOneIn?: number;
  /** The number of valid bodies to damage. */
  readonly specimens?: number;
}

export interface Violation {
  readonly kind: 'trap' | 'laxer' | 'rows' | 'stricter';
  readonly reason: string;
  readonly body: Buffer;
}

export interface CampaignReport {
  readonly count: number;
  readonly accepted: number;
  readonly refused: number;
  readonly judged: number;
  readonly rowsCompared: number;
  readonly traps: number;
  readonly laxer: number;
  readonly wrongRows: number;
  /** Sampled bodies that only the module refuses; allowed, but each should have a reason. */
  readonly stricter: number;
  readonly sampledRefusals: number;
  /** Sampled bodies that both refuse, with different codes. */
  readonly otherClass: number;
  readonly slowestMicroseconds: number;
  readonly kept: readonly Violation[];
}

export class Campaign {
  readonly #module: ModuleRun;
  readonly #oracle: Oracle;
  readonly #options: CampaignOptions;
  readonly #random: Random;
  readonly #specimens: readonly Specimen[];
  #kept: Violation[] = [];
  #tally = {
    accepted: 0,
    refused: 0,
    judged: 0,
    rowsCompared: 0,
    traps: 0,
    laxer: 0,
    wrongRows: 0,
    stricter: 0,
    sampledRefusals: 0,
    otherClass: 0,
    slowestMicroseconds: 0,
  };

  constructor(protos: Protos, module: ModuleRun, oracle: Oracle, options: CampaignOptions) {
    this.#module = module;
    this.#oracle = oracle;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#specimens = this.#generate(protos);
  }

  run(): CampaignReport {
    for (let index = 0; index < this.#options.count; index += 1) {
      const specimen = this.#random.pick(this.#specimens);
      this.#examine(specimen.mutate(this.#random, this.#random.pick(this.#specimens).body));
    }
    return { count: this.#options.count, ...this.#tally, kept: this.#kept };
  }

  #generate(protos: Protos): Specimen[] {
    const { signal, encoding, seed, specimens: wanted = DEFAULT_SPECIMENS } = this.#options;
    const type = protos.requests[signal];
    const specimens: Specimen[] = [];
    for (let round = 0; specimens.length < wanted; round += 1) {
      for (const message of fc.sample(requests(signal), { numRuns: wanted, seed: seed + round })) {
        const random = new Random(seed + specimens.length);
        const body =
          encoding === ENCODING_JSON
            ? Buffer.from(new JsonWriter(random).write(type, message))
            : new ProtobufWriter(random).write(type, message);
        if (body.length < MIN_SPECIMEN || body.length > MAX_SPECIMEN) continue;
        specimens.push(encoding === ENCODING_JSON ? new JsonSpecimen(body) : new ProtobufSpecimen(body));
      }
    }
    return specimens;
  }

  #examine(body: Buffer): void {
    const { judgeOneIn = 1 } = this.#options;
    try {
      const { outcome, output, microseconds } = this.#work(body);
      const compare = outcome.accepted && this.#random.once(SAMPLE);
      this.#clock(body, microseconds);
      if (!outcome.accepted) this.#refused(body, outcome.code);
      else if (compare || this.#random.once(judgeOneIn)) this.#accepted(body, compare ? output : null, outcome.records);
      this.#tally[outcome.accepted ? 'accepted' : 'refused'] += 1;
    } catch (error) {
      this.#tally.traps += 1;
      this.#keep('trap', error instanceof Error ? (error.stack ?? error.message) : String(error), body);
    }
  }

  /** Encodes lines, tuples and the request to forward from the bytes, and measures the processor time. */
  #work(body: Buffer): { readonly outcome: Outcome; readonly output: string; readonly microseconds: number } {
    const started = process.cpuUsage();
    const outcome = this.#module.index(this.#options.signal, this.#options.encoding, body);
    const output = outcome.accepted ? this.#module.encodeNdjson() : '';
    if (outcome.accepted) this.#module.encodeInPlace('copy');
    if (outcome.accepted) this.#module.encodeInPlace('otlp');
    const { user, system } = process.cpuUsage(started);
    return { outcome, output, microseconds: user + system };
  }

  /** Keeps the time of the slowest body. A slow body is timed again, to exclude delays by other load of the machine. */
  #clock(body: Buffer, microseconds: number): void {
    let least = microseconds;
    for (let again = 0; again < RETRIES && least > SLOW_MICROSECONDS; again += 1) {
      least = Math.min(least, this.#work(body).microseconds);
    }
    if (least > this.#tally.slowestMicroseconds) this.#tally.slowestMicroseconds = least;
  }

  #accepted(body: Buffer, output: string | null, records: number): void {
    this.#tally.judged += 1;
    const verdict = this.#oracle.judge(this.#options.signal, this.#options.encoding, body);
    if (!verdict.accepted) {
      this.#tally.laxer += 1;
      this.#keep('laxer', `${verdict.rule}: ${verdict.reason}`, body);
      return;
    }
    if (output === null) return;
    this.#tally.rowsCompared += 1;
    const rows = this.#oracle.rows(this.#options.signal, verdict.message, COMMON);
    const found =
      records === verdict.records
        ? (compareLines(rows, output) ?? this.#forwarded(rows))
        : `${records} records instead of ${verdict.records}`;
    if (found === null) return;
    this.#tally.wrongRows += 1;
    this.#keep('rows', found, body);
  }

  /**
   * The error of the request to forward; null when it has the same rows. It overwrites the body in the module's memory.
   */
  #forwarded(rows: readonly Row[]): string | null {
    const { accepted } = this.#module.index(this.#options.signal, ENCODING_PROTOBUF, this.#module.encodeOtlp());
    if (!accepted) return 'the request to forward is refused';
    const found = compareLines(rows, this.#module.encodeNdjson());
    return found === null ? null : `forwarded: ${found}`;
  }

  #refused(body: Buffer, code: number): void {
    if (!this.#random.once(SAMPLE)) return;
    this.#tally.sampledRefusals += 1;
    const verdict = this.#oracle.judge(this.#options.signal, this.#options.encoding, body);
    if (verdict.accepted) {
      this.#tally.stricter += 1;
      this.#keep('stricter', `code ${code}`, body);
    } else if (RULES[verdict.rule] !== code) {
      this.#tally.otherClass += 1;
    }
  }

  #keep(kind: Violation['kind'], reason: string, body: Buffer): void {
    if (this.#kept.filter((violation) => violation.kind === kind).length >= MAX_KEPT) return;
    this.#kept.push({ kind, reason, body: Buffer.from(body) });
  }
}

/** Whether the campaign found no error. */
export function isClean(report: CampaignReport): boolean {
  const { traps, laxer, wrongRows, slowestMicroseconds } = report;
  return traps === 0 && laxer === 0 && wrongRows === 0 && slowestMicroseconds < MAX_MICROSECONDS;
}
