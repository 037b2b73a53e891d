/** A server's file of JSON: waits until it stops growing, and counts its spans. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than the Collector's flush interval of one second. */
const QUIET_MS = 1300;
const POLL_MS = 100;

export async function untilQuiet(path: string): Promise<void> {
  let size = -1;
  for (let since = performance.now(); performance.now() - since < QUIET_MS; await pause(POLL_MS)) {
    // While it is rotated, it may be missing.
    const now = (await stat(path).catch(() => null))?.size ?? -1;
    if (now !== size) since = performance.now();
    size = now;
  }
}

/** The number of occurrences of a text. */
export async function countIn(path: string, text: string): Promise<number> {
  const sought = Buffer.from(text);
  let count = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 22 })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    let end = 0;
    for (let at = bytes.indexOf(sought); at >= 0; at = bytes.indexOf(sought, end)) {
      count++;
      end = at + sought.length;
    }
    rest = bytes.subarray(Math.max(end, bytes.length - sought.length + 1));
  }
  return count;
}
