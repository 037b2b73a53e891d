/**
 * One signal's way from an admitted request to its acknowledgement: expand → index → process → claim → encode in one synchronous
 * pass, then the group commit. A pass waits for its turn, but never once it has begun: nothing of another request can be seen or
 * overwritten.
 */
import type { Exporter, Rows } from '../component/exporter.ts';
import type { Logger } from '../component/logger.ts';
import type { Meter } from '../component/meter.ts';
import type { Processor } from '../component/processor.ts';
import type { Acceptance, Admission, Delivery, Pipeline } from '../component/receiver.ts';
import { Rejection } from '../errors.ts';
import type { Batch } from '../model/batch.ts';
import { Context, type RequestInfo, type Signal } from '../model/context.ts';
import { HEADER_BASE, HEADER_PROJECT_LENGTH, HEADER_PROJECT_OFFSET, HEADER_RECEIVED_AT } from '../model/layout.ts';
import type { Intake } from '../otlp/intake.ts';
import type { RowBudget } from './row-budget.ts';
import { makeClaim } from './settle/claim.ts';
import { type EncodedRows, type GroupCommit, releaseRows } from './settle/group-commit.ts';
import type { OwnTraces, RequestTrace } from './telemetry/own-traces.ts';
import { RecordCounts } from './telemetry/record-counts.ts';
import type { Turns } from './turns.ts';

const MICROSECONDS = 1000n;
/** In place of a body that has had its pass. */
const DROPPED = new Uint8Array(0);

export interface PipelineParts {
  readonly signal: Signal;
  readonly processors: readonly Processor[];
  readonly exporters: readonly Exporter[];
  /** The ids of those that have sent what they wrote. */
  readonly countedExporters: readonly string[];
  readonly intake: Intake;
  readonly turns: Turns;
  readonly groupCommit: GroupCommit;
  readonly rowBudget: RowBudget;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Null while traces are off: nothing is noted or made then. */
  readonly traces: OwnTraces | null;
  now(): number;
}

export class SignalPipeline implements Pipeline {
  readonly signal: Signal;
  readonly #parts: PipelineParts;
  readonly #counts: RecordCounts;
  /** Requests that were admitted and are not over. */
  #open = 0;
  #closed = false;
  /** Called when the last of them is. */
  #whenIdle: (() => void)[] = [];

  constructor(parts: PipelineParts) {
    this.signal = parts.signal;
    this.#parts = parts;
    this.#counts = new RecordCounts(parts.signal, parts.countedExporters, parts.meter);
    for (const processor of parts.processors) processor.prepare?.(parts.intake.tables);
  }

  async admit(request: RequestInfo): Promise<Admission> {
    const context = new Context(request);
    const trace = this.#parts.traces?.begin(context) ?? null;
    this.#open++;
    try {
      for (const processor of this.#parts.processors) {
        // Most admissions are answered from a cache; awaiting only real promises keeps those in the same turn.
        const waiting = processor.admit?.(request, context);
        if (waiting !== undefined) await waiting;
      }
      this.#parts.turns.admit();
    } catch (error) {
      this.#end();
      trace?.finish(error instanceof Rejection ? error : new Rejection('decode_failed'));
      throw error;
    }
    trace?.next('read');
    let released = false;
    return {
      project: context.projectName ?? '',
      deliver: (delivery) => this.#deliver(delivery, context, trace),
      release: (refusal) => {
        if (released) return;
        released = true;
        this.#end();
        trace?.finish(refusal ?? null);
      },
    };
  }

  /** Resolves when every request that was admitted is over. */
  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** From here on requests are refused, those admitted before included. */
  close(): void {
    this.#closed = true;
  }

  #end(): void {
    this.#open--;
    if (this.#open > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #deliver(delivery: Delivery, context: Context, trace: RequestTrace | null): Promise<Acceptance> {
    if (this.#closed) throw new Rejection('shutting_down');
    const bytes = delivery.gzip?.expectedBytes ?? delivery.body.length;
    trace?.next('wait');
    const passed = await this.#parts.turns.run(bytes, () => this.#pass(delivery, context, trace));
    trace?.next('settle');
    try {
      const acceptance = await this.#parts.groupCommit.settle(passed.claim, passed.encoded, trace);
      trace?.note({ 'sluice.records': passed.claim.recordCount, 'sluice.replayed': acceptance.replayed });
      if (!acceptance.replayed) this.#counts.stored(passed.claim.recordCount, context.request.transport);
      return acceptance;
    } catch (error) {
      this.#counts.notStored(passed.claim.recordCount, error, context.request.transport);
      throw error;
    }
  }

  /**
   * Everything that looks at the tables, without waiting once, and the last that needs the body. A fault of ours becomes
   * `decode_failed`, never a crash.
   */
  #pass(
    delivery: Delivery,
    context: Context,
    trace: RequestTrace | null,
  ): { claim: ReturnType<typeof makeClaim>; encoded: readonly EncodedRows[] } {
    const encoded: EncodedRows[] = [];
    let records = 0;
    try {
      const { intake, processors, exporters } = this.#parts;
      trace?.next('index');
      const body = this.#expand(delivery);
      const batch = intake.index(this.signal, delivery.encoding, body, context, delivery.maxNestingDepth);
      records = batch.recordCount;
      trace?.next('process');
      for (const processor of processors) processor.process?.(batch);
      const claim = makeClaim(batch, delivery.replayKey);
      trace?.next('encode');
      this.#stamp(batch);
      for (const exporter of exporters) encoded.push(this.#encode(batch, body.length, exporter));
      return { claim, encoded };
    } catch (error) {
      releaseRows(encoded);
      this.#counts.refused(records, context.request.transport);
      if (error instanceof Rejection) throw error;
      this.#parts.logger.error({ error, signal: this.signal }, 'a request failed unexpectedly in the pass');
      throw new Rejection('decode_failed', { cause: error instanceof Error ? error.message : String(error) });
    } finally {
      delivery.body = DROPPED;
    }
  }

  /** The rows in one exporter's form, and what they hold of the budget. */
  #encode(batch: Batch, bodyBytes: number, exporter: Exporter): EncodedRows {
    const room = this.#parts.rowBudget.open(batch, bodyBytes);
    batch.rowRoom = room;
    let rows: Rows | null = null;
    try {
      rows = exporter.encode(batch);
      room.cover(rows.bytes);
      return { exporter, rows, room };
    } catch (error) {
      rows?.release();
      room.close();
      throw error;
    }
  }

  #expand({ body, gzip }: Delivery): Uint8Array {
    if (gzip === null) return body;
    const expanded = this.#parts.intake.expand(body, gzip.limitBytes);
    gzip.reserve(expanded.length);
    return expanded;
  }

  /** The columns that are the same for every row of the request. */
  #stamp(batch: Batch): void {
    const project = batch.tables.scratch(batch.context.project.name);
    if (project === null) throw new Error('scratch is full');
    batch.tables.setHeader(HEADER_PROJECT_OFFSET, project.offset);
    batch.tables.setHeader(HEADER_PROJECT_LENGTH, project.length);
    batch.tables.memory.i64[(HEADER_BASE + HEADER_RECEIVED_AT) >>> 3] = BigInt(this.#parts.now()) * MICROSECONDS;
  }
}
