/**
 * What a rate and a retention cost, from measured ratios. The ratios are in one table, which docs/sizing.md shows with
 * their sources; a test holds both equal.
 */
import { DAY_S } from '../pdata/time-units.ts';

export interface Ratio {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly source: string;
}

const ratio = (value: number, unit: string, more: Pick<Ratio, 'what' | 'source'>): Ratio => ({ value, unit, ...more });

/** Sizes and processor time are in proportion to the row. */
export const RATIOS = {
  rowBytes: ratio(4905, 'B a span', {
    what: 'a model call with prompt and answer, as a row of `COPY … BINARY`',
    source: 'M1',
  }),
  daemonTime: ratio(17, 'µs a span', { what: 'processor time of the daemon, all processors', source: 'M2' }),
  postgresTime: ratio(55, 'µs a span', { what: 'processor time of PostgreSQL, all guards', source: 'M2' }),
  smallSpanTime: ratio(0.22, 'of both', {
    what: 'the least part of these times, for spans without content',
    source: 'M2',
  }),
  tableBytes: ratio(0.9, 'of the row', { what: 'tables and indexes, large columns compressed with lz4', source: 'M1' }),
  embeddedBytes: ratio(1.25, 'of the tables', { what: 'the embedded server, which has no lz4', source: 'M3' }),
  claimBytes: ratio(198, 'B a trace', {
    what: 'a row of `traces` with its indexes, kept as long as the spans',
    source: 'M4',
  }),
  claimDays: ratio(30, 'days', {
    what: 'that row with an archive: `retention.traces`, or longer while its spans are in PostgreSQL',
    source: 'choice',
  }),
  claimKeyBytes: ratio(53, 'B a trace', {
    what: 'of these, the random key, which should fit into memory',
    source: 'M4',
  }),
  spansOfTrace: ratio(8, 'spans', { what: 'of a trace', source: 'M1' }),
  archiveTime: ratio(59, 'µs a span', {
    what: 'processor time to write and sort Parquet, once, at any time of the day',
    source: 'M1',
  }),
  lakeBytes: ratio(0.206, 'of the row', { what: 'Parquet with zstd', source: 'M1' }),
  daemonMemory: ratio(0.5, 'GiB', { what: 'a daemon process with the default limits', source: 'M5' }),
  postgresMemory: ratio(2, 'GiB', { what: 'PostgreSQL: buffers and connections, without the keys', source: 'M1' }),
  archiveMemory: ratio(1, 'GiB', { what: 'the process that writes Parquet', source: 'M1' }),
  load: ratio(0.7, 'of a core', { what: 'the load of a core at the peak', source: 'choice' }),
  freeDisk: ratio(0.2, 'of a disk', { what: 'kept free, and for the write-ahead log', source: 'choice' }),
  copies: ratio(2, 'copies', { what: 'of a PostgreSQL of your own: a primary and a standby', source: 'choice' }),
  fileBytes: ratio(256, 'MiB', { what: 'a Parquet file; a day has at least one for each signal', source: 'choice' }),
  corePrice: ratio(28, '$ a month', { what: 'a core with 4 GiB of memory', source: 'prices' }),
  memoryPrice: ratio(3.5, '$ a month', { what: 'a further GiB of memory', source: 'prices' }),
  diskPrice: ratio(0.08, '$ a GB-month', { what: 'block storage', source: 'prices' }),
  objectPrice: ratio(0.023, '$ a GB-month', { what: 'object storage', source: 'prices' }),
  putPrice: ratio(0.005, '$', { what: 'a thousand puts', source: 'prices' }),
};

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const GB = 1e9;
const MONTH_DAYS = 30;
const CORE_MEMORY_GIB = 4;
const PUTS_PRICED = 1000;
/** Cores are rented whole; a container may have half of one. */
const CORE_STEP = 0.5;

export interface Load {
  /** On average over a day. */
  readonly spansPerSecond: number;
  readonly days: number;
  readonly bytesPerSpan: number;
  /** The rate of the busiest minutes as a multiple of the average. */
  readonly peak: number;
  /** Days in PostgreSQL, when there is an archive. */
  readonly hotDays: number;
}

export interface Setup {
  readonly name: 'embedded' | 'postgres' | 'archive';
  readonly title: string;
  readonly daemonCores: number;
  readonly databaseCores: number;
  readonly archiveCores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly objectBytes: number;
  readonly objects: number;
  readonly dollarsPerMonth: number;
}

