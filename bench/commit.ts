/**
 * The group commit against raw COPY: the real ledger and Postgres exporter, with every guard, beside `psql \copy` of the same
 * number of rows of the same form into the same tables. The two take turns, round by round.
 *
 *   node dist/bench/commit.js [--groups 1,2,4,8,16,64] [--rounds 15] [--rows 250000] [--days 30] [--plan paid|free] [--url …]
 *
 * Needs psql and stdbuf in the PATH. Without --url an embedded server is started, as shipped: fsync on. `--groups 0` leaves
 * the groups out, `--rows 0` the sustained load.
 */
import { parseArgs } from 'node:util';
import type { Claim } from '../src/component/ledger.ts';
import type { Project } from '../src/model/context.ts';
import { GroupCommit } from '../src/service/settle/group-commit.ts';
import { BenchDatabase, QUIET, type Writer } from './database.ts';
import { grouped, median, percent, quantile } from './figures.ts';
import { Psql } from './psql.ts';
import { makeReadyRequests, type ReadyRequest } from './ready-requests.ts';

const DAY_NS = 86400000000000n;
/** Requests each side commits in a round of small groups, so that a round is no single fsync. */
const REQUESTS_A_ROUND = 32;
const ROWS_A_SLICE = 32000;
/** Senders that each wait for their answer: what arrives during a commit fills the next group. */
const SENDERS = 32;
const WARM_UP_ROUNDS = 2;

interface Setting {
  readonly database: BenchDatabase;
  readonly writer: Writer;
  readonly psql: Psql;
  readonly project: Project;
  readonly requests: readonly ReadyRequest[];
}

interface Round {
  readonly sluiceMs: number;
  readonly copyMs: number;
}

async function settle(writer: Writer, group: readonly ReadyRequest[]): Promise<void> {
  const byClaim = new Map<Claim, ReadyRequest>(group.map((request) => [request.claim, request]));
  const verdicts = await writer.ledger.settle([...byClaim.keys()], (admitted, commit) => {
    const rows = admitted.map((claim) => (byClaim.get(claim) as ReadyRequest).rows);
    return writer.exporter.write(rows, commit);
  });
  if (verdicts.some(({ kind }) => kind !== 'stored')) throw new Error('a request was not stored');
}

function renewAll(setting: Setting, group: readonly ReadyRequest[], days = 1): void {
  const today = BigInt(Date.now()) * 1000000n;
  const day = (): bigint => BigInt(Math.floor(Math.random() * days)) * DAY_NS;
  for (const request of group) request.renew(setting.project, () => today - day());
}

/** Groups of one size on both sides, each with spans of its own. */
async function roundOf(setting: Setting, size: number, sluiceFirst: boolean, acks: number[]): Promise<Round> {
  const count = Math.max(size, REQUESTS_A_ROUND);
  const groups = Array.from({ length: count / size }, (_, index) =>
    setting.requests.slice(index * size, (index + 1) * size),
  );
  const sluice = async (): Promise<number> => {
    renewAll(setting, groups.flat());
    const started = performance.now();
    for (const group of groups) {
      const asked = performance.now();
      await settle(setting.writer, group);
      acks.push(performance.now() - asked);
    }
    return performance.now() - started;
  };
  const copy = async (): Promise<number> => {
    renewAll(setting, groups.flat());
    const files: string[] = [];
    for (const group of groups) files.push(await setting.psql.prepare(group.flatMap(({ rows }) => rows.chunks)));
    let total = 0;
    for (const file of files) total += await setting.psql.copy(file);
    return total;
  };
  if (sluiceFirst) return { sluiceMs: await sluice(), copyMs: await copy() };
  const copyMs = await copy();
  return { sluiceMs: await sluice(), copyMs };
}

/** The same transactions with nothing to copy: what the guards take by themselves. */
async function guardsAlone(setting: Setting, size: number): Promise<number> {
  const group = setting.requests.slice(0, size);
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    renewAll(setting, group);
    const started = performance.now();
    await setting.writer.ledger.settle(
      group.map(({ claim }) => claim),
      async () => undefined,
    );
    times.push(performance.now() - started);
  }
  return median(times);
}

async function measureGroups(setting: Setting, sizes: readonly number[], rounds: number): Promise<void> {
  console.log('requests a group   sluice rows/s     psql rows/s     ratio    ack p50 / p99 ms   guards alone ms');
  for (const size of sizes) {
    await setting.database.empty();
    const acks: number[] = [];
    const results: Round[] = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      const result = await roundOf(setting, size, round % 2 === 0, round < 0 ? [] : acks);
      if (round >= 0) results.push(result);
    }
    const rows = setting.requests
      .slice(0, Math.max(size, REQUESTS_A_ROUND))
      .reduce((sum, { rows }) => sum + rows.count, 0);
    const rate = (pick: (round: Round) => number): string => grouped((rows * 1000) / median(results.map(pick)));
    const ratio = median(results.map(({ sluiceMs, copyMs }) => copyMs / sluiceMs));
    const ack = `${quantile(acks, 0.5).toFixed(1)} / ${quantile(acks, 0.99).toFixed(1)}`;
    console.log(
      [
        String(size).padStart(16),
        rate(({ sluiceMs }) => sluiceMs).padStart(16),
        rate(({ copyMs }) => copyMs).padStart(16),
        percent(ratio).padStart(10),
        ack.padStart(19),
        (await guardsAlone(setting, size)).toFixed(2).padStart(17),
      ].join(''),
    );
  }
}

