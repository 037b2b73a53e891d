/** Login, log-out, and what the caller may do. */
import { ConsoleError } from '../errors.ts';
import { API, changeRoute, EMPTY, json, type RequestContext, type Route, readRoute } from '../server/route.ts';
import { textIn } from './body-fields.ts';
import type { MeShape } from './shapes/management.ts';

/** One answer for links that are unknown, used or expired. */
async function logIn({ login, body }: RequestContext) {
  const opened = await login.open(textIn(body, 'link') ?? '');
  if (opened === null)
    throw new ConsoleError('login_required', {
      message: 'This link does not work. A link works once, within 15 minutes.',
      hint: 'Print a new one with `sluice console`.',
    });
  const { name, role } = opened.person;
  return { ...json({ name, role }, 201), headers: { 'Set-Cookie': opened.cookie } };
}

async function logOut({ login }: RequestContext) {
  return { ...EMPTY, headers: { 'Set-Cookie': await login.close() } };
}

async function me({ caller, administration, daemon }: RequestContext) {
  const stored = await administration.listProjects();
  const names = stored.map((project) => project.name);
  const answer: MeShape = {
    id: caller.by === 'token' || caller.id === '' ? null : caller.id,
    name: caller.name,
    role: caller.role,
    by: caller.by,
    projects: caller.projects === null ? names : names.filter((name) => caller.projects?.includes(name)),
    sees_content: caller.seesContent,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    version: daemon?.version ?? '',
    endpoint: daemon?.endpoint ?? null,
  };
  return json(answer);
}

export const SESSION_ROUTES: readonly Route[] = [
  changeRoute('POST', `${API}/session`, { role: 'anyone', body: ['link'] }, logIn),
  changeRoute('DELETE', `${API}/session`, { role: 'viewer' }, logOut),
  readRoute(`${API}/me`, [], me),
];
