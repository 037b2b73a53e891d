/** Finds an embedded server from another process than its daemon: the command line reads the data while both run. */
import type { HostProcess } from '../../../component/component.ts';
import { addressOf, ask, type ServerAddress } from './address.ts';
import { readPassword } from './cluster.ts';
import { asOperatorError } from './faults.ts';
import { openServerFolder } from './server-folder.ts';
import type { ServerLog } from './host-process.ts';
import { readPidFile } from './pid-file.ts';

interface Search {
  readonly dataDir: string;
  readonly host: HostProcess;
  readonly log: ServerLog;
}

/** The address of a server that runs on this data directory and answers, or undefined. */
export async function findRunning(options: Search): Promise<ServerAddress | undefined> {
  try {
    return await find(options);
  } catch (error) {
    throw asOperatorError(error, options.dataDir);
  }
}

async function find(options: Search): Promise<ServerAddress | undefined> {
  const serverFolder = await openServerFolder(options);
  const file = await readPidFile(serverFolder.cluster);
  if (file === undefined || file === 'damaged' || file.status !== 'ready') return undefined;
  const endpoint = { socketFolder: file.socketFolder || undefined, port: file.port };
  const address = addressOf(endpoint, await readPassword(serverFolder));
  return (await ask(address)).kind === 'ready' ? address : undefined;
}
