/**
 * Serves `sluice status`, `sluice reload` and `sluice tap` on a local socket: each connection sends one word and gets
 * one JSON object, or events of a tap until it is closed. Only the owner may open the socket (0600). An error of the
 * socket does not prevent the start of the daemon.
 */
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Component } from '../../component/component.ts';
import { makeRoom } from '../../net/socket-file.ts';
import type { TapEvent, TapListener, TapQuestion } from './tap.ts';
import type { Logger } from '../../component/logger.ts';
import { UserError } from '../../errors.ts';

const OPTION = 'service.telemetry.status.socket';
const HINT = `Give each daemon its own ${OPTION}.`;
const SOCKET_MODE = 0o600;
const MAX_CONNECTIONS = 10;
/** A client that sends nothing gets the status after this time. */
const SILENCE_MS = 100;
const LONGEST_LINE = 4096;
const TAP = 'tap ';
/** The first line of a tap. */
export const TAP_OPEN = '{"tap":true}';
/** Events for a tap that does not read are dropped while this many bytes wait. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** A client that does not read is disconnected after this time. */
const PATIENCE_MS = 2_000;

export type ControlWord = 'status' | 'reload';

export interface Controls {
  status(): object | Promise<object>;
  reload(): Promise<object>;
  /** Returns the function that closes the tap. */
  tap(question: TapQuestion, send: TapListener): () => void;
}

export class StatusServer implements Component {
  readonly path: string;
  readonly #controls: Controls;
  readonly #logger: Logger;
  #server: Server | null = null;
  readonly #tapping = new Set<Socket>();

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
    for (const connection of this.#tapping) connection.destroy();
    if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async #answer(connection: Socket): Promise<void> {
    connection.on('error', () => undefined);
    const word = await firstWord(connection);
    if (word.startsWith(TAP)) return this.#tap(connection, word.slice(TAP.length));
    const answer = word === 'reload' ? await this.#controls.reload() : await this.#controls.status();
    connection.setTimeout(PATIENCE_MS, () => connection.destroy());
    connection.end(`${JSON.stringify(answer)}\n`);
  }

  /** The first line says that the tap is open; each further line is an event. */
  #tap(connection: Socket, text: string): void {
    const question = questionIn(text);
    if (question === null || connection.destroyed) return void connection.end('{}\n');
    let skipped = 0;
    const close = this.#controls.tap(question, (event) => {
      if (connection.writableLength > MAX_WAITING_BYTES) {
        skipped += event.kind === 'records' ? event.lines.length : event.kind === 'skipped' ? event.records : 0;
        return;
      }
      if (skipped > 0) connection.write(lineOf({ kind: 'skipped', records: skipped }));
      skipped = 0;
      connection.write(lineOf(event));
    });
    this.#tapping.add(connection);
    connection.once('close', () => {
      this.#tapping.delete(connection);
      close();
    });
    connection.once('end', () => connection.destroy());
    connection.resume();
    connection.write(`${TAP_OPEN}\n`);
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
    connection.setEncoding('utf8').on('data', (piece: string) => {
      if (text.length < LONGEST_LINE) text += piece;
      if (text.includes('\n') || text.length >= LONGEST_LINE) end();
    });
    connection.once('end', end);
    connection.once('close', end);
  });
}

function questionIn(text: string): TapQuestion | null {
  try {
    return JSON.parse(text) as TapQuestion;
  } catch {
    return null;
  }
}

/** Records are JSON objects already, each with the member `signal`, which events do not have. */
function lineOf(event: TapEvent): string {
  if (event.kind !== 'records') return `${JSON.stringify(event)}\n`;
  return `${event.lines.join('\n')}\n`;
}
