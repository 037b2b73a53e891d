/**
 * Runs a campaign of damaged bodies; with --inflate, of damaged gzip bodies.
 *
 *   node dist/test/campaigns/mutation/mutation.js [--signal traces|logs|metrics] [--encoding protobuf|json]
 *                                                 [--count 1000000] [--seed 1] [--judge-one-in 1] [--stricter]
 *   node dist/test/campaigns/mutation/mutation.js --inflate [--count 1000000] [--seed 1]
 *
 * Prints one summary line and the bodies that violate a rule. The exit code is 1 when there are any.
 */
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import { GzipCampaign } from './gzip-campaign.ts';
import { Campaign, type CampaignReport, isClean } from './campaign.ts';
import { ModuleRun } from '../../support/oracle-module.ts';
import { Oracle } from '../../support/oracle.ts';
import { ENCODING_NAMES, loadProtos, SIGNAL_NAMES, SIGNALS } from '../../support/protos.ts';

const MEBIBYTE = 1024 * 1024;
/** The limit of growth of resident memory after a warm-up of a tenth. */
const MAX_GROWTH_MIB = 512;

function options() {
  const { values } = readArguments(import.meta.url, {
    options: {
      signal: { type: 'string', default: 'traces' },
      encoding: { type: 'string', default: 'protobuf' },
      count: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      'judge-one-in': { type: 'string', default: '1' },
      stricter: { type: 'boolean', default: false },
      inflate: { type: 'boolean', default: false },
    },
  });
  const signal = SIGNALS.find((candidate) => SIGNAL_NAMES[candidate] === values.signal);
  const encoding = (ENCODING_NAMES as readonly string[]).indexOf(values.encoding);
  if (signal === undefined) refuseArguments(`there is no signal "${values.signal}"`);
  if (encoding < 0) refuseArguments(`there is no encoding "${values.encoding}"`);
  const [count, seed, judgeOneIn] = [values.count, values.seed, values['judge-one-in']].map(Number);
  return {
    signal,
    encoding,
    count: count ?? 0,
    seed: seed ?? 0,
    judgeOneIn: judgeOneIn ?? 1,
    stricter: values.stricter,
    inflate: values.inflate,
  };
}

function resident(): number {
  return process.memoryUsage().rss / MEBIBYTE;
}

function summary(name: string, report: CampaignReport, seconds: number, growth: number): string {
  const { kept: _kept, ...numbers } = report;
  const facts = Object.entries({
    ...numbers,
    slowestMicroseconds: Math.round(report.slowestMicroseconds),
    seconds: seconds.toFixed(1),
    microsecondsPerInput: ((seconds * 1e6) / report.count).toFixed(1),
    growthMiB: growth.toFixed(0),
  });
  return `${name}: ${facts.map(([key, value]) => `${key}=${value}`).join(' ')}`;
}

function damageGzip(count: number, seed: number): void {
  const started = performance.now();
  const { kept, ...numbers } = new GzipCampaign({ count, seed }).run();
  const seconds = (performance.now() - started) / 1000;
  for (const difference of kept) process.stdout.write(`${difference}\n`);
  const facts = Object.entries({ ...numbers, seconds: seconds.toFixed(1) }).map(([key, value]) => `${key}=${value}`);
  process.stdout.write(`gzip: ${facts.join(' ')}\n`);
  process.exitCode = numbers.differences === 0 ? 0 : 1;
}

function main(): void {
  const { stricter, inflate, ...campaign } = options();
  if (inflate) {
    damageGzip(campaign.count, campaign.seed);
    return;
  }
  const protos = loadProtos();
  const module = new ModuleRun();
  const oracle = new Oracle(protos);
  const warmUp = { ...campaign, count: Math.ceil(campaign.count / 10), seed: campaign.seed + 1 };
  new Campaign(protos, module, oracle, warmUp).run();
  const before = resident();
  const started = performance.now();
  const report = new Campaign(protos, module, oracle, campaign).run();
  const seconds = (performance.now() - started) / 1000;
  const growth = resident() - before;
  for (const { kind, reason, body } of report.kept) {
    if (kind !== 'stricter' || stricter) process.stdout.write(`${kind}: ${reason}\n  ${body.toString('base64')}\n`);
  }
  const name = `${SIGNAL_NAMES[campaign.signal]} ${ENCODING_NAMES[campaign.encoding]}`;
  process.stdout.write(`${summary(name, report, seconds, growth)}\n`);
  process.exitCode = isClean(report) && growth < MAX_GROWTH_MIB ? 0 : 1;
}

main();
