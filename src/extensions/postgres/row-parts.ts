/**
 * The rows of a statement in parts of limited size. A row can have megabytes, also after many short ones, so the
 * connection is not read while a part is in use.
 */
import type { Socket } from 'node:net';
import pg from 'pg';
import type { ReaderRow } from '../../component/capabilities/postgres-reader.ts';
import { lengthOf } from '../../pdata/stored-text.ts';

/** A part ends with the row that reaches this size. */
const PART_CHARACTERS = 2 * 1024 * 1024;
/** The rows of one FETCH: the first, and the most. Between them as many as have about `PART_CHARACTERS`. */
const FIRST_ROWS = 25;
const MOST_ROWS = 500;

export interface Part {
  readonly rows: readonly ReaderRow[];
  readonly characters: number;
}

/** The connection of a statement whose rows are read in parts. */
export interface PartSource {
  /** Runs the statement, and translates its errors. */
  use(statement: (client: pg.ClientBase) => Promise<void>): Promise<void>;
  /** Cancels the statement on the server. */
  cancel(): void;
  /** Called when the caller stops before the last row. The other rows are received and dropped. */
  abandon(): void;
}

export interface PartTimes {
  /** The longest wait for one part; then the statement is cancelled. */
  readonly partMs: number;
  /** How long the driver waits for the end of the statement, with the time in which parts are in use; 0: no limit. */
  readonly driverMs: number;
}

export async function* rowParts(source: PartSource, text: string, times: PartTimes): AsyncGenerator<Part> {
  let stream: Socket | null = null;
  let part: ReaderRow[] = [];
  let characters = 0;
  let wake = (): void => undefined;
  let isEnded = false;
  let isAbandoned = false;
  const run = (client: pg.ClientBase): Promise<void> => {
    const socket = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
    stream = socket;
    const query = Object.assign(new pg.Query(text), { query_timeout: times.driverMs });
    query.on('row', (row: ReaderRow, result) => {
      // The driver would keep all rows until the end.
      if (result !== undefined) result.rows.length = 0;
      if (isAbandoned) return;
      part.push(row);
      characters += lengthOf([row]);
      if (characters < PART_CHARACTERS) return;
      socket.pause();
      wake();
    });
    return new Promise((resolve, reject) =>
      // The types of the driver have no callback for a query of its own.
      client.query(query as unknown as pg.QueryConfig, (error: Error | null) =>
        error === null ? resolve() : reject(error),
      ),
    );
  };
  const ended = source.use(run).finally(() => {
    isEnded = true;
    wake();
  });
  ended.catch(() => undefined);
  const resume = (): void => void stream?.resume();
  try {
    while (!isEnded || part.length > 0) {
      if (!isEnded && characters < PART_CHARACTERS) {
        const late = setTimeout(() => source.cancel(), times.partMs);
        await new Promise<void>((resolve) => (wake = resolve));
        clearTimeout(late);
      }
      const taken = { rows: part, characters };
      [part, characters] = [[], 0];
      if (taken.rows.length > 0) yield taken;
      resume();
    }
    await ended;
  } finally {
    isAbandoned = !isEnded;
    if (isAbandoned) source.abandon();
    resume();
  }
}

/** The rows of a cursor that is declared, in parts. `fetch` reads the parts of one statement. */
export async function* cursorRows(
  cursor: string,
  fetch: (text: string) => AsyncIterable<Part>,
): AsyncGenerator<readonly ReaderRow[]> {
  for (let size = FIRST_ROWS; ; ) {
    let [rows, characters] = [0, 0];
    for await (const part of fetch(`FETCH ${size} FROM ${cursor}`)) {
      rows += part.rows.length;
      characters += part.characters;
      yield part.rows;
    }
    if (rows < size) return;
    size = nextSize(rows, characters);
  }
}

function nextSize(rows: number, characters: number): number {
  const fitting = Math.floor((PART_CHARACTERS * rows) / Math.max(1, characters));
  return Math.min(MOST_ROWS, Math.max(1, fitting));
}
