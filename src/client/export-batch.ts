/** One export of a batch of spans or log records, with a limit of time. */
import type { Resource } from '@opentelemetry/resources';
import { type Clock, settledWithin } from './clock.ts';
import { asError, ExportFailure } from './failure.ts';
import { untraced } from './untraced.ts';

interface BatchExporter<T> {
  export(batch: T[], done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/**
 * Resolves when the exporter reports that the batch is stored. Rejects when it reports a failure, throws, or does not
 * answer within the limit, in milliseconds.
 */
export async function exportBatch<T extends { readonly resource: Resource }>(
  exporter: BatchExporter<T>,
  batch: T[],
  limitMs: number,
  clock: Clock,
): Promise<void> {
  let failure: Error | undefined;
  const answered = exported(exporter, batch).catch((error: unknown) => {
    failure = asError(error);
  });
  if (!(await settledWithin(clock, limitMs, answered)))
    throw new ExportFailure(`the export took longer than ${limitMs} ms`, { reason: 'timeout' });
  if (failure !== undefined) throw failure;
}

async function exported<T extends { readonly resource: Resource }>(
  exporter: BatchExporter<T>,
  batch: T[],
): Promise<void> {
  const resources = new Set(batch.map(({ resource }) => resource));
  await Promise.all([...resources].map((resource) => resource.waitForAsyncAttributes?.()));
  return new Promise((resolve, reject) =>
    untraced(() =>
      exporter.export(batch, ({ code, error }) =>
        code === 0 ? resolve() : reject(error ?? new Error('export failed')),
      ),
    ),
  );
}
