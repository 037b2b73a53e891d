/** Finds the running daemon that a command means: that of the same configuration, or of this folder. */
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { askDaemon } from '../daemon/ask.ts';
import { findDaemons, type RunningDaemon } from '../daemon/runtime-folder.ts';
import type { ControlWord } from '../service/telemetry/status-server.ts';
import type { Status } from '../service/telemetry/status.ts';
import type { Call } from './command.ts';
import { commandLine } from './command-line.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { textOption } from './options.ts';
import { clean } from './view/screen-text.ts';

export const DAEMON_OPTIONS = {
  ...CONFIG_OPTIONS,
  pid: textOption('PID', 'The daemon with this process id, wherever it runs'),
};

/** The socket of the daemon. Throws a `UserError` that names the daemons that run elsewhere. */
export async function findDaemonSocket(call: Call): Promise<string> {
  const daemons = await findDaemons(call.process);
  const pid = call.values.text('pid');
  const matching = daemons.filter(({ status }) =>
    pid === undefined ? isMeant(status, call) : String(status.pid) === pid,
  );
  // Folders can share a configuration, for example that of the package.
  const isHere = ({ status }: RunningDaemon): boolean => status.folder === call.process.cwd();
  const here = matching.length > 1 ? matching.filter(isHere) : matching;
  const [only, another] = here.length === 1 ? here : matching;
  if (only !== undefined && another === undefined) return only.socket;
  if (matching.length > 1) {
    const shared = here.length > 1 ? 'here' : 'with this configuration';
    throw new UserError(`several daemons run ${shared}`, `Name one with --pid:\n${list(matching)}`);
  }
  if (pid === undefined) {
    const configured = await configuredSocket(call);
    if (configured !== null) return configured;
  }
  const what = pid === undefined ? 'no daemon runs with this configuration in this folder' : `no daemon has pid ${pid}`;
  throw new UserError(what, describeOthers(daemons) ?? `Start one with: ${commandLine(call, 'run')}`);
}

/** A hint that names the daemons that run elsewhere; null without any. */
export function describeOthers(daemons: readonly RunningDaemon[]): string | null {
  if (daemons.length === 0) return null;
  return `Run the command in the folder of a running daemon, with its configuration and variables:\n${list(daemons)}`;
}

/** A port that is taken is often taken by a daemon that was started before: the hint names the running ones. */
export async function nameDaemons(error: unknown, call: Call): Promise<unknown> {
  if (!(error instanceof UserError && error.reason === 'exists')) return error;
  const daemons = (await findDaemons(call.process)).filter(({ status }) => status.pid !== call.process.pid);
  if (daemons.length === 0) return error;
  return new UserError(error.message, `${error.hint ?? ''} These daemons run already:\n${list(daemons)}`, error.reason);
}

/**
 * A URL of the configuration. Where that leaves the port open, the running daemon is asked; null if it does not tell.
 */
export async function boundUrl(
  call: Call,
  url: string | null,
  pick: (status: Status) => string | null | undefined,
): Promise<string | null> {
  if (url === null || new URL(url).port !== '0') return url;
  return pick((await ask(await findDaemonSocket(call), 'status')) as Status) ?? null;
}

export async function ask(socket: string, word: ControlWord): Promise<unknown> {
  try {
    return await askDaemon(socket, word);
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, socket);
  }
}

/** With --config the files decide, otherwise the folder. */
function isMeant({ configuration, folder }: Status, { values, process }: Call): boolean {
  const given = values.list('config').map((file) => resolve(process.cwd(), file));
  if (given.length === 0) return folder === process.cwd();
  return given.length === configuration.length && given.every((file, at) => file === configuration[at]);
}

/** The socket that the configuration names, if it can be read. */
async function configuredSocket(call: Call): Promise<string | null> {
  const { socket } = (await readConfig(call)).service.telemetry.status;
  return socket === '' ? null : resolve(call.process.cwd(), socket);
}

function list(daemons: readonly RunningDaemon[]): string {
  return daemons.map(({ status }) => `    ${describeDaemon(status)}`).join('\n');
}

function describeDaemon({ pid, folder, configuration, database }: Status): string {
  const files = configuration.map((file) => (file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file));
  const stored = database === null ? '' : `, database ${database}`;
  return clean(`pid ${pid} in ${folder} with ${files.join(' and ')}${stored}`);
}

/** For an error of the connection. Others are returned unchanged. */
export function explain(error: NodeJS.ErrnoException, path: string): Error {
  if (error.code === undefined) return error;
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED')
    return new UserError(`no daemon answers at ${path}`, 'Start one with this configuration, in this folder.');
  if (error.code === 'EACCES')
    return new UserError(`no permission for ${path}`, 'Ask as the user that runs the daemon.');
  return new UserError(`the daemon could not be asked: ${error.message}`);
}
