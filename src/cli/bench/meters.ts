/** What the daemon, its database and this process have used so far. What cannot be read is null. */
import type { Database } from '../../extensions/postgres/database.ts';
import { parentOf, usageOf } from './process-family.ts';
import { readFileSync } from 'node:fs';

const METRICS_TIMEOUT_MS = 5000;

export interface Reading {
  readonly daemonSeconds: number | null;
  readonly daemonBytes: number | null;
  /** Processor seconds of all processes of the server, if it runs on this machine. */
  readonly databaseSeconds: number | null;
  readonly databaseBytes: number | null;
  /** Written to the write-ahead log. */
  readonly walBytes: number | null;
  /** The processor time of this process. */
  readonly ownSeconds: number;
}

export interface Sources {
  readonly metricsUrl: string | null;
  readonly database: Database | null;
}

export async function readMeters({ metricsUrl, database }: Sources): Promise<Reading> {
  const { user, system } = process.cpuUsage();
  return { ...(await readDaemon(metricsUrl)), ...(await readDatabase(database)), ownSeconds: (user + system) / 1e6 };
}

async function readDaemon(url: string | null): Promise<Pick<Reading, 'daemonSeconds' | 'daemonBytes'>> {
  try {
    const answer = url === null ? null : await fetch(url, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
    const text = answer?.ok === true ? await answer.text() : '';
    return {
      daemonSeconds: sumOf(text, 'otelcol_process_cpu_seconds'),
      daemonBytes: sumOf(text, 'otelcol_process_memory_rss'),
    };
  } catch {
    return { daemonSeconds: null, daemonBytes: null };
  }
}

/** The sum over the processes of the daemon, from the Prometheus text format. */
function sumOf(text: string, name: string): number | null {
  const values = text.split('\n').filter((line) => new RegExp(`^${name}(?:_total)?(?:\\{.*\\})? `, 'u').test(line));
  if (values.length === 0) return null;
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function readDatabase(
  database: Database | null,
): Promise<Pick<Reading, 'databaseSeconds' | 'databaseBytes' | 'walBytes'>> {
  if (database === null) return { databaseSeconds: null, databaseBytes: null, walBytes: null };
  const { rows } = await database.query(
    `SELECT pg_backend_pid() AS pid, pg_database_size(current_database())::float8 AS size,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal`,
  );
  const [row] = rows;
  const pid = Number(row?.['pid']);
  return {
    databaseSeconds: isLocalServer(pid) ? usageOf(parentOf(pid)).cpuSeconds : null,
    databaseBytes: Number(row?.['size']),
    walBytes: Number(row?.['wal']),
  };
}

/** Whether the process with this number is a PostgreSQL server's, and not that of another machine or container. */
function isLocalServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('postgres:');
  } catch {
    return false;
  }
}
