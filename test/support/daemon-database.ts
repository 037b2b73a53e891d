/** The embedded database of a daemon that runs. */
import type { ServerAddress } from '../../src/extensions/postgres/embedded/address.ts';
import { findRunning } from '../../src/extensions/postgres/embedded/find-running.ts';

const SILENT = { info: () => undefined, warn: () => undefined };

/** Its address, for clients of their own. Throws when it does not run. */
export async function databaseIn(dataFolder: string): Promise<ServerAddress> {
  const address = await findRunning({ dataDir: dataFolder, host: process, log: SILENT });
  if (address === undefined) throw new Error('the embedded server does not run');
  return address;
}
