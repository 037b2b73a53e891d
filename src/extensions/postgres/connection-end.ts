/** Ends connections. A server that no longer answers does not close its side, so every wait has a limit. */
import type pg from 'pg';
import { within } from './time-limit.ts';

const END_TIMEOUT_MS = 1000;

/** Cuts a connection off at once: pending answers must not reach another query. */
export function destroyConnection(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Closes the connection, and cuts it off when the server does not close it in time. Never rejects. */
export async function endConnection(client: pg.Client): Promise<void> {
  await within(END_TIMEOUT_MS, client.end()).catch(() => destroyConnection(client));
}

/** Closes the connections of a pool. Those that the server does not close in time end with the process. */
export async function endPool(pool: pg.Pool): Promise<void> {
  await within(END_TIMEOUT_MS, pool.end()).catch(() => undefined);
}
