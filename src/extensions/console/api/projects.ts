/** Projects, their API keys, their environments, and the deletion of a trace. */
import type { EnvironmentRow, KeyRow, ProjectRow } from '../../../component/capabilities/administration.ts';
import { ConsoleError } from '../errors.ts';
import {
  API,
  changeRoute,
  EMPTY,
  json,
  PROJECT,
  personRoute,
  type RequestContext,
  type Route,
  readRoute,
} from '../server/route.ts';
import { countIn, requiredTextIn, textIn, wordIn } from './body-fields.ts';
import type {
  DeletedTraceShape,
  EnvironmentShape,
  KeyShape,
  NewKeyShape,
  ProjectShape,
  RetentionShape,
} from './shapes/management.ts';
import { listPrices } from './prices.ts';

const PLANS = ['free', 'paid'] as const;
const PLAN = ['plan', 'monthly_spans'];
/** Environments of the newest traces are listed besides those with a setting. */
const RECENT_TRACES = 2000;
const NEWEST_TRACES = `
  SELECT p.name, (SELECT max(t.first_ns)::text FROM sluice.traces t WHERE t.project = p.name) AS newest
  FROM unnest($1::text[]) AS p (name)`;
const OLDEST_TRACE = 'SELECT min(first_ns)::text AS oldest FROM sluice.traces WHERE project = $1::text';
const RECENT_ENVIRONMENTS = `
  SELECT DISTINCT environment FROM (
    SELECT environment FROM sluice.traces WHERE project = $1 ORDER BY first_ns DESC NULLS LAST LIMIT ${RECENT_TRACES}) recent`;

async function listProjects({ caller, administration, reader }: RequestContext) {
  const stored = await administration.listProjects();
  const visible = stored.filter(({ name }) => caller.projects === null || caller.projects.includes(name));
  const rows = await reader.query(NEWEST_TRACES, [visible.map(({ name }) => name)]);
  const newest = new Map(rows.map((row) => [String(row['name']), row['newest'] as string | null]));
  return json({ items: visible.map((project) => projectShape(project, newest.get(project.name) ?? null)) });
}

const projectShape = (project: ProjectRow, newest: string | null): ProjectShape => ({
  name: project.name,
  plan: project.plan,
  monthly_spans: project.monthlySpans,
  spans_this_month: project.spansThisMonth,
  active_keys: project.activeKeys,
  newest_trace_unix_nano: newest,
  created_at: project.createdAt?.toISOString() ?? null,
});

async function showRetention({ project, reader, daemon }: RequestContext) {
  const [row] = await reader.query(OLDEST_TRACE, [project]);
  const kept = daemon?.keptFor ?? null;
  const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms / 1000));
  const answer: RetentionShape = {
    spans_seconds: seconds(kept?.spans),
    logs_seconds: seconds(kept?.logs),
    metrics_seconds: seconds(kept?.metrics),
    archived: kept?.isArchived ?? false,
    oldest_trace_unix_nano: (row?.['oldest'] ?? null) as string | null,
  };
  return json(answer);
}

async function createProject({ body, administration }: RequestContext) {
  const name = requiredTextIn(body, 'name');
  await administration.createProject(name, wordIn(body, 'plan', PLANS) ?? 'paid', countIn(body, 'monthly_spans'));
  return json({ name }, 201);
}

async function changeProject({ project, body, administration }: RequestContext) {
  const plan = wordIn(body, 'plan', PLANS);
  if (plan === undefined) throw new ConsoleError('body_invalid', { message: '"plan" must be free or paid.' });
  await administration.setPlan(project, plan, countIn(body, 'monthly_spans'));
  return EMPTY;
}

async function listKeys({ project, administration }: RequestContext) {
  return json({ items: (await administration.listKeys(project)).map(keyShape) });
}

const keyShape = (key: KeyRow): KeyShape => ({
  public_id: key.publicId,
  environment: key.environment,
  label: key.label,
  created_at: key.createdAt.toISOString(),
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

async function createKey({ project, body, administration, daemon }: RequestContext) {
  const key = await administration.createKey(project, textIn(body, 'environment'), textIn(body, 'label'));
  const answer: NewKeyShape = { public_id: key.publicId, key: key.text, endpoint: daemon?.endpoint ?? null };
  return json(answer, 201);
}

async function revokeKey({ project, parameter, administration }: RequestContext) {
  await administration.revokeKey(parameter('key'), project);
  return EMPTY;
}

async function listEnvironments({ project, administration, reader }: RequestContext) {
  const settings = await administration.listEnvironments(project);
  const recent = await reader.query(RECENT_ENVIRONMENTS, [project]);
  const captured = new Map<string, boolean | null>(recent.map((row) => [String(row['environment']), null]));
  for (const row of settings) captured.set(row.environment, captureOf(row));
  const items = [...captured]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([environment, capture]): EnvironmentShape => ({ environment, capture_content: capture }));
  return json({ items });
}

/** Null: not set, or not readable; ingest refuses requests with unreadable settings. */
function captureOf({ settings }: EnvironmentRow): boolean | null {
  const { capture_content: capture } = (settings ?? {}) as { readonly capture_content?: unknown };
  return typeof capture === 'boolean' ? capture : null;
}

async function setEnvironment({ project, parameter, body, administration }: RequestContext) {
  const capture = body['capture_content'];
  if (capture !== null && typeof capture !== 'boolean')
    throw new ConsoleError('body_invalid', { message: '"capture_content" must be true, false or null.' });
  await administration.setEnvironment(project, parameter('environment'), capture);
  return EMPTY;
}

async function deleteTrace({ project, parameter, administration }: RequestContext) {
  const deleted = await administration.deleteTrace(project, parameter('trace'));
  if (deleted === null) throw new ConsoleError('not_found');
  const { spans, logs, outboxEntries } = deleted;
  const answer: DeletedTraceShape = { spans, logs, outbox_entries: outboxEntries };
  return json(answer);
}

export const PROJECT_ROUTES: readonly Route[] = [
  readRoute(`${API}/projects`, [], listProjects),
  changeRoute('POST', `${API}/projects`, { role: 'admin', body: ['name', ...PLAN] }, createProject),
  changeRoute('PATCH', PROJECT, { role: 'admin', body: PLAN }, changeProject),
  personRoute(`${PROJECT}/keys`, 'editor', listKeys),
  changeRoute('POST', `${PROJECT}/keys`, { role: 'editor', body: ['environment', 'label'] }, createKey),
  changeRoute('DELETE', `${PROJECT}/keys/{key}`, { role: 'editor' }, revokeKey),
  readRoute(`${PROJECT}/environments`, [], listEnvironments),
  readRoute(`${PROJECT}/retention`, [], showRetention),
  listPrices,
  changeRoute(
    'PUT',
    `${PROJECT}/environments/{environment}`,
    { role: 'editor', body: ['capture_content'] },
    setEnvironment,
  ),
  changeRoute('DELETE', `${PROJECT}/traces/{trace}`, { role: 'editor' }, deleteTrace),
];
