/**
 * The time from the start of the daemon to its first answer, compared with the start of the runtime: with a file, and
 * with an existing database.
 *
 *   node dist/bench/start.js [--rounds 7]
 */
import { execFileSync } from 'node:child_process';
import { readArguments } from './arguments.ts';
import { startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { median } from '../src/cli/bench/figures.ts';
import { printHead, printRow } from './table.ts';

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, { options: { rounds: { type: 'string', default: '7' } } });
  const database = await BenchDatabase.open();
  const samples = { runtime: [] as number[], file: [] as number[], database: [] as number[] };
  for (let round = 0; round < Number(values.rounds); round++) {
    const started = performance.now();
    execFileSync(process.execPath, ['-e', '0']);
    samples.runtime.push(performance.now() - started);
    const file = await startDaemon();
    samples.file.push(file.startMs);
    await file.stop();
    const stored = await startDaemon(database);
    samples.database.push(stored.startMs);
    await stored.stop();
  }
  await database.close();
  const runtime = median(samples.runtime);
  const print = (name: string, values: readonly number[]): void =>
    printRow([name, `${median(values).toFixed(0)} ms`, `${(median(values) / runtime).toFixed(1)}×`]);
  printHead(['start', 'median', 'beside node -e 0'], [0]);
  print('node -e 0', samples.runtime);
  print('sluice, file sink', samples.file);
  print('sluice, on a database', samples.database);
}

await main();
