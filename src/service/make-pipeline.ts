/** The call site where pipelines meet the ledger: one intake and one group commit serve all pipelines of a service. */
import { LEDGER, type Ledger } from '../component/ledger.ts';
import type { Logger } from '../component/logger.ts';
import type { Meter } from '../component/meter.ts';
import { Intake } from '../otlp/intake.ts';
import type { MakePipeline, PipelineParts } from './assemble.ts';
import { SignalPipeline } from './pipeline.ts';
import { GroupCommit } from './settle/group-commit.ts';
import { MemoryLedger } from './settle/memory-ledger.ts';

export function makePipelines(logger: Logger, meter: Meter, now: () => number): MakePipeline {
  let intake: Intake | null = null;
  let groupCommit: GroupCommit | null = null;
  return (parts) => {
    intake ??= new Intake();
    const commit = (groupCommit ??= new GroupCommit(ledgerFor(parts, now), logger, meter));
    const pipeline = new SignalPipeline({
      signal: parts.signal,
      processors: parts.processors.map(({ component }) => component),
      exporters: parts.exporters.map(({ component }) => component),
      intake,
      groupCommit: commit,
      logger: parts.logger,
      meter: parts.meter,
      now: parts.now,
    });
    return {
      signal: pipeline.signal,
      admit: (request) => pipeline.admit(request),
      // Receivers have stopped by now: what still waits is the last group.
      stop: async () => {
        commit.close();
        await commit.drain();
      },
    };
  };
}

/** Extensions offer their ledger when they are created, which is before any pipeline is made. */
function ledgerFor({ ledger, capabilities }: PipelineParts, now: () => number): Ledger {
  if (ledger === 'memory') return new MemoryLedger(now);
  const found = capabilities.find(LEDGER);
  if (found === undefined) throw new Error('no extension offers the postgres ledger');
  return found;
}
