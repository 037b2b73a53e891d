/**
 * A local copy of the parts of a Parquet file that a question needs: the row groups that may have wanted rows, and of
 * them the wanted columns. The copy has holes in place of the rest.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type Duck, literal } from '../duckdb.ts';
import type { ObjectStore } from '../store/object-store.ts';
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

/** Inclusive, as hex text. The same id twice: one trace. */
export interface TraceRange {
  readonly from: string;
  readonly to: string;
}

/** What a question needs of a file. */
export interface Need {
  /** Null: all projects. */
  readonly project: string | null;
  /** Null: all traces. */
  readonly traces: TraceRange | null;
  readonly columns: ReadonlySet<string>;
  /** Columns that conditions name. DuckDB asks their bloom filters, so the copy must have these. */
  readonly compared: ReadonlySet<string>;
}

export interface PartialFile {
  /** The columns of the file that were wanted and are there: files of earlier versions have fewer. */
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
    const { traces } = need;
    for (const span of joined(groups.flatMap((group) => bloomsOf(group, need.compared))))
      await copySpan(source, file, span);
    if (traces !== null && traces.from === traces.to && groups.length > 0) {
      await writeFooter(file, source, footer, groups);
      groups = await withoutExcluded(duck, path, { groups, trace: traces.from });
    }
    const columns = new Set([...need.columns].filter((name) => footer.groups[0]?.columns.has(name)));
    for (const span of joined(groups.flatMap((group) => spansOf(group, columns)))) await copySpan(source, file, span);
    await writeFooter(file, source, footer, groups);
    const result: PartialFile = { columns, rows: groups.reduce((sum, { rows }) => sum + rows, 0) };
    return result;
  } finally {
    await file.close();
  }
}

async function readFooter(source: Source): Promise<Footer> {
  const tail = await readSpan(source, lastBytes(source, TAIL_BYTES));
  const length = footerLength(tail.subarray(-TRAILER_BYTES));
  const whole =
    length + TRAILER_BYTES <= tail.length ? tail : await readSpan(source, lastBytes(source, length + TRAILER_BYTES));
  return parseFooter(whole.subarray(whole.length - TRAILER_BYTES - length, whole.length - TRAILER_BYTES));
}

function lastBytes({ bytes }: Source, length: number): ByteSpan {
  const offset = Math.max(0, bytes - length);
  return { offset, length: bytes - offset };
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
    (traces === null || overlaps('trace_id', traces.from, traces.to))
  );
}

const bloomsOf = ({ columns }: RowGroup, names: ReadonlySet<string>): readonly ByteSpan[] =>
  [...columns.values()].flatMap(({ name, bloom }) => (names.has(name) && bloom !== null ? [bloom] : []));

async function withoutExcluded(
  duck: Duck,
  path: string,
  { groups, trace }: { readonly groups: readonly RowGroup[]; readonly trace: string },
): Promise<readonly RowGroup[]> {
  if (groups.every(({ columns }) => columns.get('trace_id')?.bloom === null)) return groups;
  const rows = await duck.rows(
    `SELECT row_group_id::INTEGER AS id, bloom_filter_excludes AS excluded FROM parquet_bloom_probe(${literal(path)}, 'trace_id', ${literal(trace)})`,
  );
  const excluded = new Set(rows.filter((row) => row['excluded'] === true).map(({ id }) => Number(id)));
  return groups.filter((_, index) => !excluded.has(index));
}

const spansOf = ({ columns }: RowGroup, wanted: ReadonlySet<string>): readonly ByteSpan[] =>
  [...columns.values()].filter(({ name }) => wanted.has(name)).map(({ data }) => data);

/** In order, with near ones as one. */
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
}

async function readSpan(source: Source, span: ByteSpan): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await source.store.get(source.key, span)) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  source.count(bytes.length);
  return bytes;
}

/** Behind the place of the original one, so that it never overlaps data. */
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
