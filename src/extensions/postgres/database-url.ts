/** Checks and describes the configured URL of the database. */
import pg from 'pg';
import { faultOfDatabaseUrl, forClient, type UrlFault } from '../../component/database-url.ts';
import { UserError } from '../../errors.ts';

/** Null for a URL that can be used. Reads the certificates that it names, and does not connect. */
export function faultOfUrl(url: string): UrlFault | null {
  return faultOfDatabaseUrl(url) ?? faultOfParameters(url);
}

function faultOfParameters(url: string): UrlFault | null {
  try {
    new pg.Client({ connectionString: forClient(url) });
    return null;
  } catch (error) {
    return { message: (error as Error).message, hint: 'Correct the parameters after the question mark.' };
  }
}

/** Throws a `UserError` for a URL that cannot be used. */
export function checkUrl(url: string): void {
  const fault = faultOfUrl(url);
  if (fault !== null) throw new UserError(`extensions.postgres.url cannot be used: ${fault.message}`, fault.hint);
}

/** Host, port and name. The text says so when the URL is not valid. */
export function describeDatabase(url: string): string {
  try {
    const { host, port, database } = new pg.Client({ connectionString: forClient(url) });
    const place = host.startsWith('/') ? host : `${host}:${port}`;
    return `${database ?? 'the default database'} at ${place}`;
  } catch {
    return 'an invalid URL';
  }
}
