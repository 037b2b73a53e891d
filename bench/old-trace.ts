/**
 * The time and the bytes that `sluice trace` needs to find a trace of the oldest day of an archive, with one file a
 * day: while its claim is in the database, and by its id alone. The files are synthetic, and written as the archive
 * writes them. Needs their space in the folder for temporary files: with the defaults 6 GB. `--text` is the length of a
 * prompt.
 *
 *   node dist/bench/old-trace.js [--days 1096] [--spans 10000] [--text 800] [--rounds 5]
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Duck, literal } from '../src/archive/duckdb.ts';
import { keyOf } from '../src/archive/lake-jobs.ts';
import { tableOf } from '../src/archive/lake-table.ts';
import { recordPlace } from '../src/archive/reading/archived-files.ts';
import { Staging } from '../src/archive/staging.ts';
import { median } from '../src/cli/bench/figures.ts';
import { readArguments } from './arguments.ts';
import { BenchDatabase } from './database.ts';
import { printHead, printRow } from './table.ts';
import { DAY_MS } from '../src/pdata/time-units.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SPANS = tableOf('spans');
const SPANS_OF_TRACE = 8;
const PROJECTS = 4;
/** The prompt is hashes in hex, which do not repeat. */
const HASH_LENGTH = 32;
const GENERATED: Readonly<Record<string, string>> = {
  signal: "'span'",
  project: `'project-' || (n // ${SPANS_OF_TRACE}) % ${PROJECTS}`,
  environment: "'default'",
  service_name: "'shop'",
  trace_id: `(n // ${SPANS_OF_TRACE})::text`,
  span_id: "right('000000000000000' || to_hex(n), 16)",
  name: "'chat'",
  kind: "'client'",
  status: "'unset'",
  start_time_unix_nano: 'n * 1000000',
  end_time_unix_nano: 'n * 1000000 + 900000',
  duration_ns: '900000',
  category: "'model_call'",
  operation: "'chat'",
  request_model: "'gpt-5-mini'",
  input_tokens: 'n % 4000',
  output_tokens: 'n % 800',
  resource: `'{"service.name": "shop"}'`,
  attributes: `'{"app.request": "' || md5(n::text) || '"}'`,
};

interface File {
  readonly job: string;
  readonly day: string;
  readonly bytes: number;
}

interface Size {
  readonly days: number;
  /** Spans of a day. */
  readonly spans: number;
  readonly textLength: number;
}

async function writeFiles(duck: Duck, lake: string, { days, spans, textLength }: Size): Promise<readonly File[]> {
  const hashes = Math.ceil(textLength / HASH_LENGTH);
  const text = `array_to_string([md5(n::text || '/' || each) FOR each IN range(${hashes})], '')`;
  const generated = { ...GENERATED, input_content: text };
  const list = SPANS.columns.map(
    ({ name, type }) => `(${generated[name as keyof typeof generated] ?? 'NULL'})::${type} AS "${name}"`,
  );
  await duck.run(`CREATE TABLE base AS SELECT ${list.join(', ')} FROM (SELECT range AS n FROM range(${spans}))`);
  const base = join(lake, 'base.parquet');
  await duck.run(`COPY base TO ${literal(base)} (FORMAT parquet)`);
  const staging = new Staging(duck, SPANS);
  await staging.choose(base, 'false');
  const files: File[] = [];
  const today = Math.floor(Date.now() / DAY_MS);
  for (let number = 0; number < days; number++) {
    const startMs = (today - 1 - days + number) * DAY_MS;
    const day = new Date(startMs).toISOString().slice(0, 10);
    const at = (name: string): string => `${name} + ${startMs}000000 AS ${name}`;
    await duck.run(`CREATE OR REPLACE VIEW chosen AS SELECT rowid AS row_number, * REPLACE (
      md5(trace_id || '/${day}') AS trace_id, ${at('start_time_unix_nano')}, ${at('end_time_unix_nano')},
      TIMESTAMPTZ '${day} 12:00:00+00' AS received_at) FROM base`);
    const job = String(number + 1);
    const path = join(lake, keyOf('spans', day, job));
    mkdirSync(dirname(path), { recursive: true });
    await staging.write(path, { job, token: 'bench' });
    files.push({ job, day, bytes: statSync(path).size });
  }
  rmSync(base);
  return files;
}

async function record({ database }: BenchDatabase, lake: string, files: readonly File[], spans: number) {
  const query = database.query.bind(database);
  const projects = Array.from({ length: PROJECTS }, (_, index) => `project-${index}`);
  for (const { day, bytes } of files) {
    const startNs = BigInt(Date.parse(day)) * 1_000_000n;
    await query(
      `INSERT INTO sluice.lake_jobs (signal, day, state, published_at, records, bytes, min_ns, max_ns, projects)
       VALUES ('spans', $1, 'published', now(), $2, $3, $4, $5, $6)`,
      [day, spans, bytes, startNs, startNs + BigInt(spans) * 1_000_000n, projects],
    );
  }
  await recordPlace(query, lake);
}

interface Found {
  readonly ms: number;
  /** What the command says about its reads. */
  readonly reads: string;
}

function find(url: string, id: string): Found {
  const began = performance.now();
  const args = [join(ROOT, 'bin/sluice.js'), 'trace', id, '--config', join(ROOT, 'config/gateway.yaml')];
  const { status, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, DATABASE_URL: url, NO_COLOR: '1' },
  });
  const reads = /^Read .*$/mu.exec(stderr)?.[0];
  if (status !== 0 || reads === undefined) throw new Error(`sluice trace ended with ${status}: ${stderr}`);
  return { ms: performance.now() - began, reads: reads.replace(/ in .*$/u, '') };
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      days: { type: 'string', default: '1096' },
      spans: { type: 'string', default: '10000' },
      text: { type: 'string', default: '800' },
      rounds: { type: 'string', default: '5' },
    },
  });
  const [days, spans, rounds] = [Number(values.days), Number(values.spans), Number(values.rounds)];
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lake-'));
  const bench = await BenchDatabase.open();
  try {
    const duck = await Duck.open({ memoryBytes: 2 ** 30, folder });
    const files = await writeFiles(duck, folder, { days, spans, textLength: Number(values.text) });
    const [oldest] = files;
    if (oldest === undefined) throw new Error('there is no day');
    const id = String((await duck.rows(`SELECT md5('0/${oldest.day}') AS id`))[0]?.['id']);
    duck.close();
    await record(bench, folder, files, spans);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const gigabytes = (bytes / 1e9).toFixed(1);
    console.log(
      `${(days * spans).toLocaleString('en')} spans in ${days} files, ${gigabytes} GB; the oldest of ${oldest.day}\n`,
    );
    printHead(['found', 'median', 'longest', 'read'], [0, 3]);
    const measure = (name: string): void => {
      const found = Array.from({ length: rounds }, () => find(bench.url, id));
      const times = found.map(({ ms }) => ms);
      const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
      printRow([name, seconds(median(times)), seconds(Math.max(...times)), found[0]?.reads ?? '']);
    };
    const startNs = BigInt(Date.parse(oldest.day)) * 1_000_000n;
    await bench.database.query(
      `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
       VALUES (decode($1, 'hex'), 'project-0', 'default', $2, $3)`,
      [id, startNs, startNs + BigInt(SPANS_OF_TRACE) * 1_000_000n],
    );
    measure('by the times of its claim');
    await bench.database.query('DELETE FROM sluice.traces');
    measure('by its id alone, from the newest day backwards');
  } finally {
    await bench.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
