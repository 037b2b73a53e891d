/** Messages of a server that a benchmark started with `fork`. */
import type { ChildProcess } from 'node:child_process';

/** The next message. Rejects when the process ends first. */
export function childMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (value) => resolve(value as T));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
