/**
 * Resources and scopes, each stored once under the id of its content. They are written in the transaction of the rows
 * that refer to them, sorted, so that two writers of the same contents cannot deadlock. A connection remembers the
 * contents that its server has stored. An entry expires after some time, and the next use is recorded as the content's
 * last day of use, which decides the removal.
 */
import { CONTENT_ID_BYTES, fieldsOf, type SharedContent, type SharedContents } from '../../../pdata/shared-contents.ts';
import { BYTEA, fieldArray, JSONB, TEXT } from '../array-parameter.ts';
import type { Statement, Step } from '../wire-pipeline.ts';
import { asRowFault } from './row-fault.ts';
import { HOUR_MS } from '../../../pdata/time-units.ts';

/** The limit per connection: some megabytes. Beyond it the least recently used one is dropped. */
const MAX_KNOWN = 16384;
/** The stored day of last use lags at most this much. Removal has a margin of days. */
const KNOWN_MS = 12 * HOUR_MS;
/** Built into a statement, and executed by the server, within a few milliseconds. */
const CONTENTS_PER_STATEMENT = 1024;
const BYTES_PER_STATEMENT = 4 * 1048576;
const LENGTH_BYTES = 4;
const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

/** Contents used today are left out: ON CONFLICT would lock them until the transaction ends. */
function shareStatement(
  name: string,
  table: string,
  columns: readonly (readonly [string, string])[],
): Required<Statement> {
  const names = ['id', ...columns.map(([column]) => column)].join(', ');
  const arrays = columns.map(([, type], index) => `$${index + 2}::${type}[]`);
  return {
    name,
    text: `
      INSERT INTO sluice.${table} AS t (${names}, used_on)
      SELECT ${names}, ${TODAY} FROM unnest($1::bytea[], ${arrays.join(', ')}) AS u (${names})
      WHERE NOT EXISTS (SELECT FROM sluice.${table} k WHERE k.id = u.id AND k.used_on >= ${TODAY}) ORDER BY id
      ON CONFLICT (id) DO UPDATE SET used_on = excluded.used_on WHERE t.used_on < excluded.used_on`,
  };
}

const KINDS = {
  resource: {
    statement: shareStatement('share-resources', 'resources', [
      ['project', 'text'],
      ['body', 'jsonb'],
    ]),
    types: [TEXT, JSONB],
  },
  scope: {
    statement: shareStatement('share-scopes', 'scopes', [
      ['project', 'text'],
      ['name', 'text'],
      ['version', 'text'],
      ['attributes', 'jsonb'],
    ]),
    types: [TEXT, TEXT, TEXT, JSONB],
  },
} as const;

/** Prepared once on each connection. */
export const CONTENT_STATEMENTS: readonly Required<Statement>[] = [KINDS.resource.statement, KINDS.scope.statement];

/** The contents that the server of one connection has committed. */
export class KnownContents {
  readonly #now: () => number;
  /** The most recently used one is the last. */
  readonly #ids = new Set<string>();
  #sinceMs: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#sinceMs = now();
  }

  has(id: string): boolean {
    if (this.#now() - this.#sinceMs > KNOWN_MS) {
      this.#ids.clear();
      this.#sinceMs = this.#now();
    }
    if (!this.#ids.delete(id)) return false;
    this.#ids.add(id);
    return true;
  }

  /** Only for committed contents. */
  add(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#ids.delete(id);
      this.#ids.add(id);
    }
    for (const oldest of this.#ids) {
      if (this.#ids.size <= MAX_KNOWN) return;
      this.#ids.delete(oldest);
    }
  }
}

export type Portion = ReadonlyMap<string, SharedContent>;

/** The unknown contents, in portions for one statement each. Found lazily, one portion at a time. */
export function* unknownPortions(groups: readonly SharedContents[], known: KnownContents): Generator<Portion> {
  let portion = new Map<string, SharedContent>();
  let bytes = 0;
  for (const contents of groups) {
    for (const content of contents) {
      if (portion.has(content.id) || known.has(content.id)) continue;
      portion.set(content.id, content);
      bytes += content.bytes.length;
      if (portion.size < CONTENTS_PER_STATEMENT && bytes < BYTES_PER_STATEMENT) continue;
      yield portion;
      portion = new Map();
      bytes = 0;
    }
  }
  if (portion.size > 0) yield portion;
}

/** Resources before scopes, in the order of all writers. */
export function shareSteps(portion: Portion): readonly Step[] {
  const contents = [...portion.values()];
  return (['resource', 'scope'] as const).flatMap((kind) => {
    const own = contents.filter((content) => content.kind === kind);
    if (own.length === 0) return [];
    const { statement, types } = KINDS[kind];
    const rows = own.map(fieldsOf);
    const chunks = [
      ...fieldArray(
        BYTEA,
        own.map(({ id }) => idField(id)),
      ),
    ];
    for (const [index, type] of types.entries()) {
      const column = rows.map((fields) => fields[index] as Buffer);
      chunks.push(...fieldArray(type, column));
    }
    return [{ statement, fields: { count: types.length + 1, chunks }, translate: asRowFault }];
  });
}

function idField(id: string): Buffer {
  const field = Buffer.alloc(LENGTH_BYTES + CONTENT_ID_BYTES);
  field.writeInt32BE(CONTENT_ID_BYTES);
  field.write(id, LENGTH_BYTES, 'latin1');
  return field;
}
