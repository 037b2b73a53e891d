/**
 * Rows as parameters of INSERT, for rows that may be stored already, when no temporary table can be created. A field of
 * a COPY tuple has the format of a binary parameter, a length and its bytes, so fields are sent unchanged. Measured:
 * for small spans the server needs twice the time of COPY into a temporary table and INSERT from there, for large ones
 * a fifth more.
 */
import { partOf } from '../../../pdata/buffer-view.ts';
import type { Step } from '../wire-pipeline.ts';

/** Parsing costs time per parameter, and executing per statement: a larger number gains nothing. */
const ROWS_PER_STATEMENT = 16;
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;

export interface BoundRows {
  /** With its schema. */
  readonly table: string;
  readonly columns: readonly string[];
  /** From `tuplesIn`. */
  readonly tuples: readonly Buffer[];
}

/** Stores the rows that are not stored yet. `stored` receives their number by project. */
export function insertSteps(rows: BoundRows, stored: (project: string, count: number) => void): readonly Step[] {
  const { table, columns, tuples } = rows;
  const steps: Step[] = [];
  const full = insertText(table, columns, Math.min(tuples.length, ROWS_PER_STATEMENT));
  for (let at = 0; at < tuples.length; at += ROWS_PER_STATEMENT) {
    const chunks = tuples.slice(at, at + ROWS_PER_STATEMENT);
    const isFull = at === 0 || chunks.length === ROWS_PER_STATEMENT;
    steps.push({
      statement: { text: isFull ? full : insertText(table, columns, chunks.length) },
      fields: { count: chunks.length * columns.length, chunks },
      read: (result) => {
        for (const [project, count] of result.rows) stored(String(project), Number(count));
      },
    });
  }
  return steps;
}

/**
 * The fields of each COPY BINARY tuple, without the field count: the tuples that end in each chunk, chunk by chunk. A
 * tuple may be split among chunks.
 */
export function* tuplesIn(chunks: readonly Buffer[], columnCount: number): Generator<readonly Buffer[]> {
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const tuples: Buffer[] = [];
    let begin = 0;
    for (;;) {
      const end = endOfTuple(bytes, begin, columnCount);
      if (end === null) break;
      tuples.push(partOf(bytes, begin + COUNT_BYTES, end));
      begin = end;
    }
    rest = partOf(bytes, begin, bytes.length);
    yield tuples;
  }
  if (rest.length > 0) throw new Error('the last tuple is not whole');
}

/** Null when the tuple continues after these bytes. */
function endOfTuple(bytes: Buffer, begin: number, columnCount: number): number | null {
  if (begin + COUNT_BYTES > bytes.length) return null;
  if (bytes.readInt16BE(begin) !== columnCount) throw new Error('a tuple has another number of columns');
  let at = begin + COUNT_BYTES;
  for (let column = 0; column < columnCount; column++) {
    if (at + LENGTH_BYTES > bytes.length) return null;
    at += LENGTH_BYTES + Math.max(0, bytes.readInt32BE(at));
  }
  return at > bytes.length ? null : at;
}

function insertText(table: string, columns: readonly string[], rowCount: number): string {
  const values = Array.from({ length: rowCount }, (_, row) => {
    const parameters = columns.map((_, column) => `$${row * columns.length + column + 1}`);
    return `(${parameters.join(', ')})`;
  });
  return `
    WITH stored AS (
      INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')} ON CONFLICT DO NOTHING RETURNING project)
    SELECT project, count(*)::int4 FROM stored GROUP BY project`;
}
