/** Writes all rows of one snapshot as a backup. Daemons continue to write meanwhile. */
import type { Database } from '../database.ts';
import { BackupWriter, FORMAT, type Sink, type UnitStream } from './backup-file.ts';
import { copyTarget, type Unit } from './catalogue.ts';
import { copyOut } from './copy.ts';
import { type Report, watched } from './progress.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';

export interface BackupOptions {
  readonly version: string;
  readonly report: Report;
}

export interface BackupResult {
  readonly takenAt: Date;
  readonly rows: number;
  readonly bytes: number;
}

export function backUp(database: Database, sink: Sink, { version, report }: BackupOptions): Promise<BackupResult> {
  return withSnapshot(database, { freeze: false }, async (snapshot) => {
    const { catalogue, server, takenAt } = snapshot;
    const { migrations, tables, partitions, sequences } = catalogue;
    const writer = new BackupWriter(sink);
    await writer.begin({
      format: FORMAT,
      version,
      server,
      taken_at: takenAt.toISOString(),
      migrations,
      tables,
      partitions,
      sequences,
    });
    for (const unit of readUnits(snapshot, report)) await writer.unit(unit);
    const { rows } = await writer.end();
    return { takenAt, rows, bytes: writer.bytes };
  });
}

/** The units of a snapshot. The blocks of one must be read before the next one. */
export function* readUnits(snapshot: Snapshot, report: Report): Generator<UnitStream> {
  const { units } = snapshot.catalogue;
  const total = units.reduce((sum, { bytes }) => sum + bytes, 0);
  const reading: Reading = { snapshot, report, total, rows: 0, bytes: 0, sizeBefore: 0 };
  for (const unit of units) {
    const found = { rows: 0 };
    yield { table: unit.table, name: unit.name, blocks: readUnit(reading, unit, found), rows: () => found.rows };
  }
}

interface Reading {
  readonly snapshot: Snapshot;
  readonly report: Report;
  /** Sizes on disk. */
  readonly total: number;
  sizeBefore: number;
  /** Rows and bytes of complete units. */
  rows: number;
  bytes: number;
}

/** The query begins with the first block, so that a unit can be left out. */
async function* readUnit(reading: Reading, unit: Unit, found: { rows: number }): AsyncGenerator<Buffer> {
  const { client, catalogue } = reading.snapshot;
  const copy = copyOut(client, `${copyTarget(unit, catalogue.tables)} TO STDOUT (FORMAT binary)`);
  let own = 0;
  yield* watched(copy.blocks, (bytes) => {
    own += bytes;
    reading.bytes += bytes;
    const share = (reading.sizeBefore + Math.min(own, unit.bytes)) / reading.total;
    reading.report({ unit: unit.name, rows: reading.rows + copy.rows(), bytes: reading.bytes, share });
  });
  found.rows = copy.rows();
  reading.rows += found.rows;
  reading.sizeBefore += unit.bytes;
}
