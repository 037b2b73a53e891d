/** The journal grouped by body: its requests, their answers, and what the store must hold because of them. */
import type { BodyEntry, Entry, Status } from '../load/journal.ts';

export interface BodyHistory {
  readonly body: BodyEntry;
  readonly statuses: Status[];
  /** Answers 200 before which the commit was not visible in the database. */
  falseAcks: number;
  sends: number;
}

/**
 * `stored`: answered 200. `refused`: every answer was a final refusal. `open`: neither, so all of it or nothing is
 * stored.
 */
export type Outcome = 'stored' | 'refused' | 'open';

export function outcomeOf({ statuses, sends }: BodyHistory): Outcome {
  if (statuses.includes(200)) return 'stored';
  const isFinal = statuses.length === sends && statuses.every((status) => status !== 'unknown' && status < 500);
  return isFinal ? 'refused' : 'open';
}

export function historyOf(entries: readonly Entry[]): ReadonlyMap<number, BodyHistory> {
  const histories = new Map<number, BodyHistory>();
  for (const entry of entries) {
    if (entry.entry === 'body') {
      histories.set(entry.id, { body: entry, statuses: [], falseAcks: 0, sends: 0 });
      continue;
    }
    const history = histories.get(entry.body);
    if (history === undefined) throw new Error(`the journal names body ${entry.body} before it was made`);
    if (entry.entry === 'send') {
      history.sends++;
      continue;
    }
    history.statuses.push(entry.status);
    if (entry.committed === false) history.falseAcks++;
  }
  return histories;
}
