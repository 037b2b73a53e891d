/** Retention of a database with an archive, for tests that let it drop archived days. */
import { Retention } from '../../src/exporters/postgres/retention.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';

const QUIET = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** `kept`: days that retention keeps. */
export function archivedTables(url: string, kept = 3) {
  const database = new Database().use({ connectionString: url });
  const [days, months] = [kept * DAY_MS, 60 * DAY_MS];
  const periods = { isArchived: true, spans: days, logs: days, metrics: days, traces: days, usage: months };
  const retention = new Retention(database, periods, QUIET);
  return { expire: () => retention.expire(), close: () => database.close() };
}
