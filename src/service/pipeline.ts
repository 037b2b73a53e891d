/**
 * The pipeline of one signal, from an admitted request to its acknowledgement: expand → index → process → claim →
 * encode in one pass, then the group commit. A pass runs in steps, between which other requests are served. It has its
 * arena for itself until it ends, so that requests cannot read or overwrite each other's data.
 */
import type { Exporter, Rows } from '../component/exporter.ts';
import type { Logger } from '../component/logger.ts';
import { maskedError, maskSecrets } from '../component/masked-text.ts';
import type { Meter } from '../component/meter.ts';
import type { Processor } from '../component/processor.ts';
import type { Acceptance, Admission, Delivery, Pipeline } from '../component/receiver.ts';
import { Rejection } from '../errors.ts';
import type { Claim } from '../component/capabilities/ledger.ts';
import type { Batch } from '../pdata/batch.ts';
import { Context, type RequestInfo, type Signal } from '../pdata/context.ts';
import { INPUT_CAPACITY } from '../pdata/layout.ts';
import type { Steps } from '../pdata/steps.ts';
import { type Intake, TooManyAtOnce } from '../pdata/index-body.ts';
import type { AdmissionControl } from './admission.ts';
import type { Arena } from './arena.ts';
import type { RequestRows, RowBudget } from './row-budget.ts';
import { makeClaim } from './settle/claim.ts';
import type { GroupCommit } from './settle/group-commit.ts';
import { stageRows } from './settle/staging.ts';
import { type ExporterRows, releaseRows } from './settle/writes.ts';
import type { OwnTraces, RequestTrace } from './telemetry/own-traces.ts';
import { type ProjectCounts, type RequestUsage, usageOf } from './telemetry/project-counts.ts';
import { RecordCounts } from './telemetry/record-counts.ts';
import type { OpenTaps, TappedRecords } from './telemetry/tap.ts';

const MICROSECONDS = 1000n;
/** Replaces a body after its pass, to free its memory. */
const DROPPED = new Uint8Array(0);

/** A gzip body is larger than its trailer says. */
class LargerThanDeclared extends Error {}

/** Whether the pass runs again in the arena for bodies of any size. */
const needsLargeArena = (error: unknown): boolean =>
  error instanceof LargerThanDeclared || error instanceof TooManyAtOnce;

interface BudgetedRows extends ExporterRows {
  readonly room: RequestRows;
}

/** The result of a pass. */
interface Passed {
  readonly claim: Claim;
  readonly encoded: readonly ExporterRows[];
  readonly usage: RequestUsage | null;
  /** For `sluice tap`, if it runs. */
  readonly tapped: TappedRecords | null;
}

export interface SignalPipelineParts {
  readonly signal: Signal;
  readonly processors: readonly Processor[];
  readonly exporters: readonly Exporter[];
  /** The ids of the exporters whose written records count as sent. */
  readonly countedExporters: readonly string[];
  readonly admission: AdmissionControl<Arena>;
  readonly groupCommit: GroupCommit;
  readonly rowBudget: RowBudget;
  readonly projectCounts: ProjectCounts;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Null while traces are off. */
  readonly traces: OwnTraces | null;
  readonly taps: OpenTaps;
  now(): number;
}

export class SignalPipeline implements Pipeline {
  readonly signal: Signal;
  readonly #parts: SignalPipelineParts;
  readonly #counts: RecordCounts;
  readonly #hasStaging: boolean;
  /** Admitted requests that have not ended. */
  #open = 0;
  #closed = false;
  /** Called when the last of them ends. */
  #whenIdle: (() => void)[] = [];

  constructor(parts: SignalPipelineParts) {
    this.signal = parts.signal;
    this.#parts = parts;
    this.#counts = new RecordCounts(parts.signal, parts.countedExporters, parts.meter);
    this.#hasStaging = parts.exporters.some(({ stage }) => stage !== undefined);
  }

  async admit(request: RequestInfo): Promise<Admission> {
    const context = new Context(request);
    const trace = this.#parts.traces?.begin(context) ?? null;
    this.#open++;
    try {
      for (const processor of this.#parts.processors) {
        // Most admissions are answered from a cache; only real promises are awaited, so that these need no microtask.
        const waiting = processor.admit?.(request, context);
        if (waiting !== undefined) await waiting;
      }
      const project = context.projectName ?? '';
      this.#parts.admission.admit(project);
      this.#parts.groupCommit.admit(project);
      this.#parts.rowBudget.admit(project);
      for (const exporter of this.#parts.exporters) exporter.admit?.(project);
    } catch (error) {
      this.#end();
      if (error instanceof Rejection) error.sender ??= context.sender;
      trace?.finish(error instanceof Rejection ? error : new Rejection('decode_failed'));
      throw error;
    }
    trace?.next('read');
    let released = false;
    return {
      project: context.projectName ?? '',
      sender: context.sender,
      deliver: (delivery) => this.#deliver(delivery, context, trace),
      release: (refusal) => {
        if (released) return;
        released = true;
        this.#end();
        trace?.finish(refusal ?? null);
      },
    };
  }

  /** Resolves when every admitted request has ended. */
  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** From now on all requests are refused, including those already admitted. */
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
    trace?.next('wait');
    const passed = await this.#passed(delivery, context, trace);
    return this.#parts.groupCommit.stalledExporters.until(this.#store(passed, context, trace));
  }

