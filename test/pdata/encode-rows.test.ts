/** Encoding whole batches: pieces, pooled buffers, and the limits of one request's rows. */
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';
import { OUTPUT_BASE, ROWS_SOFT_LIMIT, SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { type RowRoom, UNBOUNDED } from '../../src/pdata/row-room.ts';
import { encodeRows } from '../../src/pdata/encode-rows.ts';
import { TestTables } from '../support/tables.ts';

const tables = new TestTables();

function logs(count: number, length: number) {
  const logRecords = Array.from({ length: count }, (_, i) => ({ body: { stringValue: `${i} ${'x'.repeat(length)}` } }));
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
}

/** Room for this many bytes in total. */
function roomFor(limit: number): RowRoom {
  let left = limit;
  return {
    get left() {
      return left;
    },
    reserve(bytes) {
      if (bytes > left) throw new Rejection('body_too_large');
      left -= bytes;
    },
  };
}

t.test('a large batch is encoded in several pieces of whole rows', async (t) => {
  const batch = tables.batch(SIGNAL_LOGS, logs(300, 20_000));
  const rows = encodeRows(batch, 'ndjson', new ChunkPool());
  t.ok(rows.chunks.length > 3);
  t.equal(rows.count, 300);
  t.equal(rows.signal, 'logs');
  t.equal(
    rows.bytes,
    rows.chunks.reduce((sum, chunk) => sum + chunk.length, 0),
  );
  let next = 0;
  for (const chunk of rows.chunks) {
    t.ok(chunk.length < ROWS_SOFT_LIMIT + 100_000, 'a piece ends soon after the limit');
    for (const line of chunk.toString('utf8').trimEnd().split('\n')) {
      t.match(JSON.parse(line).body, `${next++} xxx`);
    }
  }
  t.equal(next, 300);
});

t.test('chunks keep their bytes while the next request is encoded, and are reused once released', async (t) => {
  const pool = new ChunkPool();
  const first = encodeRows(tables.batch(SIGNAL_LOGS, logs(2, 3000)), 'ndjson', pool);
  const before = Buffer.concat(first.chunks).toString('utf8');
  const second = encodeRows(tables.batch(SIGNAL_LOGS, logs(2, 4000)), 'copy', pool);
  t.equal(Buffer.concat(first.chunks).toString('utf8'), before);
  const place = first.chunks[0]?.byteOffset;
  t.not(second.chunks[0]?.byteOffset, place);
  first.release();
  first.release();
  const third = encodeRows(tables.batch(SIGNAL_LOGS, logs(1, 3000)), 'ndjson', pool);
  t.equal(third.chunks[0]?.byteOffset, place, 'the buffer is from the pool');
  const fourth = encodeRows(tables.batch(SIGNAL_LOGS, logs(1, 3000)), 'ndjson', pool);
  t.not(fourth.chunks[0]?.byteOffset, place, 'a second release returned nothing');
});

t.test('a request whose rows exceed the limit is refused, and all its buffers are returned', async (t) => {
  const pool = new ChunkPool();
  const batch = tables.batch(SIGNAL_LOGS, logs(300, 20_000));
  batch.rowRoom = roomFor(2_500_000);
  t.throws(() => encodeRows(batch, 'ndjson', pool), { code: 'body_too_large' });
  t.ok(pool.heldBytes > 0);
  t.equal(pool.usedBytes, 0, 'all buffers were returned');
  batch.rowRoom = UNBOUNDED;
  t.equal(encodeRows(batch, 'ndjson', pool).count, 300);
});

t.test('a request that no room could hold is refused before its first row is encoded', async (t) => {
  const spans = Array.from({ length: 100 }, () => ({
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, 1),
    startTimeUnixNano: 1,
    kind: 2,
    status: { code: 1 },
  }));
  const points = { gauge: { dataPoints: Array.from({ length: 100 }, () => ({ timeUnixNano: 1 })) } };
  const batches = [
    () => tables.batch(SIGNAL_TRACES, { resourceSpans: [{ scopeSpans: [{ spans }] }] }),
    () => tables.batch(SIGNAL_LOGS, logs(100, 0)),
    () => tables.batch(SIGNAL_METRICS, { resourceMetrics: [{ scopeMetrics: [{ metrics: [points] }] }] }),
  ];
  for (const batchOf of batches) {
    for (const format of ['ndjson', 'copy'] as const) {
      const batch = batchOf();
      const { bytes } = encodeRows(batch, format, new ChunkPool());
      batch.rowRoom = roomFor(bytes);
      t.equal(encodeRows(batch, format, new ChunkPool()).bytes, bytes, 'the smallest rows still fit their room');
      batch.rowRoom = roomFor(bytes / 2);
      const pool = new ChunkPool();
      t.throws(() => encodeRows(batch, format, pool), { code: 'body_too_large' });
      t.equal(pool.heldBytes, 0, `${batch.signal} ${format}: nothing was taken`);
    }
  }
});

t.test(
  'encoding a single row stops soon after the room of its request is used up, not at the end of the output',
  async (t) => {
    const value = { stringValue: '\u0001'.repeat(1_000_000) };
    const batch = tables.batch(SIGNAL_LOGS, { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: value }] }] }] });
    batch.rowRoom = roomFor(1_000_000);
    const { memory } = batch.tables;
    memory.u8.fill(0, OUTPUT_BASE, OUTPUT_BASE + 7_000_000);
    t.throws(() => encodeRows(batch, 'ndjson', new ChunkPool()), { code: 'body_too_large' });
    const touched = memory.u8.subarray(OUTPUT_BASE, OUTPUT_BASE + 7_000_000).findLastIndex((byte) => byte !== 0);
    t.ok(touched < 1_500_000, `${touched} bytes were written`);
  },
);

t.test('a row that does not fit into the output is refused as too large, never truncated', async (t) => {
  const long = { key: 'k', value: { stringValue: '\u0001'.repeat(15_500_000) } };
  const huge = tables.batch(SIGNAL_LOGS, { resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes: [long] }] }] }] });
  t.equal(encodeRows(huge, 'ndjson', new ChunkPool()).bytes > 93_000_000, true, 'six times the largest body fits');
  // The same text as a derived field as well: now the row does not fit.
  huge.records.goto(0).derived = huge.derived.create();
  huge.derived.setAttribute(0, 0);
  try {
    encodeRows(huge, 'ndjson', new ChunkPool());
    t.fail('it was accepted');
  } catch (error) {
    t.ok(error instanceof Rejection);
    t.equal((error as Rejection).code, 'body_too_large');
  }
});
