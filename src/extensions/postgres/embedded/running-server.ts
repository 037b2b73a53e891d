/**
 * A server that an earlier daemon left running or dead. It is adopted or ended, or its left-over files are cleaned up,
 * so that two servers never use the same files.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostProcess } from '../../../component/component.ts';
import { isAlive } from '../../../component/process-life.ts';
import { addressOf, ask, type Endpoint, removeEndpoint, type ServerAddress } from './address.ts';
import type { ServerFolder } from './server-folder.ts';
import { EmbeddedServerError, isPostmasterOf, type ServerLog } from './host-process.ts';
import { disownPidFile, type PidFile, readPidFile, removeDamagedPidFile } from './pid-file.ts';
import { Postmaster } from './postmaster.ts';
import { findPostmaster, findWorkers, isListening, mayRunElsewhere, removeSockets, socketFolders } from './probe.ts';
import type { Runtime } from './runtime.ts';
import { waitFor } from './wait.ts';

/** How long the server may not answer before it is ended. */
const SILENCE_MS = 10_000;
/** Backends that lost their server end within this time, unless they are busy. */
const ORPHANS_MS = 10_000;
/** Present in every server. */
const MAINTENANCE_DATABASE = 'postgres';

export interface RunningServer {
  readonly postmaster: Postmaster;
  readonly endpoint: Endpoint;
}

export interface RunningServerOptions {
  readonly serverFolder: ServerFolder;
  readonly runtime: Runtime;
  readonly host: HostProcess;
  readonly log: ServerLog;
  readonly password: string;
  readonly signal: AbortSignal;
}

/** A process that may be a server on our files; `certain` is undefined when the system does not report it. */
interface Candidate {
  readonly pid: number;
  readonly certain: true | undefined;
}

/**
 * A server that runs on our files and answers; `crashed` if the last one ended badly (one that hangs is ended first);
 * undefined after an orderly shutdown. Throws when a server runs, or may run, that this process cannot see.
 */
export async function findRunningServer(options: RunningServerOptions): Promise<RunningServer | 'crashed' | undefined> {
  const { serverFolder, password, signal } = options;
  const file = await readPidFile(serverFolder.cluster);
  const candidate = await findCandidate(file, options);
  if (candidate !== undefined) {
    const postmaster = Postmaster.adopt(candidate.pid, options.host);
    // A server that its pid file does not name ends itself within a minute, by its own check.
    if (file !== undefined && file !== 'damaged' && file.pid === candidate.pid && file.status !== 'stopping') {
      const endpoint: Endpoint = { socketFolder: file.socketFolder || undefined, port: file.port };
      const address = addressOf(endpoint, password, MAINTENANCE_DATABASE);
      const outcome = await (file.status === 'ready' && (await isUnreachable(address))
        ? undefined
        : awaitReady(postmaster, address, { silenceMs: SILENCE_MS, signal }));
      if (outcome?.kind === 'ready' && (await isSame(outcome.dataDirectory, serverFolder.cluster))) {
        if (outcome.version === options.runtime.version) return { postmaster, endpoint };
        await replace(postmaster, outcome.version, options);
      }
    }
    await endRunningServer(postmaster, candidate.certain, options);
  }
  await refuseUnseen(options, file !== undefined);
  return clearRemains(options);
}

/** Ends a server of another minor version: it loads parts of its programs only on demand, and they may be removed. */
async function replace(postmaster: Postmaster, version: string, options: RunningServerOptions): Promise<void> {
  const { serverFolder, runtime, log } = options;
  log.info(`stopping the PostgreSQL ${version} that was left running, because this release uses ${runtime.version}`);
  await postmaster.stop(serverFolder, runtime);
}

/**
 * The process that the pid file names, if it is a server on these files. Without a usable file, the processes are
 * searched.
 */
async function findCandidate(
  file: PidFile | 'damaged' | undefined,
  { serverFolder, host }: RunningServerOptions,
): Promise<Candidate | undefined> {
  if (file !== undefined && file !== 'damaged' && (await isAlive(host, file.pid))) {
    const certain = await isPostmasterOf(file.pid, serverFolder.cluster);
    if (certain !== false) return { pid: file.pid, certain };
  }
  const pid = await findPostmaster(serverFolder.cluster, host);
  return pid === undefined ? undefined : { pid, certain: true };
}

/**
 * PostgreSQL protects its files by pids only. If pids are not reliable, the files are used only when no server can be
 * alive.
 */
