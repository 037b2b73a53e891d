/** The two sides of the commit benchmark: the same rows through the ledger and exporter, and through psql's COPY. */
import type { Claim } from '../src/component/capabilities/ledger.ts';
import type { GroupCommit } from '../src/service/settle/group-commit.ts';
import type { Writer } from './database.ts';
import { ownProcessorMs, processorMs } from './processor-time.ts';
import type { Psql } from './psql.ts';
import type { ReadyRequest } from './ready-requests.ts';

export type Group = readonly ReadyRequest[];

/** The cost of rows: wall clock, and processor time of client and server together. */
export interface Cost {
  readonly ms: number;
  readonly processorMs: number;
}

export interface Side {
  /** Stores the groups, each in a transaction of its own. */
  store(groups: readonly Group[]): Promise<Cost>;
}

async function measured(readProcessorMs: () => number, work: () => Promise<void>): Promise<Cost> {
  const before = readProcessorMs();
  const started = performance.now();
  await work();
  return { ms: performance.now() - started, processorMs: readProcessorMs() - before };
}

export class LedgerSide implements Side {
  readonly #writer: Writer;
  readonly #backends: readonly number[];
  /** Milliseconds of each group; a caller may clear it. */
  readonly acks: number[] = [];

  /** `backends`: the server's processes behind the writer. */
  constructor(writer: Writer, backends: readonly number[]) {
    this.#writer = writer;
    this.#backends = backends;
  }

  store(groups: readonly Group[]): Promise<Cost> {
    return this.#measured(async () => {
      for (const group of groups) {
        const asked = performance.now();
        await settle(this.#writer, group);
        this.acks.push(performance.now() - asked);
      }
    });
  }

  /** The guards of every group without rows: their own cost. */
  guards(groups: readonly Group[]): Promise<Cost> {
    return this.#measured(async () => {
      for (const group of groups)
        await this.#writer.ledger.settle(
          group.map(({ claim }) => claim),
          async () => undefined,
        );
    });
  }

  /** Concurrent senders that wait for their answers: requests that arrive during a commit form the next group. */
  send(groupCommit: GroupCommit, requests: Group, senders: number): Promise<Cost> {
    const queue = [...requests];
    const sender = async (): Promise<void> => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const asked = performance.now();
        await groupCommit.settle(next.claim, [{ exporter: this.#writer.exporter, rows: next.rows }]);
        this.acks.push(performance.now() - asked);
      }
    };
    return this.#measured(async () => void (await Promise.all(Array.from({ length: senders }, sender))));
  }

  #measured(work: () => Promise<void>): Promise<Cost> {
    return measured(() => ownProcessorMs() + processorMs(this.#backends), work);
  }
}

export class CopySide implements Side {
  readonly #psql: Psql;
  readonly #processes: readonly number[];

  constructor(psql: Psql, backends: readonly number[]) {
    this.#psql = psql;
    this.#processes = [psql.pid, ...backends];
  }

  async store(groups: readonly Group[]): Promise<Cost> {
    const files: string[] = [];
    for (const group of groups) files.push(await this.#psql.prepare(group.flatMap(({ rows }) => rows.chunks)));
    let ms = 0;
    const cost = await measured(
      () => processorMs(this.#processes),
      async () => {
        for (const file of files) ms += await this.#psql.copy(file);
      },
    );
    return { ms, processorMs: cost.processorMs };
  }
}

/** One group of any size through the ledger. */
export async function settle({ ledger, exporter }: Writer, group: Group): Promise<void> {
  const byClaim = new Map<Claim, ReadyRequest>(group.map((request) => [request.claim, request]));
  const outcomes = await ledger.settle([...byClaim.keys()], (admitted, commit) => {
    const rows = admitted.map((claim) => (byClaim.get(claim) as ReadyRequest).rows);
    return exporter.write(rows, commit);
  });
  if (outcomes.some(({ kind }) => kind !== 'stored')) throw new Error('a request was not stored');
}
