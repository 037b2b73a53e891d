/**
 * The group commit compared with plain COPY: the ledger and Postgres exporter, with every guard, and `psql \copy` of
 * the same number of rows of the same form into the same tables. The two alternate by round.
 *
 *   node dist/bench/commit.js [--groups 1,2,4,8,16,64] [--rounds 15] [--rows 250000] [--days 30]
 *     [--plan paid|free] [--url …]
 *
 * Needs psql and stdbuf in the PATH. Without --url an embedded server with fsync is started. `--groups 0` omits the
 * groups, `--rows 0` the sustained load.
 */
import { readArguments } from './arguments.ts';
import type { Project } from '../src/pdata/context.ts';
import { GroupCommit } from '../src/service/settle/group-commit.ts';
import { type Cost, CopySide, type Group, LedgerSide, settle } from './commit-sides.ts';
import { BenchDatabase, QUIET, type Writer } from './database.ts';
import { grouped, median, percent, quantile } from '../src/cli/bench/figures.ts';
import { Psql } from './psql.ts';
import { makeReadyRequests } from './ready-requests.ts';
import { DAY_NS } from '../src/pdata/time-units.ts';

/** Requests that each side commits in a round of small groups, so that a round has several fsyncs. */
const REQUESTS_A_ROUND = 32;
const ROWS_A_SLICE = 32000;
const SENDERS = 32;
const WARM_UP_ROUNDS = 2;
/** Commits before the measurement: V8 compiles the code in this time. */
const WARM_UP_COMMITS = 150;
const GUARD_ROUNDS = 5;

interface Setting {
  readonly database: BenchDatabase;
  readonly writer: Writer;
  readonly ledger: LedgerSide;
  readonly copy: CopySide;
  readonly project: Project;
  readonly requests: Group;
}

/** The cost of each side in one round. */
interface Pair {
  readonly sluice: Cost;
  readonly copy: Cost;
}

function renewAll({ project }: Setting, group: Group, days = 1): void {
  const today = BigInt(Date.now()) * 1000000n;
  const day = (): bigint => BigInt(Math.floor(Math.random() * days)) * DAY_NS;
  for (const request of group) request.renew(project, () => today - day());
}

/** The side that is first alternates. */
async function pairOf(index: number, sluice: () => Promise<Cost>, copy: () => Promise<Cost>): Promise<Pair> {
  if (index % 2 === 0) return { sluice: await sluice(), copy: await copy() };
  const cost = await copy();
  return { sluice: await sluice(), copy: cost };
}

const ratioOf = (pairs: readonly Pair[], pick: (cost: Cost) => number): number =>
  median(pairs.map(({ sluice, copy }) => pick(copy) / pick(sluice)));

async function measureGroups(setting: Setting, sizes: readonly number[], rounds: number): Promise<void> {
  const titles = ['requests a group', 'sluice rows/s', 'psql rows/s', 'ratio', 'of processor time'];
  await warmUp(setting);
  console.log([...titles, 'ack p50 / p99 ms', 'guards alone ms', 'µs/row'].map((title) => title.padStart(18)).join(''));
  for (const size of sizes) {
    const requests = setting.requests.slice(0, Math.max(size, REQUESTS_A_ROUND));
    const rows = requests.reduce((sum, request) => sum + request.rows.count, 0);
    const groups = Array.from({ length: requests.length / size }, (_, index) =>
      requests.slice(index * size, (index + 1) * size),
    );
    const store = (side: LedgerSide | CopySide) => (): Promise<Cost> => {
      renewAll(setting, requests);
      return side.store(groups);
    };
    await setting.database.empty();
    for (let round = 0; round < WARM_UP_ROUNDS; round++)
      await pairOf(round, store(setting.ledger), store(setting.copy));
    setting.ledger.acks.length = 0;
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++)
      pairs.push(await pairOf(round, store(setting.ledger), store(setting.copy)));
    const guards = await guardsAlone(setting, groups);
    const rate = (pick: (pair: Pair) => Cost): string =>
      grouped((rows * 1000) / median(pairs.map((pair) => pick(pair).ms)));
    const { acks } = setting.ledger;
    const columns = [
      String(size),
      rate(({ sluice }) => sluice),
      rate(({ copy }) => copy),
      percent(ratioOf(pairs, ({ ms }) => ms)),
      percent(ratioOf(pairs, ({ processorMs }) => processorMs)),
      `${quantile(acks, 0.5).toFixed(1)} / ${quantile(acks, 0.99).toFixed(1)}`,
      (guards.ms / groups.length).toFixed(2),
      ((guards.processorMs * 1000) / rows).toFixed(2),
    ];
    console.log(columns.map((column) => column.padStart(18)).join(''));
  }
}

async function warmUp(setting: Setting): Promise<void> {
  const group = setting.requests.slice(0, 1);
  for (let commits = 0; commits < WARM_UP_COMMITS; commits++) {
    renewAll(setting, group);
    await setting.ledger.store([group]);
  }
}

