/**
 * Compares the journal of the senders with the store. A request answered 200 is stored once. A refused request leaves
 * nothing. A request without an answer is stored as a whole or not at all. Rows account for every counter, marker and
 * claim.
 */
import type { BodyEntry, Entry } from '../load/journal.ts';
import { Findings } from './findings.ts';
import { type BodyHistory, outcomeOf, historyOf } from './history.ts';
import { checkLedger } from './ledger-rules.ts';
import type { Store, StoredRecord } from './store.ts';

/**
 * `once`: the ledger is in the store's own transaction. `once_a_body`: likewise, and a span that was sent again in
 * other bytes is stored again. `at_least_once`: the store is a file that a crash or a failed commit may leave with more
 * than was acknowledged, though never with less.
 */
export type Guarantee = 'once' | 'once_a_body' | 'at_least_once';

/** What the rules read, indexed. */
export interface Case {
  readonly store: Store;
  readonly histories: ReadonlyMap<number, BodyHistory>;
  /** The rows of each record, by `keyOf`: two projects may send the same bytes. */
  readonly rows: ReadonlyMap<string, readonly StoredRecord[]>;
  /** The bodies that carry a record; more than one when a span was sent again in other bytes. */
  readonly carriers: ReadonlyMap<string, readonly BodyHistory[]>;
  readonly findings: Findings;
}

export function check(entries: readonly Entry[], store: Store, guarantee: Guarantee = 'once'): Findings {
  const one = open(entries, store);
  for (const history of one.histories.values()) {
    checkAnswers(history, one.findings);
    checkRows(history, one, guarantee);
  }
  checkForeign(one);
  if (store.ledger !== null) checkLedger(one, store.ledger);
  return one.findings;
}

function open(entries: readonly Entry[], store: Store): Case {
  const histories = historyOf(entries);
  const rows = new Map<string, StoredRecord[]>();
  for (const row of store.records) {
    const key = keyOf(row.project, row.record ?? '');
    const list = rows.get(key);
    if (list === undefined) rows.set(key, [row]);
    else list.push(row);
  }
  const carriers = new Map<string, BodyHistory[]>();
  for (const history of histories.values()) {
    for (const record of history.body.records) {
      const key = keyOf(history.body.project, record);
      const list = carriers.get(key);
      if (list === undefined) carriers.set(key, [history]);
      else list.push(history);
    }
  }
  return { store, histories, rows, carriers, findings: new Findings() };
}

/** The allowed answers. 503 and no answer are always allowed. */
const ALLOWED: Readonly<Record<BodyEntry['nature'], readonly number[]>> = {
  sound: [200],
  contested: [200, 403, 409],
  limited: [200, 429],
  foreign_environment: [403],
  broken: [400],
};

function checkAnswers({ body, statuses, falseAcks }: BodyHistory, findings: Findings): void {
  for (const status of statuses) {
    if (status === 'unknown' || status === 503 || ALLOWED[body.nature].includes(status)) continue;
    findings.add('wrong_answer', `${nameOf(body)} is ${body.nature} and was answered ${status}`);
  }
  if (falseAcks > 0) findings.add('false_200', `${nameOf(body)} was answered 200 before its marker could be seen`);
  const first = statuses.indexOf(200);
  const after = statuses.slice(first + 1).filter((status) => status !== 'unknown' && status < 500 && status !== 200);
  // Duplicates are answered in any order, but an accepted body is never refused later for its content.
  if (first >= 0 && after.length > 0 && body.nature === 'sound')
    findings.add('wrong_answer', `${nameOf(body)} was answered 200, then ${after[0]}`);
}

function checkRows(history: BodyHistory, { rows, carriers, findings, store }: Case, guarantee: Guarantee): void {
  const { body } = history;
  const outcome = outcomeOf(history);
  const { own, all } = keysOf(history, carriers);
  const present = own.filter((key) => rows.has(key)).length;
  const where = `${nameOf(body)} (${history.statuses.join(', ') || 'not answered'}) in ${store.name}`;
  if (outcome === 'stored') {
    const missing = all.filter((key) => !rows.has(key));
    if (missing.length > 0) findings.add('lost', `${where}: ${missing.length} of ${all.length} records are missing`);
  } else if (outcome === 'refused' && present > 0) {
    findings.add('residue', `${where}: refused, and ${present} of ${own.length} records are stored`);
  } else if (outcome === 'open' && guarantee !== 'at_least_once' && present > 0 && present < own.length) {
    findings.add('partial', `${where}: ${present} of ${own.length} records are stored`);
  }
  if (guarantee === 'at_least_once' && (history.sends > 1 || outcome !== 'stored')) return;
  // Files and objects are not compared with earlier ones: a span that is sent again in other bytes is written twice.
  const unique = guarantee === 'once' ? all : own;
  const twice = unique.filter((key) => (rows.get(key)?.length ?? 0) > 1);
  if (twice.length > 0) findings.add('duplicate', `${where}: ${twice.length} records are stored more than once`);
}

/** Every row belongs to a record that was sent, in a project and environment its sender may write. */
function checkForeign({ store, carriers, findings }: Case): void {
  for (const row of store.records) {
    const senders = carriers.get(keyOf(row.project, row.record ?? '')) ?? [];
    const fits = senders.some(
      ({ body }) =>
        body.project === row.project &&
        body.environment === row.environment &&
        body.signal === row.signal &&
        (row.traceId === null || body.traces.includes(row.traceId)),
    );
    if (!fits) {
      findings.add(
        'foreign',
        `${store.name} has a row of ${row.project}/${row.environment} named ${row.record}, which ${senders.length === 0 ? 'was not sent there' : 'was sent with other values'}`,
      );
    }
  }
}

function keyOf(project: string, record: string): string {
  return `${project} ${record}`;
}

/** The records of a body that no other body carries, and all of them; as keys. */
export function keysOf({ body }: BodyHistory, carriers: Case['carriers']): { own: string[]; all: string[] } {
  const all = body.records.map((record) => keyOf(body.project, record));
  return { all, own: all.filter((key) => carriers.get(key)?.length === 1) };
}

export function nameOf({ id, project, signal }: Pick<BodyEntry, 'id' | 'project' | 'signal'>): string {
  return `body ${id} (${signal} of ${project})`;
}