  async #store(passed: Passed, context: Context, trace: RequestTrace | null): Promise<Acceptance> {
    try {
      let { encoded } = passed;
      if (this.#hasStaging) {
        trace?.next('stage');
        encoded = await stageRows(encoded);
      }
      trace?.next('settle');
      const acceptance = await this.#parts.groupCommit.settle(passed.claim, encoded, trace);
      trace?.note({ 'sluice.records': passed.claim.recordCount, 'sluice.replayed': acceptance.replayed });
      if (!acceptance.replayed) {
        const { claim, usage } = passed;
        this.#counts.stored(claim.recordCount, context.request.transport);
        this.#parts.projectCounts.stored(claim.project.name, this.signal, claim.recordCount, usage);
        if (passed.tapped !== null) this.#parts.taps.stored(passed.tapped);
      }
      return acceptance;
    } catch (error) {
      this.#counts.notStored(passed.claim.recordCount, error, context.request.transport);
      throw error;
    }
  }

  async #passed(delivery: Delivery, context: Context, trace: RequestTrace | null): Promise<Passed> {
    const project = context.projectName ?? '';
    const pass = (bytes: number, hasWaited = false): Promise<Passed> =>
      this.#parts.admission.run(
        project,
        bytes,
        (arena, limitBytes) => this.#pass({ delivery, context, trace, arena, limitBytes }),
        { hasWaited },
      );
    try {
      const bytes = delivery.gzip?.expectedBytes ?? delivery.body.length;
      this.#parts.groupCommit.admitBody(project, bytes);
      try {
        return await pass(bytes);
      } catch (error) {
        if (!needsLargeArena(error)) throw error;
      }
      return await pass(INPUT_CAPACITY, true);
    } finally {
      delivery.body = DROPPED;
      delivery.release?.();
    }
  }

  /** All stages that read the tables; the body is not needed afterwards. An internal fault becomes `decode_failed`. */
  *#pass(request: PassRequest): Steps<Passed> {
    const { context, arena } = request;
    const counted = { records: 0 };
    try {
      return yield* this.#stages(yield* arena.acquire(this.#parts.processors), request, counted);
    } catch (error) {
      if (needsLargeArena(error)) throw error;
      this.#counts.refused(counted.records, context.request.transport);
      if (error instanceof Rejection) throw error;
      this.#parts.logger.error(
        { error: maskedError(error), signal: this.signal },
        'a request failed unexpectedly in the pass',
      );
      throw new Rejection('decode_failed', {
        cause: maskSecrets(error instanceof Error ? error.message : String(error)),
      });
    } finally {
      arena.release();
    }
  }

  *#stages(
    intake: Intake,
    { delivery, context, trace, limitBytes }: PassRequest,
    counted: { records: number },
  ): Steps<Passed> {
    trace?.next('index');
    const body = yield* expand(intake, delivery, limitBytes);
    const batch = yield* intake.indexInSteps(this.signal, delivery.encoding, body, context, delivery.maxNestingDepth);
    counted.records = batch.recordCount;
    trace?.next('process');
    for (const processor of this.#parts.processors) {
      const steps = processor.process?.(batch);
      if (steps !== undefined) yield* steps;
    }
    trace?.next('encode');
    this.#stamp(batch);
    return yield* this.#encode(batch, delivery.replayKey, body.length);
  }

  /** Rows first: a request with too many is refused before its traces take memory. */
  *#encode(batch: Batch, replayKey: Uint8Array, bodyBytes: number): Steps<Passed> {
    const encoded: BudgetedRows[] = [];
    let isWhole = false;
    try {
      for (const exporter of this.#parts.exporters) {
        const room = this.#parts.rowBudget.open(batch, bodyBytes, reservedBytes(encoded));
        encoded.push(yield* this.#encodeFor(exporter, batch, room));
      }
      const claim = yield* makeClaim(batch, replayKey);
      this.#parts.rowBudget.note(claim.project.name, reservedBytes(encoded), bodyBytes);
      const taps = this.#parts.taps.current;
      const tapped = taps === null ? null : yield* taps.keep(batch);
      isWhole = true;
      return { claim, encoded, usage: usageOf(batch), tapped };
    } finally {
      if (!isWhole) releaseRows(encoded);
    }
  }

  /** The rows in one exporter's format, with their reserved bytes. */
  *#encodeFor(exporter: Exporter, batch: Batch, room: RequestRows): Steps<BudgetedRows> {
    batch.rowRoom = room;
    let rows: Rows | null = null;
    let isWhole = false;
    try {
      const encoding = exporter.encode(batch);
      rows = isSteps(encoding) ? yield* encoding : encoding;
      room.cover(rows.bytes);
      isWhole = true;
      return { exporter, rows, room };
    } finally {
      if (!isWhole) {
        rows?.release();
        room.close();
      }
    }
  }

  #stamp(batch: Batch): void {
    const project = batch.tables.scratch(batch.context.project.name);
    if (project === null) throw new Error('scratch is full');
    batch.tables.stamp(project, BigInt(this.#parts.now()) * MICROSECONDS);
  }
}

interface PassRequest {
  readonly delivery: Delivery;
  readonly context: Context;
  readonly trace: RequestTrace | null;
  readonly arena: Arena;
  /** The largest body for this arena, in bytes. */
  readonly limitBytes: number;
}

const reservedBytes = (encoded: readonly BudgetedRows[]): number =>
  encoded.reduce((sum, { room }) => sum + room.bytes, 0);

function isSteps(rows: Rows | Steps<Rows>): rows is Steps<Rows> {
  return 'next' in rows;
}

/** Throws `LargerThanDeclared` when the body may fit the request's limit, but does not fit this arena. */
function* expand(intake: Intake, { body, gzip }: Delivery, arenaLimit: number): Steps<Uint8Array> {
  if (gzip === null) return body;
  if (gzip.limitBytes <= arenaLimit) return yield* intake.expandInSteps(body, gzip.limitBytes);
  try {
    return yield* intake.expandInSteps(body, arenaLimit);
  } catch (error) {
    if (error instanceof Rejection && error.code === 'body_too_large') throw new LargerThanDeclared();
    throw error;
  }
}
