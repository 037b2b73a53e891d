/**
 * The time and the memory that `sluice archive` needs for one day of model calls, for each limit of memory. The peak is
 * of its whole process, by the kernel (Linux). The spans are generated in the database; `--text` is the length of a
 * prompt. With the defaults it needs 6 GB for temporary files.
 *
 *   node dist/bench/archive-memory.js [--spans 1000000] [--text 800] [--memory 512MiB,1GiB]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from './arguments.ts';
import { BenchDatabase } from './database.ts';
import { runCommand } from './measured-command.ts';
import { printHead, printRow } from './table.ts';
import { DAY_MS } from '../src/pdata/time-units.ts';

const AGE_DAYS = 3;
const SPANS_OF_TRACE = 8;
/** A prompt is hashes in hex, which do not repeat. */
const HASH_LENGTH = 32;
const BATCH = 20_000;

const FILL = `
  INSERT INTO sluice.spans (project, environment, service_name, trace_id, span_id, name, kind, status, start_time_unix_nano,
    end_time_unix_nano, duration_ns, category, operation, request_model, input_tokens, output_tokens, usage_scope, input_content, resource, attributes, received_at)
  SELECT 'project-' || (n / ${SPANS_OF_TRACE}) % 4, 'default', 'shop', decode(md5((n / ${SPANS_OF_TRACE})::text), 'hex'),
    decode(lpad(to_hex(n), 16, '0'), 'hex'), 'chat', 'client', 'unset', $3::int8 + n * 20000, $3::int8 + n * 20000 + 10000, 10000,
    'model_call', 'chat', 'gpt-5-mini', n % 4000, n % 800, 'own',
    (SELECT string_agg(md5(n || '/' || each), '') FROM generate_series(1, $4::int4) each), '{"service.name": "shop"}',
    jsonb_build_object('app.request', md5(n::text)), now()
  FROM generate_series($1::int8, $2::int8) AS n`;

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      spans: { type: 'string', default: '1000000' },
      text: { type: 'string', default: '800' },
      memory: { type: 'string', default: '512MiB,1GiB' },
    },
  });
  const spans = Number(values.spans);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-archive-'));
  const bench = await BenchDatabase.open();
  const query = bench.database.query.bind(bench.database);
  try {
    await bench.openDays(AGE_DAYS);
    const startNs = BigInt(Math.floor(Date.now() / DAY_MS) - AGE_DAYS) * BigInt(DAY_MS) * 1_000_000n;
    const hashes = Math.ceil(Number(values.text) / HASH_LENGTH);
    for (let from = 0; from < spans; from += BATCH)
      await query(FILL, [from, Math.min(from + BATCH, spans) - 1, String(startNs), hashes]);
    // An automatic vacuum of the new rows would hold a lock for longer than the archive waits.
    const limits = { statementTimeoutMs: 3_600_000, lockTimeoutMs: 600_000 };
    await bench.database.session(limits, (each) => each('VACUUM ANALYZE sluice.spans'));
    const [size] = (
      await query(`SELECT sum(pg_total_relation_size(inhrelid))::float8 AS bytes FROM pg_inherits
        WHERE inhparent = 'sluice.spans'::regclass`)
    ).rows;
    const before = Math.round(Number(size?.['bytes']) / spans);
    console.log(`${spans.toLocaleString('en')} spans of one day, ${before} bytes each in PostgreSQL\n`);
    printHead(['--memory', 'peak of the process', 'spans a second', 'bytes a span']);
    for (const memory of values.memory.split(',')) {
      const words = ['archive', '--to', join(folder, memory), '--older-than', '1d', '--memory', memory];
      const { seconds, peakMib } = await runCommand(words, 'gateway.yaml', { env: { DATABASE_URL: bench.url } });
      const { rows } = await query(
        'SELECT sum(bytes)::float8 AS bytes, sum(records)::float8 AS records FROM sluice.lake_jobs',
      );
      if (Number(rows[0]?.['records']) !== spans) throw new Error(`${rows[0]?.['records']} spans are archived`);
      const rate = Math.round(spans / seconds).toLocaleString('en');
      printRow([memory, `${peakMib} MiB`, rate, String(Math.round(Number(rows[0]?.['bytes']) / spans))]);
      await query('DELETE FROM sluice.lake_jobs');
    }
  } finally {
    await bench.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
