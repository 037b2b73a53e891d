/** Measures the database alone: one client commits the same number of rows as often as the daemon, without guards. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { runPipeline } from '../src/extensions/postgres/wire-pipeline.ts';
import { TABLE_COLUMNS } from '../src/pdata/columns.ts';
import type { Project } from '../src/pdata/context.ts';
import { makeReadyRequests, type ReadyRequest } from './ready-requests.ts';

const PROJECT: Project = { name: 'bare', plan: 'paid', monthlySpans: null, privacy: new Map() };
/** As many as can be due at once; more wait for the next commit. */
const READY_REQUESTS = 64;
const COPY_ROWS = `COPY sluice.spans (${TABLE_COLUMNS.traces.map(({ name }) => name).join(', ')}) FROM STDIN (FORMAT binary)`;

export interface Commits {
  readonly perSecond: number;
  readonly milliseconds: number;
}

export class BareDatabase {
  readonly #client: pg.Client;
  readonly #requests: readonly ReadyRequest[];

  private constructor(client: pg.Client, requests: readonly ReadyRequest[]) {
    this.#client = client;
    this.#requests = requests;
  }

  static async open(url: string): Promise<BareDatabase> {
    const requests = await makeReadyRequests(READY_REQUESTS);
    const client = new pg.Client(url);
    await client.connect();
    return new BareDatabase(client, requests);
  }

  /**
   * Milliseconds of each request since it was due, at random times. Requests that become due during a commit are the
   * next group, as in the daemon.
   */
  async commit({ perSecond, milliseconds }: Commits): Promise<readonly number[]> {
    const started = performance.now();
    const dues = randomTimes(started, { perSecond, milliseconds });
    const times: number[] = [];
    while (times.length < dues.length) {
      const next = dues[times.length] ?? 0;
      await pause(Math.max(0, next - performance.now()));
      const group = this.#renewed(dues.slice(times.length).filter((due) => due <= performance.now()).length);
      await runPipeline(this.#client, [
        { statement: { text: 'BEGIN' } },
        { statement: { text: COPY_ROWS }, chunks: group.flatMap(({ rows }) => rows.chunks) },
        { statement: { text: 'COMMIT' } },
      ]);
      const ended = performance.now();
      for (const due of dues.slice(times.length, times.length + group.length)) times.push(ended - due);
    }
    return times;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  #renewed(count: number): readonly ReadyRequest[] {
    const group = this.#requests.slice(0, Math.max(1, count));
    for (const request of group) request.renew(PROJECT, () => BigInt(Date.now()) * 1000000n);
    return group;
  }
}

function randomTimes(from: number, { perSecond, milliseconds }: Commits): readonly number[] {
  const count = Math.max(1, Math.round((perSecond * milliseconds) / 1000));
  return Array.from({ length: count }, () => from + Math.random() * milliseconds).sort((one, other) => one - other);
}
