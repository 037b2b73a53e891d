/**
 * Several writers that append to the same few traces of one project, compared with one writer with the same number of
 * senders: the cost of contention, and that no deadlock reaches a client. The two alternate by round on the same
 * database.
 *
 *   node dist/bench/hot-traces.js [--writers 4] [--senders 64] [--requests 256] [--rounds 10]
 *                               [--traces 8] [--plan paid|free] [--url …]
 *
 * Ends with 1 when a request was refused or the server saw a deadlock.
 */
import { randomBytes } from 'node:crypto';
import { readArguments } from './arguments.ts';
import type { Project } from '../src/pdata/context.ts';
import { GroupCommit } from '../src/service/settle/group-commit.ts';
import { BenchDatabase, QUIET, type Writer } from './database.ts';
import { grouped, median, percent, quantile } from '../src/cli/bench/figures.ts';
import { makeReadyRequests, type ReadyRequest } from './ready-requests.ts';

const TRACE_BYTES = 16;

/** The writer of one daemon, and the answers to its senders. */
interface Daemon {
  readonly writer: Writer;
  readonly groupCommit: GroupCommit;
}

interface Tally {
  readonly acks: number[];
  readonly rates: number[];
  refused: number;
}

async function sendAll(
  daemons: readonly Daemon[],
  requests: readonly ReadyRequest[],
  senders: number,
  tally: Tally,
): Promise<void> {
  const queue = [...requests];
  const sender = async ({ writer, groupCommit }: Daemon): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const asked = performance.now();
      try {
        await groupCommit.settle(next.claim, [{ exporter: writer.exporter, rows: next.rows }]);
      } catch (error) {
        tally.refused++;
        console.error(error);
      }
      tally.acks.push(performance.now() - asked);
    }
  };
  const rows = requests.reduce((sum, request) => sum + request.rows.count, 0);
  const started = performance.now();
  await Promise.all(Array.from({ length: senders }, (_, index) => sender(daemons[index % daemons.length] as Daemon)));
  tally.rates.push((rows * 1000) / (performance.now() - started));
}

const retries = (daemons: readonly Daemon[]): number =>
  daemons.reduce((sum, { writer }) => {
    const line = /^sluice_commit_failures\{reason="retried"\} (\d+)$/m.exec(writer.registry.print());
    return sum + Number(line?.[1] ?? 0);
  }, 0);

async function deadlocks(database: BenchDatabase): Promise<number> {
  const { rows } = await database.database.query(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.['deadlocks']);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      writers: { type: 'string', default: '4' },
      senders: { type: 'string', default: '64' },
      requests: { type: 'string', default: '256' },
      rounds: { type: 'string', default: '10' },
      traces: { type: 'string', default: '8' },
      plan: { type: 'string', default: 'paid' },
      url: { type: 'string' },
    },
  });
  const plan = values.plan === 'free' ? 'free' : 'paid';
  const monthlySpans = plan === 'free' ? Number.MAX_SAFE_INTEGER : null;
  const project: Project = { name: 'bench', plan, monthlySpans, privacy: new Map() };
  const senders = Number(values.senders);
  const database = await BenchDatabase.open(values.url);
  try {
    const requests = await makeReadyRequests(Number(values.requests));
    const hot = Array.from({ length: Number(values.traces) }, () => randomBytes(TRACE_BYTES));
    const daemons: Daemon[] = [];
    for (let index = 0; index < Number(values.writers); index++) {
      const writer = await database.writer();
      daemons.push({ writer, groupCommit: new GroupCommit(writer.ledger, QUIET, writer.registry) });
    }
    const one: Tally = { acks: [], rates: [], refused: 0 };
    const all: Tally = { acks: [], rates: [], refused: 0 };
    for (let round = 0; round < Number(values.rounds) * 2; round++) {
      // Each request has the traces in another order.
      for (const request of requests)
        request.renew(
          project,
          () => BigInt(Date.now()) * 1000000n,
          [...hot].sort(() => Math.random() - 0.5),
        );
      // One, all, all, one: the second of a pair runs on a warmer machine.
      if (round % 4 === 0 || round % 4 === 3) await sendAll(daemons.slice(0, 1), requests, senders, one);
      else await sendAll(daemons, requests, senders, all);
    }
    for (const [name, tally] of [
      ['1 writer', one],
      [`${daemons.length} writers`, all],
    ] as const) {
      console.log(
        `${name.padEnd(10)} ${grouped(median(tally.rates)).padStart(8)} rows/s, ack p50 ${quantile(tally.acks, 0.5).toFixed(1)} ms, ` +
          `p99 ${quantile(tally.acks, 0.99).toFixed(1)} ms, ${tally.refused} of ${tally.acks.length} requests refused`,
      );
    }
    const seen = await deadlocks(database);
    const ratio = median(all.rates.map((rate, index) => rate / (one.rates[index] ?? Number.NaN)));
    console.log(`${percent(ratio)} of one writer's rate; ${retries(daemons)} groups tried again, ${seen} deadlocks`);
    if (one.refused + all.refused + seen > 0) process.exitCode = 1;
    for (const { writer } of daemons) await writer.stop();
  } finally {
    await database.close();
  }
}

await main();
