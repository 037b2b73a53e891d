/**
 * A local copy of the parts of a Parquet file that a query needs: the row groups that may have wanted rows, and of them
 * the wanted columns. The copy has holes in place of the rest.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type Duck, literal, OutOfMemory, quoted } from '../duckdb.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { BrokenFile } from './left-out.ts';
import {
  type ByteSpan,
  type Footer,
  footerLength,
  footerOf,
  HEAD,
  parseFooter,
  type RowGroup,
  TRAILER_BYTES,
} from './parquet-footer.ts';

/** The footer of most files is within the first read. */
const TAIL_BYTES = 64 * 1024;
/** A gap between two parts that costs less than a further request. */
const GAP_BYTES = 128 * 1024;
/** The most values that are looked up in bloom filters. With more, most row groups contain one of them. */
const MOST_PROBED = 32;

/** Inclusive, as hex text. For one trace both are its id. */
export interface TraceRange {
  readonly from: string;
  readonly to: string;
}

/** A condition of DuckDB. */
export function conditionOfTraces(traces: readonly TraceRange[]): string {
  if (traces.every(({ from, to }) => from === to))
    return `trace_id IN (${traces.map(({ from }) => literal(from)).join(', ')})`;
  const ranges = traces.map(({ from, to }) => `trace_id BETWEEN ${literal(from)} AND ${literal(to)}`);
  return `(${ranges.join(' OR ')})`;
}

export interface ColumnValue {
  readonly column: string;
  readonly value: string;
}

/** What a query needs of a file. */
export interface Need {
  /** Null: all projects. */
  readonly project: string | null;
  /** Traces of any of these ranges. Null: all traces. */
  readonly traces: readonly TraceRange[] | null;
  /** All wanted rows have this value in this column. */
  readonly equal?: ColumnValue;
  readonly columns: ReadonlySet<string>;
  /** Columns that conditions name. DuckDB reads their bloom filters, so the copy must contain these. */
  readonly compared: ReadonlySet<string>;
}

export interface PartialFile {
  readonly path: string;
  /** The wanted columns that the file has: files of earlier versions have fewer. */
  readonly columns: ReadonlySet<string>;
  /** Rows of the copied row groups; 0: no copy was made. */
  readonly rows: number;
}

export interface Source {
  readonly store: ObjectStore;
  readonly key: string;
  /** The size of the file, as it was recorded. */
  readonly bytes: number;
  /** Called with the bytes of each read. */
  readonly count: (bytes: number) => void;
}

/** Writes the copy to `path`, which is replaced. */
export async function copyParts(source: Source, need: Need, { duck, path }: { duck: Duck; path: string }) {
  const footer = await readFooter(source);
  const file = await open(path, 'w', 0o600);
  try {
    let groups: readonly RowGroup[] = footer.groups.filter((group) => mayHave(group, need));
    for (const span of joined(groups.flatMap((group) => bloomsOf(group, need.compared))))
      await copySpan(source, file, span);
    for (const { column, values } of probesOf(need)) {
      if (groups.every(({ columns }) => (columns.get(column)?.bloom ?? null) === null)) continue;
      await writeFooter(file, source, footer, groups);
      groups = await withoutExcluded(duck, path, { groups, column, values });
    }
    const columns = new Set([...need.columns].filter((name) => footer.groups[0]?.columns.has(name)));
    for (const span of joined(groups.flatMap((group) => spansOf(group, columns)))) await copySpan(source, file, span);
    await writeFooter(file, source, footer, groups);
    const result: PartialFile = { path, columns, rows: groups.reduce((sum, { rows }) => sum + rows, 0) };
    return result;
  } finally {
    await file.close();
  }
}

async function readFooter(source: Source): Promise<Footer> {
  const tail = await readSpan(source, lastBytes(source, TAIL_BYTES));
  const length = parsed(() => footerLength(tail.subarray(-TRAILER_BYTES)));
  const whole =
    length + TRAILER_BYTES <= tail.length ? tail : await readSpan(source, lastBytes(source, length + TRAILER_BYTES));
  return parsed(() =>
    parseFooter(whole.subarray(Math.max(0, whole.length - TRAILER_BYTES - length), whole.length - TRAILER_BYTES)),
  );
}

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new BrokenFile((error as Error).message);
  }
}

function lastBytes({ bytes }: Source, length: number): ByteSpan {
  const offset = Math.max(0, bytes - length);
  return { offset, length: bytes - offset };
}

/**
 * Runs a statement of DuckDB over a copy. Throws `BrokenFile` when it fails because of values of the copy: then they
 * cannot be read without the statement either.
 */
export async function overCopy<Result>(duck: Duck, copy: PartialFile, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof OutOfMemory)) await requireReadable(duck, copy);
    throw error;
  }
}

