/**
 * Records of objects as Parquet files of this machine, one for each day of some parts. They are read as the files of
 * the lake are.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { copyLines, type PartSource } from '../compaction/part-lines.ts';
import { lineQuery } from '../compaction/line-rows.ts';
import { type Duck, literal } from '../duckdb.ts';
import { conditionOf, LAKE_TABLES, type LakeTable } from '../lake-table.ts';
import { Staging } from '../staging.ts';
import type { ArchivedFile } from './archived-files.ts';
import { type ColumnChoice, isRead } from './column-choice.ts';
import { conditionOfTraces, type TraceRange } from './partial-file.ts';
import type { WaitingPart } from './waiting-parts.ts';

/** Compressed parts that become files together: their rows are in a temporary file and in DuckDB. */
const CHUNK_BYTES = 16 * 1024 * 1024;

export interface PartFilesWork {
  readonly source: PartSource;
  readonly duck: Duck;
  /** A folder for temporary files, which has the files afterwards. */
  readonly folder: string;
  readonly columns: ColumnChoice;
  /** As `copyLines` calls it. */
  leaveOut(error: unknown, parts: readonly WaitingPart[]): Promise<void>;
}

/** Writes all records of the parts, or those of the chosen traces. */
export async function makePartFiles(
  work: PartFilesWork,
  parts: readonly WaitingPart[],
  traces: readonly TraceRange[] | null,
): Promise<readonly ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  // Readers have tables with the names of those of the staging.
  await work.duck.run('CREATE SCHEMA parts; USE parts');
  try {
    for (const whole of LAKE_TABLES) {
      const table = { ...whole, columns: whole.columns.filter(({ name }) => isRead(work.columns, name)) };
      for (const chunk of chunksOf(parts.filter(({ signal }) => signal === table.signal))) {
        const [first] = chunk;
        const name = `${table.signal}-${first.objectId}-${first.firstByte}`;
        files.push(...(await filesOfChunk(work, table, { chunk, traces, name })));
      }
    }
    return files;
  } finally {
    await work.duck.run('USE main; DROP SCHEMA parts CASCADE');
  }
}

type Chunk = readonly [WaitingPart, ...WaitingPart[]];

/** The order of compaction, so that the same one of several spans with one key is used. */
function chunksOf(parts: readonly WaitingPart[]): readonly Chunk[] {
  const chunks: [WaitingPart, ...WaitingPart[]][] = [];
  let bytes = 0;
  for (const part of parts) {
    const last = chunks.at(-1);
    if (last !== undefined && bytes + part.bytes <= CHUNK_BYTES) last.push(part);
    else {
      chunks.push([part]);
      bytes = 0;
    }
    bytes += part.bytes;
  }
  for (const chunk of chunks)
    chunk.sort((a, b) => (a.objectId < b.objectId ? -1 : a.objectId > b.objectId ? 1 : a.firstByte - b.firstByte));
  return chunks;
}

interface ChunkRows {
  readonly chunk: Chunk;
  readonly traces: readonly TraceRange[] | null;
  readonly name: string;
}

async function filesOfChunk(
  { source, duck, folder, leaveOut }: PartFilesWork,
  table: LakeTable,
  { chunk, traces, name }: ChunkRows,
): Promise<readonly ArchivedFile[]> {
  const staging = new Staging(duck, table);
  const lines = join(folder, `${name}.ndjson`);
  try {
    const copied = await copyLines(source, chunk, { path: lines, report: () => undefined, leaveOut });
    const rows = lineQuery(table, lines, copied.longestLine);
    const where = traces === null ? '' : ` WHERE ${conditionOfTraces(traces)}`;
    await staging.load(`SELECT * FROM (${rows})${where}`, copied.bytes);
  } finally {
    await rm(lines, { force: true });
  }
  const files: ArchivedFile[] = [];
  for (const day of await staging.days()) {
    await staging.chooseNew(conditionOf(table, day), []);
    const path = join(folder, `${name}-${day}.parquet`);
    await staging.write(path, { job: '', token: '' });
    const { minNs, maxNs, projects } = await staging.extentOf(path);
    const [row] = await duck.rows(`SELECT count(*)::double AS records FROM read_parquet(${literal(path)})`);
    files.push({
      signal: table.signal,
      day,
      key: path,
      records: Number(row?.['records']),
      bytes: 0,
      minNs: minNs === null ? null : BigInt(minNs),
      maxNs: maxNs === null ? null : BigInt(maxNs),
      projects,
      local: { path, columns: new Set(table.columns.map((column) => column.name)) },
    });
  }
  return files;
}
