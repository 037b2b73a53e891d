/**
 * Every value of the archive as other engines read it, compared with the SQL views: ClickHouse (chdb), Spark, and
 * Iceberg (pyiceberg) with the files added to a table.
 *
 *   SLUICE_PYTHON=… node dist/test/campaigns/engines/engines.js [chdb] [spark] [iceberg]
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Signal, storeRows } from '../../support/archive-rows.ts';
import { lineOf, linesOfView, makeScene, type Scene, TABLES } from '../../support/archive-scene.ts';

const READER = fileURLToPath(new URL('../../../../test/campaigns/engines/read.py', import.meta.url));
const ENGINES = ['chdb', 'spark', 'iceberg'];
const ROWS = 60;
const MOST_OUTPUT = 64 * 1024 * 1024;

const run = promisify(execFile);

async function linesOf(scene: Scene, engine: string, signal: Signal): Promise<readonly string[]> {
  const files = scene.files().filter((name) => name.startsWith(`lake/${signal}/`));
  const paths = files.map((name) => join(scene.lake, name));
  const env = { ...process.env, TZ: 'UTC' };
  const python = process.env['SLUICE_PYTHON'] ?? 'python3';
  const { stdout } = await run(python, [READER, engine, ...paths], { env, maxBuffer: MOST_OUTPUT });
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => lineOf(JSON.parse(line))).sort();
}

/** The columns of rows that differ; `rows` when their number does. */
function differences(found: readonly string[], wanted: readonly string[]): readonly string[] {
  if (found.length !== wanted.length) return ['rows'];
  const names = new Set<string>();
  for (const [at, line] of found.entries()) {
    const [left, right] = [line, wanted[at] ?? ''].map((text) => JSON.parse(text) as Record<string, unknown>);
    for (const name of Object.keys({ ...left, ...right })) if (left?.[name] !== right?.[name]) names.add(name);
  }
  return [...names];
}

async function main(): Promise<void> {
  const ends: (() => Promise<void> | void)[] = [];
  const engines = process.argv.length > 2 ? process.argv.slice(2) : ENGINES;
  try {
    const scene = await makeScene({ teardown: (end) => void ends.unshift(end) });
    for (const [signal] of TABLES) for (const day of [0, 1]) await storeRows(scene, signal, ROWS, day);
    await scene.run();
    for (const [signal] of TABLES) await storeRows(scene, signal, ROWS);
    await scene.run();
    for (const engine of engines)
      for (const [signal] of TABLES) {
        const wanted = await linesOfView(scene, signal);
        const different = differences(await linesOf(scene, engine, signal), wanted);
        const isEqual = different.length === 0;
        if (!isEqual) process.exitCode = 1;
        const verdict = isEqual ? 'all values are equal' : `DIFFERENT: ${different.join(', ')}`;
        console.log(`${engine}, ${signal}, ${wanted.length} records: ${verdict}`);
      }
  } finally {
    for (const end of ends) await end();
  }
}

await main();
