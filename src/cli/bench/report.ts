/** What a benchmark found, for programs and for people. */
import { rowBytesOf } from '../sizing.ts';
import { layOut } from '../terminal.ts';
import { formatBytes, formatCount, UNKNOWN } from '../view/format.ts';
import { difference, type Run, type Step } from './run-load.ts';

/** A step is sustained if this part of it is stored, and 99 of 100 answers come in this time. */
const SUSTAINED_PART = 0.99;
const SUSTAINED_MS = 1000;
const MICROSECONDS = 1e6;
const GIB = 2 ** 30;
const DAYS = 30;
/** The default `--peak` of `sluice size`. */
const PEAK = 3;

export interface Findings {
  readonly complete: boolean;
  readonly steps: readonly Step[];
  readonly spansStored: number;
  /** The most spans a second of a step, after a closed loop; null at a given rate. */
  readonly saturation: number | null;
  /** The highest offered rate that was sustained; null when none was. */
  readonly sustained: number | null;
  /** Figures of a span, in microseconds and bytes. */
  readonly daemonTime: number | null;
  readonly databaseTime: number | null;
  readonly diskBytes: number | null;
  readonly walBytes: number | null;
  /** Spans a second and core, of the daemon and of the database if its part is known. */
  readonly spansOfACore: number | null;
  readonly spansOfAGib: number | null;
  readonly daemonBytes: number | null;
  /** For `sluice size`. */
  readonly rowBytes: number | null;
}

/** The processor time is that of the busiest step, in which the fixed cost of an idle daemon counts least. */
export function findingsOf(run: Run, isEmbedded: boolean, complete: boolean): Findings {
  const { steps, spansStored, before, after } = run;
  const measured = steps.filter(({ load }) => load !== 'warm-up');
  const busiest = measured.reduce<Step | null>((most, step) => (step.stored > (most?.stored ?? 0) ? step : most), null);
  const timeOf = (cores: number | null | undefined): number | null =>
    busiest === null || cores === null || cores === undefined ? null : (cores * MICROSECONDS) / busiest.stored;
  const [daemonTime, databaseTime] = [timeOf(busiest?.daemonCores), timeOf(busiest?.databaseCores)];
  const bytesOf = (now: number | null, then: number | null): number | null => {
    const grown = difference(now, then);
    return grown === null || spansStored === 0 ? null : grown / spansStored;
  };
  const diskBytes = bytesOf(after.databaseBytes, before.databaseBytes);
  return {
    ...{ complete, steps, spansStored },
    saturation: measured.some(({ load }) => load === 'peak') ? (busiest?.stored ?? null) : null,
    sustained: measured.filter(isSustained).reduce<number | null>((most, { offered }) => offered ?? most, null),
    ...{ daemonTime, databaseTime, diskBytes },
    walBytes: bytesOf(after.walBytes, before.walBytes),
    spansOfACore: daemonTime === null ? null : MICROSECONDS / (daemonTime + (databaseTime ?? 0)),
    spansOfAGib: diskBytes === null || diskBytes <= 0 ? null : GIB / diskBytes,
    daemonBytes: after.daemonBytes,
    rowBytes: diskBytes === null || diskBytes <= 0 ? null : rowBytesOf(diskBytes, isEmbedded),
  };
}

function isSustained(step: Step): boolean {
  const { offered, p99 } = step;
  return offered !== null && isStored(step) && p99 !== null && p99 <= SUSTAINED_MS;
}

const isStored = (step: Step): boolean => (step.answers['200'] ?? 0) >= requestsOf(step) * SUSTAINED_PART;

const requestsOf = ({ answers, notSent }: Step): number =>
  Object.values(answers).reduce((sum, count) => sum + count, notSent);

/**
 * Says what became of the requests of the first step that failed; null without one. A given rate is to be stored. The
 * search for the peak overloads the daemon, which may refuse requests but must answer them.
 */
export function shortfallOf(steps: readonly Step[]): string | null {
  const isShort = (step: Step): boolean =>
    step.load === 'rate' ? !isStored(step) : (step.answers['none'] ?? 0) > requestsOf(step) * (1 - SUSTAINED_PART);
  const step = steps.find(isShort);
  if (step === undefined) return null;
  const requests = requestsOf(step);
  const parts = [...unstoredOf(step), ...(step.notSent === 0 ? [] : [`${step.notSent} × not sent`])];
  const unstored = requests - (step.answers['200'] ?? 0);
  return `${unstored} of ${requests} requests of the step "${step.load}" were not stored: ${parts.join(', ')}`;
}

