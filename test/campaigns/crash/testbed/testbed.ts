/**
 * What a scenario runs on: one PostgreSQL server with fsync on, a fault proxy in front of it for each replica, the
 * replicas as processes, and a sender with its journal. All of it is removed at the end.
 */
import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type ServerAddress, urlOf } from '../../../../src/extensions/postgres/embedded/address.ts';
import { EmbeddedServer } from '../../../../src/extensions/postgres/embedded/server.ts';
import { freePort } from '../../../support/executable.ts';
import { check, type Guarantee } from '../check/checker.ts';
import { Findings } from '../check/findings.ts';
import { readNdjson, readObjects, readPostgres, type Store } from '../check/store.ts';
import type { Body } from '../load/body.ts';
import { BodyMaker } from '../load/body-maker.ts';
import { type Entry, Journal } from '../load/journal.ts';
import { Sender } from '../load/sender.ts';
import { FaultProxy } from '../proxy/fault-proxy.ts';
import { GivenServer } from './given-server.ts';
import { replicaConfig } from './replica-config.ts';
import { Replica } from './replica.ts';

export interface TestbedOptions {
  /** The folder with bin/ and dist/ of the product under test; this repository unless set. */
  readonly root?: string | undefined;
  readonly replicas: number;
  readonly exporters: 'postgres' | 'postgres, file' | 'file' | 'objects' | 'postgres, objects';
  readonly seed: number;
  /** A kill loses unsynced writes, as a loss of power does. */
  readonly forgetfulDisk?: boolean;
  /** By how many days the clock of each replica differs. */
  readonly clockDays?: readonly number[];
  /** The URL of a server with an empty database, which replaces the embedded one. */
  readonly url?: string | undefined;
}

export const PRODUCT_ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));
const FORGETFUL_DISK = new URL('./forgetful-disk.js', import.meta.url).href;
const SHIFTED_CLOCK = new URL('./shifted-clock.js', import.meta.url).href;
const QUIET = { info: () => undefined, warn: () => undefined };
const MARKER = `SELECT FROM sluice.replay_markers WHERE project = $1 AND key = decode($2, 'hex')`;
const MARKER_TIMEOUT_MS = 5000;

/** The database of a testbed; a testbed with only files has none. */
export interface DatabaseSide {
  readonly server: EmbeddedServer | GivenServer;
  readonly address: ServerAddress;
  /** Connects without the proxies. */
  readonly pool: pg.Pool;
}

interface Parts {
  readonly folder: string;
  readonly database: DatabaseSide | null;
  readonly proxies: readonly FaultProxy[];
  readonly replicas: readonly Replica[];
  readonly journal: Journal;
  readonly options: TestbedOptions;
}

