/**
 * What the daemon is doing, for `sluice status`: whoever may open the local socket and connects is given one JSON object. The
 * socket is the owner's alone (0600). It never keeps a daemon from starting.
 */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Component } from '../../component/component.ts';
import type { Logger } from '../../component/logger.ts';

const SOCKET_MODE = 0o600;
const MAX_CONNECTIONS = 10;
/** Whoever connects and does not read is cut off after this. */
const PATIENCE_MS = 2_000;

export class StatusServer implements Component {
  readonly path: string;
  readonly #snapshot: () => object;
  readonly #logger: Logger;
  #server: Server | null = null;

  constructor(path: string, snapshot: () => object, logger: Logger) {
    this.path = path;
    this.#snapshot = snapshot;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    if (await isServed(this.path)) {
      this.#logger.warn({ path: this.path }, 'another daemon answers at the status socket; this one does not');
      return;
    }
    const server = createServer((connection) => this.#answer(connection));
    server.maxConnections = MAX_CONNECTIONS;
    try {
      // What nobody serves was left by a daemon that was killed.
      rmSync(this.path, { force: true });
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

  #answer(connection: Socket): void {
    connection.on('error', () => undefined);
    connection.setTimeout(PATIENCE_MS, () => connection.destroy());
    connection.end(`${JSON.stringify(this.#snapshot())}\n`);
  }
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('close', () => undefined).on('data', () => probe.destroy());
  });
}