/** The answers other than 200, with their numbers. */
const unstoredOf = ({ answers }: Step): readonly string[] =>
  Object.entries(answers)
    .filter(([status]) => status !== '200')
    .map(([status, count]) => `${count} × ${status === 'none' ? 'no answer' : status}`);

/** The findings under the names of the JSON output. */
export function findingsAsData(findings: Findings): object {
  return {
    complete: findings.complete,
    spans_stored: findings.spansStored,
    saturation_spans_per_second: rounded(findings.saturation),
    sustained_spans_per_second: rounded(findings.sustained),
    steps: findings.steps.map((step) => ({
      load: step.load,
      offered_spans_per_second: rounded(step.offered),
      stored_spans_per_second: rounded(step.stored),
      p50_ms: rounded(step.p50, 1),
      p99_ms: rounded(step.p99, 1),
      answers: step.answers,
      not_sent: step.notSent,
      daemon_cores: rounded(step.daemonCores, 3),
      database_cores: rounded(step.databaseCores, 3),
      generator_cores: rounded(step.generatorCores, 3),
    })),
    per_span: {
      daemon_us: rounded(findings.daemonTime, 2),
      database_us: rounded(findings.databaseTime, 2),
      disk_bytes: rounded(findings.diskBytes),
      wal_bytes: rounded(findings.walBytes),
      row_bytes: rounded(findings.rowBytes),
    },
    one_core_spans_per_second: rounded(findings.spansOfACore),
    one_gib_spans: rounded(findings.spansOfAGib),
    daemon_memory_bytes: findings.daemonBytes,
  };
}

function rounded(value: number | null, digits = 0): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}

const TITLES = [
  'load',
  'offered/s',
  'stored/s',
  'p50',
  'p99',
  'refused',
  'not sent',
  'daemon',
  'database',
  'generator',
];
const UNITS = ['', 'spans', 'spans', 'ms', 'ms', 'requests', 'requests', 'cores', 'cores', 'cores'];

/** The table of steps and what follows from them. */
export function findingsAsText(findings: Findings): string {
  const blocks = [layOut([TITLES, UNITS, ...findings.steps.map(rowOf)]), sentencesOf(findings).join('\n')];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function rowOf(step: Step): readonly string[] {
  const refused = unstoredOf(step);
  return [
    step.load,
    count(step.offered),
    count(step.stored),
    digits(step.p50, 1),
    digits(step.p99, 1),
    refused.length === 0 ? '0' : refused.join(', '),
    String(step.notSent),
    ...[step.daemonCores, step.databaseCores, step.generatorCores].map((cores) => digits(cores, 2)),
  ];
}

const count = (value: number | null): string => formatCount(value === null ? null : Math.round(value));
const digits = (value: number | null, places: number): string => (value === null ? UNKNOWN : value.toFixed(places));

function sentencesOf(findings: Findings): readonly string[] {
  const { saturation, sustained, daemonTime, databaseTime, diskBytes, walBytes, daemonBytes, rowBytes } = findings;
  const lines: string[] = [];
  if (saturation !== null) lines.push(`At most ${count(saturation)} spans a second are stored.`);
  if (sustained !== null)
    lines.push(`${count(sustained)} a second are sustained: 99 of 100 answers within ${SUSTAINED_MS / 1000} s.`);
  if (daemonTime !== null) {
    const server = databaseTime === null ? '' : ` and ${digits(databaseTime, 1)} µs in the database`;
    const parts = `${digits(daemonTime, 1)} µs in the daemon${server}`;
    lines.push(`One core stores ${count(findings.spansOfACore)} spans a second: a span takes ${parts}.`);
  }
  if (findings.spansOfAGib !== null && diskBytes !== null) {
    const log = walBytes === null ? '' : `, and ${formatBytes(Math.round(walBytes))} of write-ahead log`;
    const each = `a span takes ${formatBytes(Math.round(diskBytes))}${log}`;
    lines.push(`One GiB holds ${count(findings.spansOfAGib)} spans: ${each}.`);
  }
  if (daemonBytes !== null) lines.push(`The daemon has ${formatBytes(daemonBytes)} of memory.`);
  const rate = sustained ?? saturation;
  if (rate !== null && rowBytes !== null) {
    const average = Math.max(1, Math.round(rate / PEAK));
    const options = `--spans-per-second ${average} --days ${DAYS} --bytes-per-span ${Math.round(rowBytes)}`;
    lines.push(`Disk and cost of a third of this rate on average: sluice size ${options}`);
  }
  return lines;
}