async function refuseUnseen({ serverFolder, host }: RunningServerOptions, left: boolean): Promise<void> {
  if (await isListening(socketFolders(serverFolder))) {
    throw new EmbeddedServerError(
      `a PostgreSQL server that this process cannot see runs on ${serverFolder.cluster}, probably in another container: stop the container or daemon it belongs to, then start again, or give this one a data_dir of its own`,
    );
  }
  const gone = async (): Promise<true | undefined> =>
    (await findWorkers(serverFolder.cluster, host)).length === 0 ? true : undefined;
  if ((await waitFor(gone, { timeoutMs: ORPHANS_MS })) === undefined) {
    const pids = await findWorkers(serverFolder.cluster, host);
    throw new EmbeddedServerError(
      `PostgreSQL processes that lost their server still work on ${serverFolder.cluster} (pid ${pids.join(', ')}): end them, then start again`,
    );
  }
  if (left && (await mayRunElsewhere(serverFolder))) {
    throw new EmbeddedServerError(
      `${serverFolder.cluster} is on a file system that other machines can use, and a PostgreSQL server that was started elsewhere, or before this machine was restarted, has not recorded its end: make sure that it no longer runs anywhere, remove ${join(serverFolder.cluster, 'postmaster.pid')}, and start again`,
    );
  }
}

/** Cleans up the files of a dead server. */
async function clearRemains({ serverFolder, host, log }: RunningServerOptions): Promise<'crashed' | undefined> {
  await removeSockets(serverFolder.cluster);
  // Read again: a server that was ended in order has removed its file.
  const file = await readPidFile(serverFolder.cluster);
  if (file === undefined) return undefined;
  if (file === 'damaged') {
    log.warn(`${join(serverFolder.cluster, 'postmaster.pid')} is damaged, and no server runs: it is removed`);
    await removeDamagedPidFile(serverFolder.cluster);
    return 'crashed';
  }
  if (file.socketFolder !== '') await removeEndpoint(file.socketFolder);
  await disownPidFile(serverFolder.cluster, host);
  return 'crashed';
}

/** A server that reports ready while no process listens at its address will never answer. */
async function isUnreachable(address: ServerAddress): Promise<boolean> {
  const answer = await ask(address);
  return answer.kind === 'silent' && /ENOENT|ECONNREFUSED/.test(answer.reason);
}

/** Ends a server that is shutting down or hangs. Throws if that fails, or if the process may not be a server. */
async function endRunningServer(
  postmaster: Postmaster,
  certain: true | undefined,
  options: RunningServerOptions,
): Promise<void> {
  const { serverFolder, runtime, log } = options;
  const { pid } = postmaster;
  if (!(await postmaster.isAlive())) return;
  if (certain === undefined) {
    throw new EmbeddedServerError(
      `${serverFolder.cluster}/postmaster.pid says that PostgreSQL runs as pid ${pid}, but it does not answer: end that process, or remove the file if it is no PostgreSQL`,
    );
  }
  log.warn(
    `the PostgreSQL server (pid ${pid}) that was left running does not answer as it should: it is stopped first`,
  );
  await postmaster.stop(serverFolder, runtime);
  if (!(await postmaster.isAlive())) return;
  throw new EmbeddedServerError(
    `PostgreSQL (pid ${pid}) holds ${serverFolder.cluster} and cannot be stopped: end it by hand`,
  );
}

/** `ready`: it answered · `gone`: the process ended · `silent`: it runs, but did not answer in time. */
export type Readiness =
  | { readonly kind: 'ready'; readonly dataDirectory: string; readonly version: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'silent'; readonly reason: string };

/** Waits for a server's first answer. A server in recovery may take as long as it needs. */
export async function awaitReady(
  postmaster: Postmaster,
  address: ServerAddress,
  limits: { readonly silenceMs: number; readonly signal: AbortSignal },
): Promise<Readiness> {
  const maintenance = { ...address, database: MAINTENANCE_DATABASE };
  let heard = performance.now();
  const listen = async (): Promise<Readiness | undefined> => {
    const answer = await ask(maintenance);
    if (answer.kind === 'ready') return answer;
    if (!(await postmaster.isAlive())) return { kind: 'gone' };
    if (answer.kind === 'starting') heard = performance.now();
    else if (performance.now() - heard > limits.silenceMs) return answer;
    return undefined;
  };
  const forever = { timeoutMs: Number.POSITIVE_INFINITY, signal: limits.signal };
  return (await waitFor(listen, forever)) ?? { kind: 'gone' };
}

async function isSame(path: string, other: string): Promise<boolean> {
  return (await realpath(path).catch(() => undefined)) === (await realpath(other));
}
