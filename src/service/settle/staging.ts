/**
 * Stages the rows of one request before its commit. Rows of exporters that do not stage stay as they are. Staged rows
 * take the place of those they were made from, whose memory is released.
 */
import { Rejection } from '../../errors.ts';
import { type ExporterRows, releaseRows } from './writes.ts';

/**
 * Resolves with the rows to settle, which the caller releases. Rejects with a `Rejection` when one exporter could not
 * stage; all rows are released then.
 */
export async function stageRows(encoded: readonly ExporterRows[]): Promise<readonly ExporterRows[]> {
  const inTables = encoded.some(({ exporter }) => exporter.fillsTables === true);
  const results = await Promise.allSettled(encoded.map((one) => stage(one, inTables)));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure === undefined) return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  for (const result of results) if (result.status === 'fulfilled') releaseRows([result.value]);
  throw asRejection(failure.reason);
}

async function stage(one: ExporterRows, inTables: boolean): Promise<ExporterRows> {
  const { exporter } = one;
  if (exporter.stage === undefined) return one;
  try {
    return { exporter, rows: await exporter.stage(one.rows, inTables) };
  } finally {
    releaseRows([one]);
  }
}

function asRejection(error: unknown): Rejection {
  if (error instanceof Rejection) return error;
  return new Rejection('ingestion_failed', { cause: error instanceof Error ? error.message : String(error) });
}
