/** A database for a log line: host, port and name, never the password. */
import pg from 'pg';

/** The URL is valid, or the text says so. */
export function describeDatabase(url: string): string {
  try {
    // Parses the address and connects to nothing.
    const { host, port, database } = new pg.Client({ connectionString: url });
    const place = host.startsWith('/') ? host : `${host}:${port}`;
    return `${database ?? 'the default database'} at ${place}`;
  } catch {
    return 'an invalid URL';
  }
}
