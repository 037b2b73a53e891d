/**
 * What a killed daemon may have left behind: a server that still runs, one that hangs, or only the traces of one. Also
 * the wait for an answer, which a new server and a survivor get alike.
 */
import { realpath } from 'node:fs/promises';
import { addressOf, ask, type Endpoint, removeEndpoint, type ServerAddress } from './address.ts';
import { SUPERUSER } from './cluster.ts';
import type { Home } from './home.ts';
import { isAlive } from '../../../component/process-life.ts';
import { EmbeddedServerError, type HostProcess, isPostmasterOf, type ServerLog } from './host.ts';
import { disownPostmasterFile, Postmaster, readPostmasterFile } from './postmaster.ts';
import type { Runtime } from './runtime.ts';
import { waitFor } from './wait.ts';

/** How long a survivor may stay silent before it is ended. */
const SILENCE_MS = 10_000;
const STOP_TIMEOUT_MS = 10_000;
/** Present in every server. */
const MAINTENANCE_DATABASE = 'postgres';

export interface Survivor {
  readonly postmaster: Postmaster;
  readonly endpoint: Endpoint;
}

export interface SurvivorOptions {
  readonly home: Home;
  readonly runtime: Runtime;
  readonly host: HostProcess;
  readonly log: ServerLog;
  readonly password: string;
  readonly signal: AbortSignal;
}

/**
 * A server that runs on our files and answers; `crashed` if there was one that ended badly (one that hangs is ended
 * first); undefined after an orderly shutdown.
 */
export async function findSurvivor(options: SurvivorOptions): Promise<Survivor | 'crashed' | undefined> {
  const { home, host, password, signal } = options;
  const file = await readPostmasterFile(home.cluster);
  if (file === undefined) return undefined;
  const ours = (await isAlive(host, file.pid)) ? await isPostmasterOf(file.pid, home.cluster) : false;
  const endpoint: Endpoint = { socketFolder: file.socketFolder || undefined, port: file.port };
  if (ours !== false) {
    const postmaster = Postmaster.adopt(file.pid, host);
    const address = addressOf(endpoint, SUPERUSER, password, MAINTENANCE_DATABASE);
    if (file.status !== 'stopping' && !(await isUnreachable(address, file.status))) {
      const outcome = await awaitReady(postmaster, address, { silenceMs: SILENCE_MS, signal });
      if (outcome.kind === 'ready' && (await isSame(outcome.dataDirectory, home.cluster)))
        return { postmaster, endpoint };
    }
    await endSurvivor(postmaster, ours, options);
  }
  if (endpoint.socketFolder !== undefined) await removeEndpoint(endpoint.socketFolder);
  // A server that could be ended in order took its file with it.
  if ((await readPostmasterFile(home.cluster)) === undefined) return undefined;
  await disownPostmasterFile(home.cluster, host);
  return 'crashed';
}

/** A server that calls itself ready while nobody listens at its address will not be heard however long we wait. */
async function isUnreachable(address: ServerAddress, status: string): Promise<boolean> {
  if (status !== 'ready') return false;
  const answer = await ask(address);
  return answer.kind === 'silent' && /ENOENT|ECONNREFUSED/.test(answer.reason);
}

/** Ends a server that is shutting down or hangs. Throws where that is not possible, or where it may not be a server. */
async function endSurvivor(postmaster: Postmaster, ours: true | undefined, options: SurvivorOptions): Promise<void> {
  const { home, runtime, log } = options;
  const { pid } = postmaster;
  if (!(await postmaster.isAlive())) return;
  if (ours === undefined) {
    throw new EmbeddedServerError(
      `${home.cluster}/postmaster.pid says that PostgreSQL runs as pid ${pid}, but it does not answer: end that process, or remove the file if it is no PostgreSQL`,
    );
  }
  log.warn(`the PostgreSQL server (pid ${pid}) that was left running does not answer: it is stopped first`);
  await postmaster.stop(STOP_TIMEOUT_MS, home, runtime);
  if (!(await postmaster.isAlive())) return;
  throw new EmbeddedServerError(`PostgreSQL (pid ${pid}) holds ${home.cluster} and can not be stopped: end it by hand`);
}

/** `ready` answered · `gone`: the process ended · `silent`: it runs, but said nothing for too long. */
export type Readiness =
  | { readonly kind: 'ready'; readonly dataDirectory: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'silent'; readonly reason: string };

/** Waits for a server's first answer. One that says it is recovering may take as long as it needs. */
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
