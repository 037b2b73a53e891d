/**
 * Intake: from the socket to encoded rows, without a sink. Sluice and an implementation with libraries alternate on the
 * same bodies. Compared is the server's processor time of a span, so the figures are spans per second and core.
 *
 *   node dist/bench/intake.js [--seconds 3] [--rounds 3] [--seed 1] [--load 'genai pb.gz']
 *
 * Run it on an otherwise idle machine with two cores; the client uses the other core.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { median } from '../src/cli/bench/figures.ts';
import { readArguments } from './arguments.ts';
import { childMessage } from './child-message.ts';
import { type Body, makeCorpus } from './corpus.ts';

interface Contender {
  readonly name: string;
  readonly arguments: readonly string[];
}

interface Load {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly Buffer[];
  readonly records: number;
}

const CONNECTIONS = 8;
const WARM_UP_REQUESTS = 1500;
const ALL = 'auth, environment, privacy, normalization, pricing';
const SLUICE: Contender = { name: 'sluice', arguments: ['sluice', 'auth, environment', 'ndjson'] };
const CONTENDERS: readonly Contender[] = [
  SLUICE,
  { name: 'sluice, COPY rows', arguments: ['sluice', 'auth, environment', 'copy'] },
  { name: 'sluice, all processors', arguments: ['sluice', ALL, 'ndjson'] },
  { name: 'sluice, all processors, COPY', arguments: ['sluice', ALL, 'copy'] },
  { name: 'sluice, content off', arguments: ['sluice', ALL, 'ndjson', '{ capture_content: false }'] },
  { name: 'library + JSON.stringify', arguments: ['baseline'] },
];

class Server {
  readonly #child: ChildProcess;
  readonly #pool: Pool;

  private constructor(child: ChildProcess, port: number) {
    child.setMaxListeners(0);
    this.#child = child;
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
  }

  static async start(contender: Contender): Promise<Server> {
    const child = fork(fileURLToPath(new URL('./intake-server.js', import.meta.url)), contender.arguments);
    const { port } = await childMessage<{ port: number }>(child);
    return new Server(child, port);
  }

  /** Processor seconds and spans of a closed loop over all connections. */
  async measure(
    load: Load,
    seconds: number,
  ): Promise<{ readonly cpuSeconds: number; readonly records: number; readonly rssMiB: number }> {
    const before = await this.#usage();
    const end = performance.now() + seconds * 1000;
    const requests = await this.#send(load, () => performance.now() < end);
    const after = await this.#usage();
    return { cpuSeconds: after.cpuSeconds - before.cpuSeconds, records: requests * load.records, rssMiB: after.rssMiB };
  }

  /**
   * Requests after which V8 has compiled the code. A number and not a time, because a busy machine sends fewer a
   * second.
   */
  async warmUp(load: Load): Promise<void> {
    await this.#send(load, (requests) => requests < WARM_UP_REQUESTS);
  }

  async stop(): Promise<void> {
    await this.#pool.close();
    this.#child.kill('SIGKILL');
  }

  /** A closed loop over all connections. Returns the number of answered requests. */
  async #send(load: Load, continues: (requests: number) => boolean): Promise<number> {
    let requests = 0;
    const loop = async (first: number): Promise<void> => {
      for (let turn = first; continues(requests); turn++) {
        const answer = await this.#pool.request({
          method: 'POST',
          path: load.path,
          headers: load.headers,
          body: load.bodies[turn % load.bodies.length] as Buffer,
        });
        await answer.body.dump();
        if (answer.statusCode !== 200) throw new Error(`${load.name}: status ${answer.statusCode}`);
        requests++;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => loop(index)));
    return requests;
  }

  async #usage(): Promise<{ cpuSeconds: number; rssMiB: number }> {
    const answer = childMessage<{ cpuSeconds: number; rssMiB: number }>(this.#child);
    this.#child.send('cpu');
    return answer;
  }
}

function loadsOf(seed: number): readonly Load[] {
  const corpus = makeCorpus(seed);
  const load = (
    name: string,
    path: string,
    type: string,
    gzip: boolean,
    bodies: readonly Body[],
    pick: (body: Body) => Buffer,
  ): Load => ({
    name,
    path,
    headers: {
      'content-type': type,
      authorization: 'Bearer benchmark-key-0123456789',
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    },
    bodies: bodies.map(pick),
    records: bodies[0]?.records ?? 0,
  });
  const protobuf = 'application/x-protobuf';
  const json = 'application/json';
  return [
    load('genai pb.gz', '/v1/traces', protobuf, true, corpus.genai, ({ pbGz }) => pbGz),
    load('genai pb', '/v1/traces', protobuf, false, corpus.genai, ({ pb }) => pb),
    load('genai JSON.gz', '/v1/traces', json, true, corpus.genai, ({ jsonGz }) => jsonGz),
    load('genai JSON', '/v1/traces', json, false, corpus.genai, (body) => body.json),
    load('micro pb.gz', '/v1/traces', protobuf, true, corpus.micro, ({ pbGz }) => pbGz),
    load('logs pb.gz', '/v1/logs', protobuf, true, corpus.logs, ({ pbGz }) => pbGz),
    load('metrics pb.gz', '/v1/metrics', protobuf, true, corpus.metrics, ({ pbGz }) => pbGz),
  ];
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      load: { type: 'string' },
    },
  });
  const seconds = Number(values.seconds);
  const loads = loadsOf(Number(values.seed)).filter(({ name }) => values.load === undefined || name === values.load);
  const servers = await Promise.all(CONTENDERS.map((contender) => Server.start(contender)));
  console.log(
    `records per second and core (server CPU), median of ${values.rounds} interleaved rounds of ${seconds} s\n`,
  );
  console.log(['body'.padEnd(16), ...CONTENDERS.map(({ name }) => name.padStart(30))].join(''));
  for (const load of loads) {
    const rates = CONTENDERS.map(() => [] as number[]);
    for (const server of servers) await server.warmUp(load);
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [index, server] of servers.entries()) {
        const { cpuSeconds, records } = await server.measure(load, seconds);
        rates[index]?.push(records / cpuSeconds);
      }
    }
    const medians = rates.map(median);
    const library = medians.at(-1) ?? Number.NaN;
    console.log(
      [
        load.name.padEnd(16),
        ...medians.map((rate) =>
          `${Math.round(rate).toLocaleString('en-US')}  ${(rate / library).toFixed(1)}×`.padStart(30),
        ),
      ].join(''),
    );
  }
  await Promise.all(servers.map((server) => server.stop()));
}

await main();
