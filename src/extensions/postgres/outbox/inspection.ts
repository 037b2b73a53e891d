/** Reads and changes the outbox for the command line. A daemon may run at the same time. */
import type { PostgresDatabase } from '../../../component/capabilities/postgres.ts';
import type { Signal } from '../../../pdata/context.ts';

export interface DestinationRow {
  readonly destination: string;
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly oldestAt: Date | null;
  /** The attempts of the next entry; the entries behind it wait for it. */
  readonly attempts: number | null;
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
  readonly dead: number;
  readonly deadBytes: number;
}

export interface EntryRow {
  readonly sequence: string;
  readonly destination: string;
  readonly state: 'waiting' | 'dead';
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
  readonly bytes: number;
  readonly enqueuedAt: Date;
  readonly attempts: number;
  readonly deadAt: Date | null;
  readonly lastError: string | null;
}

/** The entries of a change: one, or all of a destination. */
export type Selection = { readonly sequence: string } | { readonly destination: string };

const DESTINATIONS = `
  SELECT t.*, head.attempts, head.next_attempt_at, head.last_error FROM (
    SELECT destination,
      count(*) FILTER (WHERE state = 'waiting')::int8 AS waiting, count(*) FILTER (WHERE state = 'dead')::int8 AS dead,
      coalesce(sum(bytes) FILTER (WHERE state = 'waiting'), 0)::int8 AS waiting_bytes,
      coalesce(sum(bytes) FILTER (WHERE state = 'dead'), 0)::int8 AS dead_bytes,
      min(enqueued_at) FILTER (WHERE state = 'waiting') AS oldest_at
    FROM sluice.outbox GROUP BY destination) t
  LEFT JOIN LATERAL (
    SELECT attempts, next_attempt_at, last_error FROM sluice.outbox o
    WHERE o.destination = t.destination AND o.state = 'waiting' ORDER BY sequence LIMIT 1) head ON true
  ORDER BY destination`;
const COLUMNS = `sequence::text, destination, state, signal, project, records, bytes, enqueued_at, attempts, dead_at, last_error`;
const DEAD = `
  SELECT ${COLUMNS} FROM sluice.outbox WHERE state = 'dead' AND ($1::text IS NULL OR destination = $1)
  ORDER BY outbox.sequence DESC LIMIT $2`;
const ONE = `SELECT ${COLUMNS}, body FROM sluice.outbox WHERE sequence = $1`;
const REPLAY = `
  UPDATE sluice.outbox SET state = 'waiting', attempts = 0, first_attempt_at = NULL, next_attempt_at = NULL, dead_at = NULL
  WHERE state = 'dead' AND`;

export class OutboxInspection {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async destinations(): Promise<readonly DestinationRow[]> {
    const { rows } = await this.#database.query(DESTINATIONS);
    return rows.map((row) => ({
      destination: String(row['destination']),
      waiting: Number(row['waiting']),
      waitingBytes: Number(row['waiting_bytes']),
      oldestAt: row['oldest_at'] as Date | null,
      attempts: row['attempts'] as number | null,
      nextAttemptAt: row['next_attempt_at'] as Date | null,
      lastError: row['last_error'] as string | null,
      dead: Number(row['dead']),
      deadBytes: Number(row['dead_bytes']),
    }));
  }

  /** Newest first. */
  async deadLetters(destination: string | null, limit: number): Promise<readonly EntryRow[]> {
    const { rows } = await this.#database.query(DEAD, [destination, limit]);
    return rows.map(entryOf);
  }

  async find(sequence: string): Promise<{ readonly entry: EntryRow; readonly body: Buffer } | null> {
    const { rows } = await this.#database.query(ONE, [sequence]);
    const [row] = rows;
    return row === undefined ? null : { entry: entryOf(row), body: row['body'] as Buffer };
  }

  /** Dead letters wait again, at their former place. Returns their number. */
  async replay(selection: Selection): Promise<number> {
    const [condition, value] = conditionOf(selection);
    return (await this.#database.query(`${REPLAY} ${condition}`, [value])).rowCount ?? 0;
  }

  /** `state` null: any state. Returns the number of entries. */
  async drop(selection: Selection, state: 'dead' | null): Promise<number> {
    const [condition, value] = conditionOf(selection);
    const { rowCount } = await this.#database.query(
      `DELETE FROM sluice.outbox WHERE ($2::text IS NULL OR state = $2) AND ${condition}`,
      [value, state],
    );
    return rowCount ?? 0;
  }
}

function conditionOf(selection: Selection): readonly [string, string] {
  return 'sequence' in selection
    ? ['sequence = $1::int8', selection.sequence]
    : ['destination = $1', selection.destination];
}

function entryOf(row: Readonly<Record<string, unknown>>): EntryRow {
  return {
    sequence: String(row['sequence']),
    destination: String(row['destination']),
    state: row['state'] === 'dead' ? 'dead' : 'waiting',
    signal: row['signal'] as Signal,
    project: String(row['project']),
    records: Number(row['records']),
    bytes: Number(row['bytes']),
    enqueuedAt: row['enqueued_at'] as Date,
    attempts: Number(row['attempts']),
    deadAt: row['dead_at'] as Date | null,
    lastError: row['last_error'] as string | null,
  };
}