const of = (name: keyof typeof RATIOS): number => RATIOS[name].value;

/** The setups that can hold the load, each with what it needs. */
export function setupsFor(load: Load): readonly Setup[] {
  const hotDays = Math.min(load.days, load.hotDays);
  const claimDays = Math.min(load.days, Math.max(hotDays, of('claimDays')));
  const spansOfDay = load.spansPerSecond * DAY_S;
  const lakeOfDay = spansOfDay * load.bytesPerSpan * of('lakeBytes');
  const files = Math.max(1, Math.ceil(lakeOfDay / (of('fileBytes') * MIB)));
  const database = (days: number): number => bytesInPostgres({ ...load, days });
  return [
    setup(load, {
      name: 'embedded',
      title: 'embedded server',
      tableBytes: database(load.days) * of('embeddedBytes'),
      claimDays: load.days,
      copies: 1,
    }),
    setup(load, {
      name: 'postgres',
      title: 'own PostgreSQL',
      tableBytes: database(load.days),
      claimDays: load.days,
      copies: of('copies'),
    }),
    setup(load, {
      name: 'archive',
      title: 'own PostgreSQL and archive',
      tableBytes: database(hotDays),
      claimDays,
      copies: of('copies'),
      archive: { objectBytes: lakeOfDay * load.days, objects: files * Math.ceil(load.days), putsOfDay: files },
    }),
  ];
}

interface Store {
  readonly name: Setup['name'];
  readonly title: string;
  readonly tableBytes: number;
  readonly claimDays: number;
  readonly copies: number;
  readonly archive?: { readonly objectBytes: number; readonly objects: number; readonly putsOfDay: number };
}

function setup(load: Load, { name, title, tableBytes, claimDays, copies, archive }: Store): Setup {
  const traces = (load.spansPerSecond * DAY_S * claimDays) / of('spansOfTrace');
  const daemonCores = coresFor(load, of('daemonTime'));
  const databaseCores = coresFor(load, of('postgresTime')) * copies;
  // Spread over the whole day, so without a peak.
  const archiveCores = archive === undefined ? 0 : up(load.spansPerSecond * timeOf(load, of('archiveTime')), CORE_STEP);
  const diskBytes = ((tableBytes + traces * of('claimBytes')) * copies) / (1 - of('freeDisk'));
  const memoryBytes =
    GIB * Math.max(1, Math.ceil(daemonCores)) * of('daemonMemory') +
    copies * (GIB * of('postgresMemory') + traces * of('claimKeyBytes')) +
    (archive === undefined ? 0 : GIB * of('archiveMemory'));
  const cores = daemonCores + databaseCores + archiveCores;
  const { objectBytes = 0, objects = 0, putsOfDay = 0 } = archive ?? {};
  const dollarsPerMonth =
    cores * of('corePrice') +
    Math.max(0, memoryBytes / GIB - cores * CORE_MEMORY_GIB) * of('memoryPrice') +
    (diskBytes / GB) * of('diskPrice') +
    (objectBytes / GB) * of('objectPrice') +
    (putsOfDay * MONTH_DAYS * of('putPrice')) / PUTS_PRICED;
  return {
    name,
    title,
    daemonCores,
    databaseCores,
    archiveCores,
    memoryBytes,
    diskBytes,
    objectBytes,
    objects,
    dollarsPerMonth,
  };
}

/** The size of a row before compression, from the size of its tables and indexes. */
export function rowBytesOf(storedBytes: number, isEmbedded: boolean): number {
  return storedBytes / (of('tableBytes') * (isEmbedded ? of('embeddedBytes') : 1));
}

const bytesInPostgres = ({ spansPerSecond, days, bytesPerSpan }: Load): number =>
  spansPerSecond * DAY_S * days * bytesPerSpan * of('tableBytes');

/** Seconds a span. */
function timeOf({ bytesPerSpan }: Load, microseconds: number): number {
  const part = Math.max(of('smallSpanTime'), bytesPerSpan / of('rowBytes'));
  return (microseconds * part) / 1e6;
}

const coresFor = (load: Load, microseconds: number): number =>
  up((load.spansPerSecond * load.peak * timeOf(load, microseconds)) / of('load'), CORE_STEP);

const up = (value: number, step: number): number => Math.max(step, Math.ceil(value / step) * step);
