/** The end of connections. A server that has stopped to answer does not close its side, so no end waits without a limit. */
import type pg from 'pg';
import { within } from './time-limit.ts';

const END_TIMEOUT_MS = 1000;

/** Cuts a connection off at once: its answers may still come, and must reach no other query. */
export function destroyConnection(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Tells the server, and cuts the connection off when the server does not close it in time. Never rejects. */
export async function endConnection(client: pg.Client): Promise<void> {
  await within(END_TIMEOUT_MS, client.end()).catch(() => destroyConnection(client));
}

/** As `endConnection`, for all connections of a pool. Those that are left end with the process. */
export async function endPool(pool: pg.Pool): Promise<void> {
  await within(END_TIMEOUT_MS, pool.end()).catch(() => undefined);
}