/** Reads all values of a copy. Throws `BrokenFile`. */
export async function requireReadable(duck: Duck, { path, columns, rows }: PartialFile): Promise<void> {
  if (rows === 0) return;
  const values = [...columns].map((name) => `bit_xor(hash(${quoted(name)}))`);
  await duck
    .rows(`SELECT ${values.join(', ')} FROM read_parquet(${literal(path)})`)
    .catch((error: unknown) => throwBroken(error, path));
}

/** The first line of a message of DuckDB: others quote the query. */
function throwBroken(error: unknown, path: string): never {
  if (error instanceof OutOfMemory) throw error;
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  throw new BrokenFile(reason.replaceAll(path, 'the file'));
}

/** By the statistics. The rows are sorted by project and trace, so the ranges of the row groups are narrow. */
function mayHave(group: RowGroup, { project, traces }: Need): boolean {
  const overlaps = (name: string, from: string, to: string): boolean => {
    const { min, max } = group.columns.get(name) ?? { min: null, max: null };
    if (min === null || max === null) return true;
    return Buffer.compare(min, Buffer.from(to)) <= 0 && Buffer.compare(max, Buffer.from(from)) >= 0;
  };
  return (
    (project === null || overlaps('project', project, project)) &&
    (traces === null || traces.some(({ from, to }) => overlaps('trace_id', from, to)))
  );
}

const bloomsOf = ({ columns }: RowGroup, names: ReadonlySet<string>): readonly ByteSpan[] =>
  [...columns.values()].flatMap(({ name, bloom }) => (names.has(name) && bloom !== null ? [bloom] : []));

interface Probe {
  readonly column: string;
  /** Each wanted row has one of them. */
  readonly values: readonly string[];
}

/** The columns whose wanted values are a short, complete list. */
function probesOf({ traces, equal }: Need): readonly Probe[] {
  const probes: Probe[] = equal === undefined ? [] : [{ column: equal.column, values: [equal.value] }];
  if (traces !== null && traces.length <= MOST_PROBED && traces.every(({ from, to }) => from === to))
    probes.push({ column: 'trace_id', values: traces.map(({ from }) => from) });
  return probes;
}

/** The row groups whose bloom filter may contain one of the values. */
async function withoutExcluded(
  duck: Duck,
  path: string,
  { groups, column, values }: Probe & { readonly groups: readonly RowGroup[] },
): Promise<readonly RowGroup[]> {
  const possible = new Set<number>();
  for (const value of values) {
    const rows = await duck
      .rows(
        `SELECT row_group_id::INTEGER AS id, bloom_filter_excludes AS excluded
         FROM parquet_bloom_probe(${literal(path)}, ${literal(column)}, ${literal(value)})`,
      )
      .catch((error: unknown) => throwBroken(error, path));
    for (const { id, excluded } of rows) if (excluded !== true) possible.add(Number(id));
  }
  return groups.filter((_, index) => possible.has(index));
}

const spansOf = ({ columns }: RowGroup, wanted: ReadonlySet<string>): readonly ByteSpan[] =>
  [...columns.values()].filter(({ name }) => wanted.has(name)).map(({ data }) => data);

/** Joins ranges that are near each other. Returns them in order. */
function joined(spans: readonly ByteSpan[]): readonly ByteSpan[] {
  const result: ByteSpan[] = [];
  for (const { offset, length } of [...spans].sort((a, b) => a.offset - b.offset)) {
    const last = result.at(-1);
    if (last === undefined || offset > last.offset + last.length + GAP_BYTES) result.push({ offset, length });
    else
      result[result.length - 1] = {
        offset: last.offset,
        length: Math.max(last.length, offset + length - last.offset),
      };
  }
  return result;
}

async function copySpan(source: Source, file: FileHandle, span: ByteSpan): Promise<void> {
  let at = span.offset;
  for await (const chunk of await source.store.get(source.key, span)) {
    await file.write(chunk as Buffer, 0, (chunk as Buffer).length, at);
    at += (chunk as Buffer).length;
  }
  source.count(at - span.offset);
  requireWhole(span, at - span.offset);
}

async function readSpan(source: Source, span: ByteSpan): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await source.store.get(source.key, span)) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  source.count(bytes.length);
  requireWhole(span, bytes.length);
  return bytes;
}

function requireWhole({ offset, length }: ByteSpan, read: number): void {
  if (read < length) throw new BrokenFile(`it ends at byte ${offset + read}`);
}

/** Writes the footer behind the place of the original one, so that it never overlaps data. */
async function writeFooter(
  file: FileHandle,
  { bytes }: Source,
  footer: Footer,
  groups: readonly RowGroup[],
): Promise<void> {
  const end = footerOf(footer, groups);
  await file.truncate(bytes);
  await file.write(HEAD, 0, HEAD.length, 0);
  await file.write(end, 0, end.length, bytes);
}
