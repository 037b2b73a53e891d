/** Parts of many spans, put beside those of a daemon: as large as wanted, without the time of their requests. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { compress, CODEC } from '../../src/exporters/objects/compress.ts';
import { keyOf, newObjectId } from '../../src/exporters/objects/object-key.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { readPart } from './stored-parts.ts';

const SPANS_OF_PART = 64;

/** Copies the first span with other ids and a text of `textBytes`, which compresses to about a quarter, or less. */
export async function addParts(
  { client, store }: { readonly client: pg.Client; readonly store: ObjectStore },
  { parts, textBytes, repeats = 4 }: { readonly parts: number; readonly textBytes: number; readonly repeats?: number },
): Promise<void> {
  const { rows } = await client.query("SELECT * FROM sluice.parts WHERE signal = 'spans' LIMIT 1");
  const [span] = (await readPart(rows[0], store)).rows;
  for (let part = 0; part < parts; part++) {
    const traceId = randomBytes(16).toString('hex');
    const lines = Array.from({ length: SPANS_OF_PART }, () => {
      const text = randomBytes(textBytes / (2 * repeats))
        .toString('hex')
        .repeat(repeats);
      return `${JSON.stringify({ ...span, trace_id: traceId, span_id: randomBytes(8).toString('hex'), input_content: text })}\n`;
    });
    const bytes = await compress([Buffer.from(lines.join(''))]);
    const id = newObjectId(Date.now());
    await store.put(keyOf(id, CODEC), bytes);
    await client.query(
      "INSERT INTO sluice.parts (object_id, first_byte, bytes, codec, signal, project, records) VALUES ($1, 0, $2, $3, 'spans', $4, $5)",
      [id, bytes.length, CODEC, rows[0].project, SPANS_OF_PART],
    );
  }
}