export class Testbed {
  readonly replicas: readonly Replica[];
  /** In front of the replica of the same index. */
  readonly proxies: readonly FaultProxy[];
  readonly sender: Sender;
  readonly maker: BodyMaker;
  readonly folder: string;
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.folder = parts.folder;
    this.replicas = parts.replicas;
    this.proxies = parts.proxies;
    this.maker = new BodyMaker(parts.options.seed);
    this.sender = new Sender(parts.journal, (body) => this.#findMarker(body));
    process.on('exit', this.#abandon);
  }

  /** When this process exits early, it ends the processes it started and removes the folder. */
  readonly #abandon = (): void => {
    for (const replica of this.replicas) replica.kill();
    const server = this.#parts.database?.server;
    if (server instanceof EmbeddedServer && server.pid !== undefined) process.kill(server.pid, 'SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  };

  static async open(options: TestbedOptions): Promise<Testbed> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-crash-'));
    await chmod(folder, 0o755);
    const database = options.exporters === 'file' ? null : await startDatabase(folder, options.url);
    const proxies: FaultProxy[] = [];
    const replicas: Replica[] = [];
    for (let number = 0; number < options.replicas; number++) {
      const url = database === null ? null : await throughProxy(database.address, proxies);
      replicas.push(await makeReplica({ number, folder, url, options }));
    }
    const journal = await Journal.create(join(folder, 'journal.ndjson'));
    const testbed = new Testbed({ folder, database, proxies, replicas, journal, options });
    try {
      // The first replica creates the schema, so they start one after the other.
      for (const replica of replicas) await replica.start();
    } catch (error) {
      await testbed.close();
      throw error;
    }
    return testbed;
  }

  get database(): DatabaseSide {
    if (this.#parts.database === null) throw new Error('this testbed has no database');
    return this.#parts.database;
  }

  /** Checks everything that was sent so far. No request may be in flight. */
  async check(): Promise<Findings> {
    const entries = await Journal.read(this.#parts.journal.path);
    const findings = new Findings();
    if (this.#parts.database !== null) {
      const client = await this.#parts.database.pool.connect();
      await this.#checkDatabase(entries, client as unknown as pg.Client, findings);
      client.release();
    }
    const files = await this.#files();
    if (files !== null) findings.merge(check(entries, files, 'at_least_once' satisfies Guarantee));
    return findings;
  }

  /** With only objects, the ledger belongs to their records. */
  async #checkDatabase(entries: readonly Entry[], client: pg.Client, findings: Findings): Promise<void> {
    const { exporters } = this.#parts.options;
    const stored = await readPostgres(client);
    if (exporters !== 'objects') findings.merge(check(entries, stored));
    if (!exporters.includes('objects')) return;
    const objects = await readObjects(client, placeOf(this.folder));
    const ledger = exporters === 'objects' ? stored.ledger : null;
    findings.merge(check(entries, { ...objects, ledger }, 'once_a_body' satisfies Guarantee));
  }

  /** `keep`: the folder stays, except for the database. */
  async close(keep = false): Promise<void> {
    process.off('exit', this.#abandon);
    this.sender.close();
    for (const replica of this.replicas) replica.kill();
    await Promise.all(this.replicas.map((replica) => replica.ended()));
    await this.#parts.journal.close();
    await this.#parts.database?.pool.end();
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
    await this.#parts.database?.server.stop();
    await rm(keep ? join(this.folder, 'database') : this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The files of all replicas as one store: a retried request may be in another replica's file. */
  async #files(): Promise<Store | null> {
    const stores: Store[] = [];
    for (const replica of this.replicas) {
      const folder = join(this.folder, `replica-${replica.number}`, 'files');
      const store = await readNdjson(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (store !== null) stores.push(store);
    }
    if (stores.length === 0) return null;
    return { name: 'the files', records: stores.flatMap(({ records }) => records), ledger: null };
  }

  async #findMarker({ tenant, marker }: Body): Promise<boolean | null> {
    const pool = this.#parts.database?.pool;
    if (pool === undefined) return null;
    try {
      return (await pool.query(MARKER, [tenant.project, marker])).rowCount === 1;
    } catch {
      // The server is down: whether the commit is visible is not known.
      return null;
    }
  }
}

/** All replicas share the place of the objects. */
const placeOf = (folder: string): string => join(folder, 'objects');

async function startDatabase(folder: string, url: string | undefined): Promise<DatabaseSide> {
  const dataDir = join(folder, 'database');
  await mkdir(dataDir, { mode: 0o755 });
  const settings = { max_connections: '100' };
  const server =
    url === undefined ? new EmbeddedServer({ dataDir, host: process, log: QUIET, settings }) : new GivenServer(url);
  const address = await server.start();
  const pool = new pg.Pool({ ...address, max: 4, query_timeout: MARKER_TIMEOUT_MS });
  pool.on('error', () => undefined);
  return { server, address, pool };
}

async function throughProxy(address: ServerAddress, proxies: FaultProxy[]): Promise<string> {
  const proxy = await FaultProxy.start(address);
  proxies.push(proxy);
  return urlOf({ ...address, host: '127.0.0.1', port: proxy.port });
}

interface ReplicaPlan {
  readonly number: number;
  readonly folder: string;
  readonly url: string | null;
  readonly options: TestbedOptions;
}

async function makeReplica({ number, folder, url, options }: ReplicaPlan): Promise<Replica> {
  const own = join(folder, `replica-${number}`);
  await mkdir(own);
  const port = await freePort();
  const configPath = join(own, 'sluice.yaml');
  await writeFile(configPath, replicaConfig({ port, url, exporters: options.exporters, objects: placeOf(folder) }));
  return new Replica({
    root: options.root ?? PRODUCT_ROOT,
    folder: own,
    configPath,
    port,
    number,
    preloads: [
      ...(options.forgetfulDisk === true ? [FORGETFUL_DISK] : []),
      ...(options.clockDays === undefined ? [] : [`${SHIFTED_CLOCK}?days=${options.clockDays[number] ?? 0}`]),
    ],
  });
}
