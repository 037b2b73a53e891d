/**
 * Resources and scopes, each stored once under the id of its content. They are written in the transaction of the rows
 * that refer to them, sorted, so that two writers of the same contents cannot deadlock. A connection remembers what
 * its server has; after a while it forgets, and the next use is noted as the content's last day of use, by which
 * contents are removed.
 */
import { CONTENT_ID_BYTES, fieldsOf, type SharedContent, type SharedContents } from '../../../pdata/shared-contents.ts';
import { BYTEA, fieldArray, JSONB, TEXT } from '../array-parameter.ts';
import type { Statement, Step } from '../wire-pipeline.ts';
import { asRowFault } from './row-fault.ts';

/** Remembered for each connection: some megabytes. Beyond it the one that was used least lately is forgotten. */
const MAX_KNOWN = 16384;
/** The day of last use that is stored is at most so much behind. Removal has a margin of days. */
const KNOWN_MS = 12 * 3600000;
/** What is put into a statement, and taken by the server, in a few milliseconds. */
const CONTENTS_PER_STATEMENT = 1024;
const BYTES_PER_STATEMENT = 4 * 1048576;
const LENGTH_BYTES = 4;
const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

/** What is known of today is left out: ON CONFLICT would lock it until the transaction ends. */
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

/** To be prepared once on each connection. */
export const CONTENT_STATEMENTS: readonly Required<Statement>[] = [KINDS.resource.statement, KINDS.scope.statement];

/** What the server of one connection is known to have committed. */
export class KnownContents {
  readonly #now: () => number;
  /** The one used last is the last. */
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

  /** To be called with what was committed only. */
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

/** The contents that are not known, in portions of a size for one statement. Found one portion at a time. */
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

/** Resources before scopes, as every writer. */
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
