/** Progress lines on standard error: soon at first, then less often, so that a long copy does not fill a log. */
import type { Report } from '../../extensions/postgres/transfer/progress.ts';
import { formatBytes, formatCount } from './format.ts';

const FIRST_MS = 2_000;
const LONGEST_MS = 30_000;

export function progressLines(say: (text: string) => void): Report {
  let [pauseMs, due] = [FIRST_MS, performance.now() + FIRST_MS];
  return ({ unit, rows, bytes, share }) => {
    if (performance.now() < due) return;
    pauseMs = Math.min(pauseMs * 2, LONGEST_MS);
    due = performance.now() + pauseMs;
    const percent = share === null ? '' : `${Math.floor(Math.min(share, 1) * 100)} %, `;
    say(`${percent}${formatCount(rows)} rows, ${formatBytes(bytes)}; now ${unit}`);
  };
}
