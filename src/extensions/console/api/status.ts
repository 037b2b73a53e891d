/** The state of the daemon, for admins. */
import { API, json, personRoute, type RequestContext, type Route } from '../server/route.ts';
import type { StatusShape } from './management-shapes.ts';

const MIGRATIONS = 'SELECT name, applied_at FROM sluice.migrations ORDER BY name';

async function status({ reader, daemon, service }: RequestContext) {
  const migrations = await reader.query(MIGRATIONS);
  const answer: StatusShape = {
    version: daemon?.version ?? '',
    ready: service?.ready() ?? false,
    problems: service?.problems() ?? [],
    migrations: migrations.map((row) => ({
      name: String(row['name']),
      applied_at: (row['applied_at'] as Date).toISOString(),
    })),
    daemon: daemon === null ? null : await daemon.status(),
    refusals: null,
  };
  return json(answer);
}

export const STATUS_ROUTES: readonly Route[] = [personRoute(`${API}/status`, 'admin', status)];