/** Senders of their own pace over the real group commit, slice by slice in turn with one COPY of a slice. */
async function measureSustained(setting: Setting, totalRows: number, days: number): Promise<void> {
  await setting.database.empty();
  const groupCommit = new GroupCommit(setting.writer.ledger, QUIET, setting.writer.registry);
  const perRequest = setting.requests[0]?.rows.count ?? 1;
  const slice = setting.requests.slice(0, ROWS_A_SLICE / perRequest);
  const rows = slice.length * perRequest;
  const acks: number[] = [];
  const results: Round[] = [];
  for (let stored = 0; stored < totalRows; stored += rows) {
    const sluice = async (): Promise<number> => {
      renewAll(setting, slice, days);
      return sendAll(setting, groupCommit, slice, acks);
    };
    const copy = async (): Promise<number> => {
      renewAll(setting, slice, days);
      return setting.psql.copy(await setting.psql.prepare(slice.flatMap((request) => request.rows.chunks)));
    };
    const copyFirst = results.length % 2 === 1 ? await copy() : null;
    const sluiceMs = await sluice();
    results.push({ sluiceMs, copyMs: copyFirst ?? (await copy()) });
  }
  const rates = results.map(({ sluiceMs, copyMs }) => [(rows * 1000) / sluiceMs, (rows * 1000) / copyMs] as const);
  for (const [index, [sluice, copy]] of rates.entries())
    console.log(`slice ${index + 1}: ${grouped(sluice)} : ${grouped(copy)} rows/s, ${percent(sluice / copy)}`);
  const total = (pick: (round: Round) => number): number =>
    (rows * results.length * 1000) / results.reduce((sum, round) => sum + pick(round), 0);
  const [sluice, copy] = [total(({ sluiceMs }) => sluiceMs), total(({ copyMs }) => copyMs)];
  console.log(
    `sustained, ${grouped(rows * results.length)} rows a side over ${days} days: ${grouped(sluice)} : ${grouped(copy)} rows/s, ` +
      `${percent(sluice / copy)} in all, ${percent(median(rates.map(([one, other]) => one / other)))} median, ` +
      `ack p50 ${quantile(acks, 0.5).toFixed(1)} ms, p99 ${quantile(acks, 0.99).toFixed(1)} ms with ${SENDERS} senders`,
  );
}

async function sendAll(
  { writer }: Setting,
  groupCommit: GroupCommit,
  requests: readonly ReadyRequest[],
  acks: number[],
): Promise<number> {
  const queue = [...requests];
  const sender = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const asked = performance.now();
      await groupCommit.settle(next.claim, [{ exporter: writer.exporter, rows: next.rows }]);
      acks.push(performance.now() - asked);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return performance.now() - started;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      groups: { type: 'string', default: '1,2,4,8,16,64' },
      rounds: { type: 'string', default: '15' },
      rows: { type: 'string', default: '250000' },
      days: { type: 'string', default: '30' },
      plan: { type: 'string', default: 'paid' },
      url: { type: 'string' },
    },
  });
  const sizes = values.groups
    .split(',')
    .map(Number)
    .filter((size) => size > 0);
  const days = Number(values.days);
  const database = await BenchDatabase.open(values.url);
  try {
    await database.openDays(days);
    const project: Project =
      values.plan === 'free'
        ? { name: 'bench', plan: 'free', monthlySpans: Number.MAX_SAFE_INTEGER, privacy: new Map() }
        : { name: 'bench', plan: 'paid', monthlySpans: null, privacy: new Map() };
    const requests = await makeReadyRequests(Number(values.rows) > 0 ? Math.ceil(ROWS_A_SLICE / 64) : 64);
    const bytes = requests.slice(0, 16).reduce((sum, { rows }) => sum + rows.bytes / rows.count / 16, 0);
    console.log(`${requests[0]?.rows.count} spans a request, ${grouped(bytes)} bytes a row, plan ${values.plan}\n`);
    const psql = await Psql.start(database.url);
    const writer = await database.writer();
    const setting = { database, writer, psql, project, requests };
    await measureGroups(setting, sizes, Number(values.rounds));
    if (Number(values.rows) > 0) await measureSustained(setting, Number(values.rows), days);
    await writer.stop();
    await psql.stop();
  } finally {
    await database.close();
  }
}

await main();
