/** Cancelling a running statement. */
import { connect } from 'node:net';
import type pg from 'pg';

/** Length, code of a cancel request, process id, secret key. */
const CANCEL_BYTES = 16;
const CANCEL_CODE = 80877102;
const CANCEL_TIMEOUT_MS = 5000;

/**
 * Asks the server to end the statement of this connection, as `PQcancel` does. Closing the connection does not end the
 * statement, because the server notices that only when it writes. Never rejects.
 */
export function cancelStatement(client: pg.ClientBase): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as {
    readonly host: string;
    readonly port: number;
    readonly processID: number | null;
    readonly secretKey: number | null;
  };
  if (processID === null || secretKey === null) return Promise.resolve();
  const request = Buffer.alloc(CANCEL_BYTES);
  request.writeInt32BE(CANCEL_BYTES, 0);
  request.writeInt32BE(CANCEL_CODE, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume().end(request);
  });
}
