/**
 * Another product over its own database, in a PostgreSQL server of the same build and with the same settings as
 * Sluice's embedded one. The product keeps its spans in a table `spans`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parentOf } from '../../src/cli/bench/process-family.ts';
import { BenchDatabase } from '../database.ts';
import { freePort } from '../../test/support/executable.ts';
import { type Command, ServerProcess } from './server-process.ts';

/** Phoenix commits after a thousand spans, which can take seconds. */
const GIVE_UP_MS = 30_000;
const POLL_MS = 500;

class OtherDatabase {
  /** In the form of libpq. */
  readonly address: string;
  readonly #server: BenchDatabase;
  readonly #pid: number;

  private constructor(server: BenchDatabase, name: string, pid: number) {
    this.#server = server;
    this.#pid = pid;
    this.address = server.url.replace('/sluice?', `/${name}?`).replace(/^postgres:/, 'postgresql:');
  }

  static async open(name: string): Promise<OtherDatabase> {
    const server = await BenchDatabase.open();
    await server.database.query(`CREATE DATABASE ${name}`);
    const { rows } = await server.database.query('SELECT pg_backend_pid() AS pid');
    return new OtherDatabase(server, name, parentOf(Number(rows[0]?.pid)));
  }

  /** The server of the database works for this process. */
  countFor(process: ServerProcess): void {
    process.takeOn(this.#pid);
  }

  async countSpans(): Promise<number> {
    const client = new pg.Client(this.address);
    await client.connect();
    const { rows } = await client.query('SELECT count(*)::int AS n FROM spans');
    await client.end();
    return rows[0]?.n ?? 0;
  }

  /** Resolves when the table has this many spans, or gets no more. */
  async drain(spans: number): Promise<void> {
    let kept = 0;
    for (let since = performance.now(); kept < spans && performance.now() - since < GIVE_UP_MS; await pause(POLL_MS)) {
      const now = await this.countSpans();
      if (now !== kept) since = performance.now();
      kept = now;
    }
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

export interface OtherProduct {
  readonly database: OtherDatabase;
  readonly server: ServerProcess;
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a product in the way that `commandOf` says. It serves when `healthPath` is answered. */
export async function startOther(
  name: string,
  healthPath: string,
  commandOf: (address: string, port: number) => Command,
): Promise<OtherProduct> {
  const database = await OtherDatabase.open(name);
  const port = await freePort();
  const server = new ServerProcess(commandOf(database.address, port));
  database.countFor(server);
  const stop = async (): Promise<void> => {
    await server.stop();
    await database.close();
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await server.untilServing(`${url}${healthPath}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { database, server, url, stop };
}
