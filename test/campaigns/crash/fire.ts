/**
 * Whether 200 means stored, once: campaigns of kills, crashes and broken connections against real daemons, and a judge.
 *
 *   node dist/test/campaigns/crash/fire.js kill|file|database|proxy|ambiguous|twins|crowd|all [--short] [--cycles N] [--seed N] [--only TEXT]
 *
 * The exit code is 1 when anything was found.
 */
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import type { Campaign } from './campaigns/campaign.ts';
import { CAMPAIGNS } from './campaigns/list.ts';
import { type Line, printTable } from './table.ts';

interface Call {
  readonly campaigns: readonly Campaign[];
  readonly short: boolean;
  readonly cycles: number | null;
  readonly seed: number;
  readonly root: string | undefined;
  readonly only: string | undefined;
}

function readCall(): Call {
  const { values, positionals } = readArguments(import.meta.url, {
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      cycles: { type: 'string' },
      seed: { type: 'string', default: '1' },
      root: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const [name = 'all'] = positionals;
  const campaigns = CAMPAIGNS.filter((campaign) => name === 'all' || campaign.name === name);
  if (campaigns.length === 0) refuseArguments(`there is no campaign "${name}"`);
  const cycles = values.cycles === undefined ? null : Number(values.cycles);
  if (cycles !== null && !(Number.isInteger(cycles) && cycles > 0)) {
    refuseArguments('--cycles takes a number above 0');
  }
  return { campaigns, short: values.short, cycles, seed: Number(values.seed), root: values.root, only: values.only };
}

async function main(): Promise<void> {
  const call = readCall();
  const lines: Line[] = [];
  for (const campaign of call.campaigns) {
    const cycles = call.cycles ?? (call.short ? campaign.cycles.short : campaign.cycles.full);
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    say(`── ${campaign.name}: ${campaign.summary}`);
    const started = performance.now();
    const result = await campaign.run({ ...call, cycles, keep: true, say });
    lines.push({ name: campaign.name, seconds: (performance.now() - started) / 1000, result });
    for (const note of result.notes) say(`   ${note}`);
    for (const message of result.findings.messages) say(`   ! ${message}`);
  }
  const code = lines.some(({ result }) => result.findings.total > 0) ? 1 : 0;
  // A connection that would not close must not keep a finished run alive.
  process.stdout.write(`\n${printTable(lines)}\n`, () => process.exit(code));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
