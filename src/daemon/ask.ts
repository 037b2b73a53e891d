/** Asks a running daemon over its local socket: one word, one JSON answer. */
import { connect } from 'node:net';
import type { ControlWord } from '../service/telemetry/status-server.ts';

const PATIENCE_MS = 5_000;
/** A reload waits for components that start, and for the last requests of the old configuration. */
const RELOAD_PATIENCE_MS = 120_000;

/** Rejects with the error of the connection. */
export async function askDaemon(socket: string, word: ControlWord): Promise<unknown> {
  const text = await new Promise<string>((answered, failed) => {
    const connection = connect(socket, () => connection.write(`${word}\n`));
    let answer = '';
    const patience = word === 'reload' ? RELOAD_PATIENCE_MS : PATIENCE_MS;
    connection.setTimeout(patience, () => connection.destroy(new Error('no answer in time')));
    connection.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    connection.once('end', () => answered(answer));
    connection.once('error', failed);
  });
  return JSON.parse(text);
}
