/** The state of the daemon, for admins. */
import { API, json, personRoute, type RequestContext, type Route } from '../server/route.ts';
import type { StatusShape } from './shapes/management.ts';

const MIGRATIONS = 'SELECT name, applied_at FROM sluice.migrations ORDER BY name';

const OUTBOX = `
  SELECT destination, count(*) FILTER (WHERE state = 'waiting')::int4 AS waiting,
    coalesce(sum(bytes) FILTER (WHERE state = 'waiting'), 0)::float8 AS waiting_bytes,
    count(*) FILTER (WHERE state = 'dead')::int4 AS dead
  FROM sluice.outbox GROUP BY destination ORDER BY destination`;

async function status({ reader, daemon, service, refused, now }: RequestContext) {
  const migrations = await reader.query(MIGRATIONS);
  const outbox = await reader.query(OUTBOX);
  const state = daemon === null ? null : await daemon.status();
  const answer: StatusShape = {
    version: daemon?.version ?? '',
    started_at: new Date(now() - Number(state?.['uptimeSeconds'] ?? 0) * 1000).toISOString(),
    ready: service?.ready() ?? false,
    problems: service?.problems() ?? [],
    migrations: migrations.map((row) => ({
      name: String(row['name']),
      applied_at: (row['applied_at'] as Date).toISOString(),
    })),
    workers: daemon?.workers ?? 0,
    outbox: outbox.map((row) => ({
      destination: String(row['destination']),
      waiting: Number(row['waiting']),
      waiting_bytes: Number(row['waiting_bytes']),
      dead: Number(row['dead']),
    })),
    daemon: state,
    refusals: refused?.list().map(({ timeMs, ...rest }) => ({ time: new Date(timeMs).toISOString(), ...rest })) ?? null,
  };
  return json(answer);
}

export const STATUS_ROUTES: readonly Route[] = [personRoute(`${API}/status`, 'admin', status)];