async function guardsAlone(setting: Setting, groups: readonly Group[]): Promise<Cost> {
  const costs: Cost[] = [];
  for (let round = 0; round < GUARD_ROUNDS; round++) {
    renewAll(setting, groups.flat());
    costs.push(await setting.ledger.guards(groups));
  }
  return { ms: median(costs.map(({ ms }) => ms)), processorMs: median(costs.map((cost) => cost.processorMs)) };
}

/** Senders over the group commit, alternating with one COPY, slice by slice. */
async function measureSustained(setting: Setting, totalRows: number, days: number): Promise<void> {
  await setting.database.empty();
  const { ledger, copy, writer } = setting;
  const groupCommit = new GroupCommit(writer.ledger, QUIET, writer.registry);
  const perRequest = setting.requests[0]?.rows.count ?? 1;
  const slice = setting.requests.slice(0, ROWS_A_SLICE / perRequest);
  const rows = slice.length * perRequest;
  const renewed = (work: () => Promise<Cost>) => (): Promise<Cost> => {
    renewAll(setting, slice, days);
    return work();
  };
  ledger.acks.length = 0;
  const pairs: Pair[] = [];
  for (let stored = 0; stored < totalRows; stored += rows) {
    const pair = await pairOf(
      pairs.length,
      renewed(() => ledger.send(groupCommit, slice, SENDERS)),
      renewed(() => copy.store([slice])),
    );
    pairs.push(pair);
    const [one, other] = [(rows * 1000) / pair.sluice.ms, (rows * 1000) / pair.copy.ms];
    console.log(`slice ${pairs.length}: ${grouped(one)} : ${grouped(other)} rows/s, ${percent(one / other)}`);
  }
  const total = (pick: (pair: Pair) => number): number => pairs.reduce((sum, pair) => sum + pick(pair), 0);
  const [sluiceMs, copyMs] = [total(({ sluice }) => sluice.ms), total((pair) => pair.copy.ms)];
  const all = rows * pairs.length;
  const { acks } = ledger;
  console.log(
    `sustained, ${grouped(all)} rows a side over ${days} days: ${grouped((all * 1000) / sluiceMs)} : ${grouped((all * 1000) / copyMs)} rows/s, ` +
      `${percent(copyMs / sluiceMs)} in all, ${percent(ratioOf(pairs, ({ ms }) => ms))} median; ` +
      `of processor time ${percent(ratioOf(pairs, ({ processorMs }) => processorMs))}; ` +
      `ack p50 ${quantile(acks, 0.5).toFixed(1)} ms, p99 ${quantile(acks, 0.99).toFixed(1)} ms with ${SENDERS} senders`,
  );
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      groups: { type: 'string', default: '1,2,4,8,16,64' },
      rounds: { type: 'string', default: '15' },
      rows: { type: 'string', default: '250000' },
      days: { type: 'string', default: '30' },
      plan: { type: 'string', default: 'paid' },
      url: { type: 'string' },
    },
  });
  const sizes = values.groups.split(',').map(Number);
  const [rows, days] = [Number(values.rows), Number(values.days)];
  const plan = values.plan === 'free' ? 'free' : 'paid';
  const monthlySpans = plan === 'free' ? Number.MAX_SAFE_INTEGER : null;
  const project: Project = { name: 'bench', plan, monthlySpans, privacy: new Map() };
  const database = await BenchDatabase.open(values.url);
  try {
    await database.openDays(days);
    const requests = await makeReadyRequests(rows > 0 ? ROWS_A_SLICE / 64 : 64);
    const sizeOfRow = median(requests.map((request) => request.rows.bytes / request.rows.count));
    console.log(`${requests[0]?.rows.count} spans a request, ${grouped(sizeOfRow)} bytes a row, plan ${plan}\n`);
    const writer = await database.writer();
    const psql = await Psql.start(database.url);
    // The server processes are known only when both sessions of the ledger and that of psql are open.
    const openers = [requests.slice(0, 1), requests.slice(1, 2)] as const;
    for (const [request] of openers) request?.renew(project, () => BigInt(Date.now()) * 1000000n);
    await Promise.all(openers.map((group) => settle(writer, group)));
    const ledger = new LedgerSide(writer, await database.backends('COMMIT'));
    const [first] = openers;
    first[0]?.renew(project, () => BigInt(Date.now()) * 1000000n);
    await psql.copy(await psql.prepare(first.flatMap(({ rows: { chunks } }) => chunks)));
    const copy = new CopySide(psql, await database.backends('COPY'));
    const setting = { database, writer, ledger, copy, project, requests };
    await measureGroups(
      setting,
      sizes.filter((size) => size > 0),
      Number(values.rounds),
    );
    if (rows > 0) await measureSustained(setting, rows, days);
    await writer.stop();
    await psql.stop();
  } finally {
    await database.close();
  }
}

await main();
