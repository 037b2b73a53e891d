/**
 * The embedded PostgreSQL server: a real server process, started with the daemon when no database is configured.
 *
 * `start` creates the database files on the first run, adopts a server that outlived a killed daemon or starts a new
 * one, and returns connection options once the server has answered a query. A server that dies is started again at the
 * same address. `stop` ends it; it may be called at any time, also during `start`, and twice. One daemon owns a data
 * directory at a time; a second one is refused with the pid of the first.
 */
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostProcess } from '../../../component/component.ts';
import { awaitReady, findRunningServer } from './running-server.ts';
import {
  addressOf,
  chooseEndpoint,
  clearEndpoint,
  type Endpoint,
  ensureDatabase,
  listenSettings,
  removeEndpoint,
  type ServerAddress,
} from './address.ts';
import { type LockOptions, ProcessLock } from '../../../component/process-lock.ts';
import { createCluster, markComplete, readPassword } from './cluster.ts';
import { checkVersion, clusterExists } from './cluster-state.ts';
import { asOperatorError } from './faults.ts';
import { type ServerFolder, makeOwnedFolder, openServerFolder } from './server-folder.ts';
import { EmbeddedServerError, type ServerLog } from './host-process.ts';
import { launchSettings } from './launch-settings.ts';
import { disownPidFile, readPidFile } from './pid-file.ts';
import { lastWords, Postmaster } from './postmaster.ts';
import { noteBoot } from './probe.ts';
import { describeUser } from './server-user.ts';
import { findPackage, prepareRuntime, type Runtime } from './runtime.ts';

export type ServerState = 'stopped' | 'initialising' | 'starting' | 'recovering' | 'running' | 'stopping';

export interface ServerOptions {
  /** The database is in `postgres` below this folder. */
  readonly dataDir: string;
  readonly host: HostProcess;
  readonly log: ServerLog;
  /** Server settings that override postgresql.conf, for example `{ max_wal_size: '4GB' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A local socket by default; on Windows TCP on the loopback address with a password. */
  readonly transport?: 'socket' | 'tcp';
  /** The folder of PostgreSQL's programs; by default that of the installed package. */
  readonly packageFolder?: string;
  /** The folder for a copy of the programs when the server's user cannot enter `dataDir`; default: /var/lib/sluice. */
  readonly programsFolder?: string;
  /**
   * Called once, after the server was stopped, when another daemon took the data directory while this process was
   * suspended.
   */
  readonly onLost?: (error: EmbeddedServerError) => void;
  /** The interval at which the lock of the data directory is renewed. */
  readonly heartbeatMs?: number;
}

/** How long a server may not answer. A server in recovery may take longer. */
const START_TIMEOUT_MS = 60_000;
/** The attempts of a start that fails for a temporary reason (remaining backends, a port just taken). */
const PASSING_TRIES = 20;
const PASSING_PAUSE_MS = 250;
const PASSING = /pre-existing shared memory block|could not bind|Address already in use/i;
const FIRST_RESTART_MS = 200;
const LONGEST_RESTART_MS = 30_000;

/** The data that is known once the folder is locked and the programs are found. */
interface Site {
  readonly serverFolder: ServerFolder;
  readonly runtime: Runtime;
}

export class EmbeddedServer {
  readonly #options: ServerOptions;
  #state: ServerState = 'stopped';
  #abort = new AbortController();
  #starting: Promise<ServerAddress> | undefined;
  #stopping: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;
  #lock: ProcessLock | undefined;
  #site: Site | undefined;
  #endpoint: Endpoint | undefined;
  #postmaster: Postmaster | undefined;
  #unwatch: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The process id of the server, for status pages. */
  get pid(): number | undefined {
    return this.#postmaster?.pid;
  }

