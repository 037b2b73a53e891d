/**
 * Makes pipelines. All pipelines of a process share one set of arenas, and those with the same ledger share one group
 * commit, also when a reload replaces the pipelines.
 */
import { LEDGER, type Ledger } from '../component/capabilities/ledger.ts';
import type { Exporter } from '../component/exporter.ts';
import type { Logger } from '../component/logger.ts';
import type { Meter } from '../component/meter.ts';
import { AdmissionControl, type SizeClass } from './admission.ts';
import { Arena } from './arena.ts';
import type { MakePipeline, PipelineParts } from './pipeline-parts.ts';
import { SignalPipeline } from './pipeline.ts';
import { PollEnd } from './poll-end.ts';
import { RowBudget } from './row-budget.ts';
import { GroupCommit } from './settle/group-commit.ts';
import { MemoryLedger } from './settle/memory-ledger.ts';
import { ProjectCounts } from './telemetry/project-counts.ts';
import { OpenTaps } from './telemetry/tap.ts';

export function makePipelines(logger: Logger, meter: Meter, now: () => number, taps = new OpenTaps(now)): MakePipeline {
  let memory: MemoryLedger | null = null;
  const pollEnd = new PollEnd();
  const commits = new Commits(logger, pollEnd);
  const rowBudget = new RowBudget({ released: () => admission.noteRoom() });
  const projectCounts = new ProjectCounts(meter);
  meter.gauge('sluice_row_bytes_held', 'Bytes of rows that are not durable yet.', () => rowBudget.heldBytes);
  const admission = new AdmissionControl({
    now: () => performance.now(),
    afterPoll: (callback) => pollEnd.advancePasses(callback),
    after: (ms, callback) => void setTimeout(callback, ms),
    hasRoom: (project, bytes) => rowBudget.hasRoom(project, bytes),
    classes: sizeClasses(),
  });
  return (parts) => {
    const ledger: Ledger = parts.ledger === 'memory' ? (memory ??= new MemoryLedger(now)) : postgresLedger(parts);
    const shared = commits.of(ledger, parts.meter);
    const pipeline = new SignalPipeline({
      signal: parts.signal,
      processors: parts.processors.map(({ component }) => component),
      exporters: parts.exporters.map(({ component }) => component),
      countedExporters: parts.exporters.flatMap(({ id, component }) => (component.countsDeliveries === true ? [] : id)),
      admission,
      groupCommit: shared.commit,
      rowBudget,
      projectCounts,
      logger: parts.logger,
      meter: parts.meter,
      traces: parts.traces,
      taps,
      now: () => (ledger.now === undefined ? parts.now() : ledger.now()),
    });
    let release: (() => Promise<void>) | null = null;
    return {
      signal: pipeline.signal,
      admit: (request) => pipeline.admit(request),
      idle: () => pipeline.idle(),
      start: async () => {
        release = shared.use(parts.exporters.map(({ component }) => component));
      },
      stop: async () => {
        pipeline.close();
        // The receivers have stopped or use another pipeline, so the waiting requests are the last group.
        await release?.();
      },
    };
  };
}

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * A body waits only for bodies of its own class. With two arenas for medium bodies, one project is served while the
 * body of another is in progress. One arena for the largest bodies limits their memory.
 */
function sizeClasses(): readonly SizeClass<Arena>[] {
  return [
    { limitBytes: 64 * KIB, places: [new Arena({ pauses: false })] },
    { limitBytes: MIB, places: [new Arena({ pauses: false }), new Arena({ pauses: false })] },
    { limitBytes: Number.POSITIVE_INFINITY, isLong: true, places: [new Arena({ pauses: true })] },
  ];
}

/** The group commit of each ledger. It is open while a pipeline uses it. */
class Commits {
  readonly #logger: Logger;
  readonly #pollEnd: PollEnd;
  /** Weak: the ledger of a configuration that did not start is never used. */
  readonly #byLedger = new WeakMap<Ledger, SharedCommit>();

  constructor(logger: Logger, pollEnd: PollEnd) {
    this.#logger = logger;
    this.#pollEnd = pollEnd;
  }

  of(ledger: Ledger, meter: Meter): SharedCommit {
    const known = this.#byLedger.get(ledger);
    if (known !== undefined) return known;
    const commit = new GroupCommit(ledger, this.#logger, meter, { pollEnd: this.#pollEnd });
    const shared = new SharedCommit(commit, () => this.#byLedger.delete(ledger));
    this.#byLedger.set(ledger, shared);
    return shared;
  }
}

class SharedCommit {
  readonly commit: GroupCommit;
  readonly #closed: () => void;
  readonly #users = new Set<object>();

  constructor(commit: GroupCommit, closed: () => void) {
    this.commit = commit;
    this.#closed = closed;
  }

  /**
   * `exporters`: those of the user. Returns a function that ends the use and resolves when no request waits. The last
   * user closes the group commit.
   */
  use(exporters: readonly Exporter[]): () => Promise<void> {
    const user = {};
    this.#users.add(user);
    const unsubscribe = exporters.map((exporter) =>
      exporter.onStalled?.(() => this.commit.stalledExporters.add(exporter)),
    );
    return async () => {
      this.#users.delete(user);
      if (this.#users.size === 0) {
        this.commit.close();
        this.#closed();
      }
      await this.commit.drain();
      for (const each of unsubscribe) each?.();
    };
  }
}

/** Extensions are created before pipelines, and offer their ledger then. */
function postgresLedger({ capabilities }: PipelineParts): Ledger {
  const found = capabilities.find(LEDGER);
  if (found === undefined) throw new Error('no extension offers the postgres ledger');
  return found;
}
