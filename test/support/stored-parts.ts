/** What the parts of a database name: the rows of accepted requests, read from their objects by range. */
import { gunzipSync } from 'node:zlib';
import { keyOf } from '../../src/exporters/objects/object-key.ts';
import { type ObjectStore, readObject } from '../../src/object-store/object-store.ts';
import { parseLines } from './daemon.ts';

export interface StoredPart {
  readonly object: string;
  readonly signal: string;
  readonly project: string;
  readonly records: number;
  readonly rows: readonly Record<string, unknown>[];
}

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

export async function readParts(query: Query, store: ObjectStore): Promise<readonly StoredPart[]> {
  const parts: StoredPart[] = [];
  for (const row of await query('SELECT * FROM sluice.parts ORDER BY received_at, object_id, first_byte')) {
    if (row['codec'] !== 'gzip') throw new Error(`this test reads gzip, not ${row['codec']}`);
    const object = keyOf(row['object_id'] as Buffer, 'gzip');
    const range = { offset: Number(row['first_byte']), length: Number(row['bytes']) };
    const rows = parseLines(gunzipSync(await readObject(store, object, range)).toString());
    parts.push({
      object,
      signal: String(row['signal']),
      project: String(row['project']),
      records: Number(row['records']),
      rows,
    });
  }
  return parts;
}
