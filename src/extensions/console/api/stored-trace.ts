/** One stored trace of a project: its row, without which a request for it is 404. */
import { ConsoleError } from '../errors.ts';
import { LOGS_SINCE } from '../filter/trace-spans.ts';
import type { RequestContext } from '../server/route.ts';
import { traceIdOf } from './question.ts';

export interface StoredTrace {
  readonly id: Buffer;
  readonly hex: string;
  readonly project: string;
  readonly environment: string;
  /** The lowest and highest start of its spans; null: it has log records only. */
  readonly firstNs: string | null;
  readonly lastNs: string | null;
  /** No log record of it arrived earlier. */
  readonly logsSince: unknown;
}

/** The trace of the path. A trace of another project is 404, as one that does not exist. */
export async function findTrace(context: RequestContext, id: Buffer = traceIdOf(context)): Promise<StoredTrace> {
  const [row] = await context.reader.query(
    `SELECT environment, first_ns, last_ns, ${LOGS_SINCE} AS logs_since FROM sluice.traces t WHERE trace_id = $1::bytea AND project = $2::text`,
    [id, context.project],
  );
  if (row === undefined) throw new ConsoleError('not_found');
  const textOf = (value: unknown): string | null => (value === null ? null : String(value));
  return {
    id,
    hex: id.toString('hex'),
    project: context.project,
    environment: String(row['environment']),
    firstNs: textOf(row['first_ns']),
    lastNs: textOf(row['last_ns']),
    logsSince: row['logs_since'],
  };
}

/** The values of `IN_TRACE`. No span lies between 1 and 0. */
export const valuesOf = ({ project, id, firstNs, lastNs }: StoredTrace): readonly unknown[] => [
  project,
  id,
  firstNs ?? '1',
  lastNs ?? '0',
];