  /** The server's version, pid and address, for the log. */
  async describe(): Promise<Readonly<Record<string, string | number>>> {
    if (this.#site === undefined) return {};
    const { serverFolder, runtime } = this.#site;
    const uid = this.#options.host.getuid?.();
    const identity = serverFolder.identity ?? (uid === undefined ? undefined : { uid, gid: 0 });
    const user = identity === undefined ? {} : { user: await describeUser(identity) };
    return { version: runtime.version, database: serverFolder.cluster, programs: dirname(runtime.postgres), ...user };
  }

  async start(): Promise<ServerAddress> {
    if (this.#state !== 'stopped') throw new EmbeddedServerError(`the embedded PostgreSQL is ${this.#state} already`);
    this.#abort = new AbortController();
    this.#state = 'starting';
    this.#starting = this.#open();
    try {
      return await this.#starting;
    } catch (error) {
      await this.stop();
      throw asOperatorError(error, this.#options.dataDir);
    } finally {
      this.#starting = undefined;
    }
  }

  stop(): Promise<void> {
    if (this.#state === 'stopped') return Promise.resolve();
    this.#stopping ??= this.#close().finally(() => {
      this.#stopping = undefined;
      this.#state = 'stopped';
    });
    return this.#stopping;
  }

  async #open(): Promise<ServerAddress> {
    const { log } = this.#options;
    const serverFolder = await openServerFolder(this.#options);
    this.#lock = await ProcessLock.acquire(this.#lockOn(serverFolder.path));
    const runtime = await prepareRuntime(this.#options.packageFolder ?? findPackage(), serverFolder, log);
    this.#site = { serverFolder, runtime };
    const { signal } = this.#abort;
    if (!(await clusterExists(serverFolder))) {
      this.#state = 'initialising';
      log.info(`initialising a new database in ${serverFolder.path} (first start, a few seconds)`);
      const assertOwned = async () => this.#lock?.assertHeld();
      const hasty = this.#options.settings?.['fsync'] === 'off';
      const environment = this.#environment();
      const { host } = this.#options;
      await createCluster({ serverFolder, runtime, host, environment, hasty, signal, assertOwned });
      this.#state = 'starting';
    }
    signal.throwIfAborted();
    await checkVersion(serverFolder, runtime);
    const password = await readPassword(serverFolder);
    const address = (await this.#adopt(this.#site, password)) ?? (await this.#launch(this.#site, password));
    await ensureDatabase(address);
    await markComplete(serverFolder);
    signal.throwIfAborted();
    this.#run(address);
    return address;
  }

  /** Adopts a server that a killed daemon left; undefined if there is none. */
  async #adopt({ serverFolder, runtime }: Site, password: string): Promise<ServerAddress | undefined> {
    const { host, log } = this.#options;
    const running = await findRunningServer({ serverFolder, runtime, host, log, password, signal: this.#abort.signal });
    if (running === undefined) return undefined;
    if (running === 'crashed') {
      this.#state = 'recovering';
      log.warn('PostgreSQL was not shut down properly last time: it recovers from its log now');
      return undefined;
    }
    log.info(
      `adopted the PostgreSQL server (pid ${running.postmaster.pid}) that an earlier daemon left in ${serverFolder.path}`,
    );
    this.#endpoint = running.endpoint;
    this.#postmaster = running.postmaster;
    return addressOf(running.endpoint, password);
  }

  /** Starts a server and waits until it answers. */
  async #launch({ serverFolder, runtime }: Site, password: string): Promise<ServerAddress> {
    const { host, settings } = this.#options;
    const transport = this.#options.transport ?? (platform() === 'win32' ? 'tcp' : 'socket');
    const fixed = this.#endpoint;
    for (let tries = 1; ; tries++) {
      // After a crash the address stays, as connection pools use it. At the first start, a port that was taken
      // meanwhile is chosen again.
      const endpoint = fixed ?? (await chooseEndpoint(serverFolder, transport));
      this.#endpoint = endpoint;
      await this.#lock?.assertHeld();
      await clearEndpoint(endpoint);
      await noteBoot(serverFolder);
      const postmaster = await Postmaster.launch({
        serverFolder,
        runtime,
        host,
        environment: this.#environment(),
        settings: {
          ...(await logSettings(serverFolder)),
          ...(await launchSettings(serverFolder, host)),
          ...settings,
          ...listenSettings(endpoint, serverFolder),
        },
      }).catch((error: unknown) => {
        throw new EmbeddedServerError(`PostgreSQL could not be started in ${serverFolder.path}: ${error}`, {
          cause: error,
        });
      });
      this.#postmaster = postmaster;
      const address = addressOf(endpoint, password);
      const outcome = await awaitReady(postmaster, address, {
        silenceMs: START_TIMEOUT_MS,
        signal: this.#abort.signal,
      });
      if (outcome.kind === 'ready') return address;
      if (outcome.kind === 'silent') {
        await postmaster.stop(serverFolder, runtime);
        throw new EmbeddedServerError(
          `PostgreSQL started in ${serverFolder.path} but did not answer: ${outcome.reason}`,
        );
      }
      const reason = await lastWords(serverFolder);
      if (tries >= PASSING_TRIES || !PASSING.test(reason)) {
        throw new EmbeddedServerError(`PostgreSQL did not start in ${serverFolder.path}: ${reason}`);
      }
      await pause(PASSING_PAUSE_MS, undefined, { signal: this.#abort.signal });
    }
  }

  #run(address: ServerAddress): void {
    this.#state = 'running';
    this.#unwatch = this.#postmaster?.watch(() => {
      if (this.#abort.signal.aborted) return;
      this.#restarting = this.#restart(address).finally(() => {
        this.#restarting = undefined;
      });
    });
  }

  /** Restarts a server that died, until it succeeds or `stop` is called. */
  async #restart(address: ServerAddress): Promise<void> {
    const { log, host } = this.#options;
    const { signal } = this.#abort;
    log.warn(`the PostgreSQL server (pid ${this.#postmaster?.pid}) died: it is started again`);
    for (let wait = FIRST_RESTART_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_RESTART_MS)) {
      this.#state = 'recovering';
      try {
        if (this.#site === undefined) return;
        await this.#lock?.assertHeld();
        const { cluster } = this.#site.serverFolder;
        const left = await readPidFile(cluster);
        // Another number would be that of another server.
        if (left !== undefined && left !== 'damaged' && left.pid === this.#postmaster?.pid)
          await disownPidFile(cluster, host);
        await this.#launch(this.#site, address.password);
        if (signal.aborted) return;
        log.info(`PostgreSQL is running again (pid ${this.#postmaster?.pid})`);
        return this.#run(address);
      } catch (error) {
        if (signal.aborted) return;
        const fault = asOperatorError(error, this.#options.dataDir);
        log.warn(`${fault instanceof Error ? fault.message : fault}; next try in ${wait} ms`);
        await pause(wait, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #close(): Promise<void> {
    this.#state = 'stopping';
    this.#abort.abort();
    this.#unwatch?.();
    // Both end soon after the abort. Whatever they have started is stopped below.
    await this.#starting?.catch(() => undefined);
    await this.#restarting?.catch(() => undefined);
    this.#state = 'stopping';
    try {
      if (this.#postmaster !== undefined && this.#site !== undefined && (await this.#postmaster.isAlive())) {
        const outcome = await this.#postmaster.stop(this.#site.serverFolder, this.#site.runtime);
        if (outcome === 'forced')
          this.#options.log.warn('PostgreSQL had to be stopped by force; it recovers at the next start');
      }
      if (this.#endpoint?.socketFolder !== undefined) await removeEndpoint(this.#endpoint.socketFolder);
    } finally {
      this.#postmaster = undefined;
      this.#endpoint = undefined;
      await this.#lock?.release();
      this.#lock = undefined;
    }
  }

  #lockOn(folder: string): LockOptions {
    const { host, log, onLost, heartbeatMs } = this.#options;
    const path = join(folder, 'daemon.lock');
    const held = (holder: string): EmbeddedServerError =>
      new EmbeddedServerError(
        `another daemon (${holder}) is using this data folder (${path}): stop it first, or give this one a data_dir of its own`,
      );
    return {
      path,
      host,
      held,
      unwritable: () =>
        new EmbeddedServerError(
          `the file ${path} cannot be read and written by this process: start it as the owner of ${folder}, on a file system that is not read-only`,
        ),
      waiting: (holder, seconds) =>
        log.info(
          `${path} names ${holder}, which cannot be seen from here: waiting up to ${seconds} s for its heartbeat`,
        ),
      lost: (holder) => void this.stop().finally(() => onLost?.(held(holder))),
      heartbeatMs,
    };
  }

  /** PostgreSQL gets none of our environment, which may hold secrets and settings for other servers. */
  #environment(): Record<string, string> {
    const root = this.#options.host.env['SystemRoot'];
    return { LC_ALL: 'C', TZ: 'UTC', ...(root === undefined ? {} : { SystemRoot: root }) };
  }
}

/** One log file for each day of the week, which is truncated a week later. */
async function logSettings(serverFolder: ServerFolder): Promise<Record<string, string>> {
  const folder = serverFolder.closed ? 'log' : await makeOwnedFolder(serverFolder, 'log');
  return {
    logging_collector: 'on',
    log_directory: folder,
    log_filename: 'postgres-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_age: '1d',
    log_rotation_size: '0',
  };
}
