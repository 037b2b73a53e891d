/** `sluice size`: what a rate and a retention need. It connects to nothing. */
import { parseByteSize } from '../config/units.ts';
import { DAY_S } from '../pdata/time-units.ts';
import type { Command } from './command.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { type Load, RATIOS, type Setup, setupsFor } from './sizing.ts';
import type { Terminal } from './terminal.ts';
import { formatBytes, formatCount } from './view/format.ts';
import { asJson } from './view/screen-text.ts';
import { describeTable, describeText } from './view/table.ts';

/** A server without a standby is not the place for more. */
const MOST_EMBEDDED_BYTES = 2 ** 40;
/** Cores that one PostgreSQL server can use before other limits than the processor apply. */
const MOST_DATABASE_CORES = 32;

export const command: Command = {
  description:
    'An estimate from measured ratios and US list prices, for the spans of a gateway; docs/sizing.md has the ratios and\nsays how to measure your own. Processors are for the peak; your own PostgreSQL has a standby.',
  options: {
    'spans-per-second': textOption('N', 'On average over a day; needed'),
    days: textOption('N', 'How long spans are kept; needed'),
    'bytes-per-span': textOption('SIZE', 'The average size of a row before compression', {
      default: String(RATIOS.rowBytes.value),
    }),
    peak: textOption('N', 'The busiest minutes as a multiple of the average', { default: '3' }),
    'hot-days': textOption('N', 'Days in PostgreSQL with an archive', { default: '7' }),
    json: flagOption('Print the estimate as JSON'),
  },
  examples: [
    ['sluice size --spans-per-second 100 --days 30', 'a month of a small gateway'],
    ['sluice size --spans-per-second 2000 --days 365 --bytes-per-span 2KiB', 'a year of smaller spans'],
  ],
  run: async ({ values, terminal }) => {
    const load = loadOf(values);
    const setups = setupsFor(load);
    const notes = notesOf(setups);
    terminal.print(values.flag('json') ? asJson({ load, setups, notes }) : screenOf(load, setups, notes, terminal));
  },
};

function loadOf(values: Values): Load {
  const bytes = parseByteSize(values.word('bytes-per-span'));
  if (bytes === null || bytes <= 0) throw new UsageError('--bytes-per-span takes a size, such as 5KiB');
  const peak = numberOf(values, 'peak');
  if (peak < 1) throw new UsageError('--peak is at least 1');
  return {
    spansPerSecond: numberOf(values, 'spans-per-second'),
    days: numberOf(values, 'days'),
    bytesPerSpan: bytes,
    peak,
    hotDays: numberOf(values, 'hot-days'),
  };
}

function numberOf(values: Values, name: string): number {
  const text = values.text(name);
  if (text === undefined) throw new UsageError(`--${name} is needed`, 'sluice size --spans-per-second 100 --days 30');
  const number = /^\d+(?:\.\d+)?$/u.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new UsageError(`--${name} takes a number greater than 0, not "${text}"`);
}

function notesOf(setups: readonly Setup[]): readonly string[] {
  const notes: string[] = [];
  for (const { name, title, diskBytes, databaseCores, daemonCores } of setups) {
    const servers = name === 'embedded' ? 1 : RATIOS.copies.value;
    if (name === 'embedded' && diskBytes > MOST_EMBEDDED_BYTES) {
      notes.push(`${title}: it has no standby and no compression; use a PostgreSQL of your own for this much.`);
    }
    if (databaseCores / servers > MOST_DATABASE_CORES) {
      notes.push(`${title}: more than one server of ${MOST_DATABASE_CORES} cores takes; use several installations.`);
    }
    if (name === 'postgres' && daemonCores > 1) {
      notes.push(`A daemon process uses one core: run ${Math.ceil(daemonCores)}, as workers or on several machines.`);
    }
  }
  return notes;
}

function screenOf(load: Load, setups: readonly Setup[], notes: readonly string[], terminal: Terminal): string {
  const spans = load.spansPerSecond * DAY_S * load.days;
  const head = `${formatCount(spans)} spans, ${formatBytes(spans * load.bytesPerSpan)} before compression`;
  const rows = setups.map((setup) => [
    setup.title,
    String(setup.daemonCores),
    String(setup.databaseCores),
    setup.name === 'archive' ? String(setup.archiveCores) : '-',
    formatBytes(setup.memoryBytes),
    formatBytes(setup.diskBytes),
    setup.name === 'archive' ? formatBytes(setup.objectBytes) : '-',
    setup.name === 'archive' ? formatCount(setup.objects) : '-',
    `$${formatDollars(setup.dollarsPerMonth)}`,
  ]);
  const titles = ['', 'daemon', 'database', 'archive', 'memory', 'disk', 'bucket', 'objects', 'a month'];
  const units = ['', 'cores', 'cores', 'cores', '', '', '', '', ''];
  const table = describeTable({ heads: [titles, units], rows }, terminal);
  const shown = notes.map((note) => describeText(note, terminal));
  return [describeText(head, terminal), '', table, ...(shown.length === 0 ? [] : ['', ...shown])].join('\n');
}

/** Two digits are what the estimate is worth. */
function formatDollars(dollars: number): string {
  const digits = Math.max(0, Math.floor(Math.log10(dollars)) - 1);
  return (Math.round(dollars / 10 ** digits) * 10 ** digits).toLocaleString('en-US');
}
