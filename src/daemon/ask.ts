/** Asks a running daemon over its local socket: one word, one JSON answer, or the lines of a tap. */
import { connect } from 'node:net';
import { linesOf } from '../component/lines.ts';
import { UserError } from '../errors.ts';
import type { TapQuestion } from '../service/telemetry/tap.ts';
import { type ControlWord, TAP_OPEN } from '../service/telemetry/status-server.ts';

const PATIENCE_MS = 5_000;
/** A reload waits for components that start, and for the last requests of the old configuration. */
const RELOAD_PATIENCE_MS = 120_000;

/** Rejects with the error of the connection, or a `UserError`. */
export async function askDaemon(socket: string, word: ControlWord): Promise<unknown> {
  const text = await new Promise<string>((answered, failed) => {
    const connection = connect(socket, () => connection.write(`${word}\n`));
    let answer = '';
    const patience = word === 'reload' ? RELOAD_PATIENCE_MS : PATIENCE_MS;
    connection.setTimeout(patience, () => connection.destroy(new UserError('the daemon does not answer in time')));
    connection.setEncoding('utf8').on('data', (text: string) => (answer += text));
    connection.once('end', () => answered(answer));
    connection.once('error', failed);
  });
  if (!text.endsWith('\n')) throw new UserError('the daemon has ended without an answer');
  return JSON.parse(text);
}

/**
 * Opens a tap and passes on its lines, of which the first says that it is open. Resolves when the daemon ends it;
 * rejects with the error of the connection, or a `UserError`.
 */
export async function askTap(socket: string, question: TapQuestion, received: (line: string) => void): Promise<void> {
  const connection = connect(socket, () => connection.write(`tap ${JSON.stringify(question)}\n`));
  const failed = new Promise<never>((_, reject) => connection.once('error', reject));
  const read = async (): Promise<void> => {
    let isOpen = false;
    for await (const line of linesOf(connection)) {
      // Earlier versions answer any word with their status.
      if (!isOpen && line !== TAP_OPEN) throw new UserError('the daemon is of a version that cannot be tapped');
      isOpen = true;
      received(line);
    }
  };
  try {
    await Promise.race([read(), failed]);
  } finally {
    connection.destroy();
  }
}
