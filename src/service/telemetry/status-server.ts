/**
 * Serves `sluice status` and `sluice reload` on a local socket: each connection sends one word and gets one JSON
 * object. Only the owner may open the socket (0600). An error of the socket does not prevent the start of the daemon.
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
/** A client that sends nothing gets the status after this time. */
const SILENCE_MS = 100;
const LONGEST_WORD = 16;
/** A client that does not read is disconnected after this time. */
const PATIENCE_MS = 2_000;

export type ControlWord = 'status' | 'reload';

export interface Controls {
  status(): object | Promise<object>;
  reload(): Promise<object>;
}

export class StatusServer implements Component {
  readonly path: string;
  readonly #controls: Controls;
  readonly #logger: Logger;
  #server: Server | null = null;

  constructor(path: string, controls: Controls, logger: Logger) {
    this.path = path;
    this.#controls = controls;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (connection) => void this.#answer(connection));
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
    const word = await firstWord(connection);
    const answer = word === 'reload' ? await this.#controls.reload() : await this.#controls.status();
    connection.setTimeout(PATIENCE_MS, () => connection.destroy());
    connection.end(`${JSON.stringify(answer)}\n`);
  }
}

/** The first line, or what came of it in time. */
function firstWord(connection: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const end = (): void => {
      clearTimeout(timer);
      resolve(text.trim());
    };
    const timer = setTimeout(end, SILENCE_MS);
    connection.on('data', (chunk: Buffer) => {
      if (text.length < LONGEST_WORD) text += chunk.toString('latin1');
      if (text.includes('\n') || text.length >= LONGEST_WORD) end();
    });
    connection.once('end', end);
    connection.once('close', end);
  });
}
