/**
 * Bodies that are made to be slow, through all stages of one pass: index, processors, rows. Prints the processor time
 * of each and of its stages, sorted by time a byte.
 *
 *   node dist/bench/worst-bodies.js [--mib 8] [--only <part of a name>] [--top 40] [--follow]
 */
import { readArguments } from './arguments.ts';
import { printHead, printRow } from './table.ts';
import { HOSTILE_BODIES } from '../test/support/hostile-bodies.ts';
import { MeasuredPass } from '../test/support/measured-pass.ts';

const MIB = 1024 * 1024;
/** The first run of code is slow, so it does not count. */
const WARM_BYTES = MIB / 8;
const WARM_ROUNDS = 3;

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      mib: { type: 'string', default: '8' },
      only: { type: 'string', default: '' },
      top: { type: 'string', default: '1000' },
      follow: { type: 'boolean', default: false },
    },
  });
  const size = Number(values.mib) * MIB;
  const pass = await MeasuredPass.open();
  const results = [];
  for (const body of HOSTILE_BODIES) {
    if (!body.name.includes(values.only)) continue;
    const bytes = body.make(size);
    const warm = body.make(WARM_BYTES);
    for (let round = 0; round < WARM_ROUNDS; round++) pass.run(body, warm);
    const { stages, outcome } = pass.run(body, bytes);
    const total = Object.values(stages).reduce((sum, ms) => sum + ms, 0);
    if (values.follow) console.error(`${((total * 1e6) / bytes.length).toFixed(1)} ${outcome} ${body.name}`);
    results.push({ name: body.name, outcome, stages, total, perByte: (total * 1e6) / bytes.length });
  }
  results.sort((one, other) => other.perByte - one.perByte);
  printHead(['body', 'outcome', 'ns a byte', 'ms', 'slowest stages'], [0, 1, 4]);
  for (const { name, outcome, stages, total, perByte } of results.slice(0, Number(values.top))) {
    const slowest = Object.entries(stages)
      .sort(([, one], [, other]) => other - one)
      .slice(0, 3)
      .map(([stage, ms]) => `${stage} ${ms.toFixed(0)}`);
    printRow([name, outcome, perByte.toFixed(1), total.toFixed(0), slowest.join(', ')]);
  }
}

await main();
