/**
 * Serves the status for `sluice status` on a local socket: each connection gets one JSON object. Only the owner may
 * open the socket (0600). An error of the socket does not prevent the start of the daemon.
 */
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Component } from '../../component/component.ts';
import { makeRoom } from '../../net/socket-file.ts';
import type { Logger } from '../../component/logger.ts';
import { UserError } from '../../errors.ts';

const OPTION = 'service.telemetry.status.socket';
const HINT = `Give each daemon its own ${OPTION}.`;
const SOCKET_MODE = 0o600;
const MAX_CONNECTIONS = 10;
/** A client that does not read is disconnected after this time. */
const PATIENCE_MS = 2_000;

export class StatusServer implements Component {
  readonly path: string;
  readonly #snapshot: () => object | Promise<object>;
  readonly #logger: Logger;
  #server: Server | null = null;

  constructor(path: string, snapshot: () => object | Promise<object>, logger: Logger) {
    this.path = path;
    this.#snapshot = snapshot;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    const server = createServer((connection) => void this.#answer(connection));
    server.maxConnections = MAX_CONNECTIONS;
    try {
      const inUse = (): UserError => new UserError('another daemon answers there', HINT);
      await makeRoom(this.path, { option: OPTION, inUse });
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(this.path, resolve));
      chmodSync(this.path, SOCKET_MODE);
      server.on('error', (error) => this.#logger.warn({ error }, 'the status socket has a fault'));
      server.unref();
      this.#server = server;
    } catch (error) {
      server.close();
      this.#logger.warn({ error, path: this.path }, 'the status socket cannot be opened');
    }
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async #answer(connection: Socket): Promise<void> {
    connection.on('error', () => undefined);
    connection.setTimeout(PATIENCE_MS, () => connection.destroy());
    connection.end(`${JSON.stringify(await this.#snapshot())}\n`);
  }
}
