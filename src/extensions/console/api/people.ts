/** People and their links, for admins. */
import type { Person, PersonDraft, PersonRow } from '../../../component/capabilities/people.ts';
import { ConsoleError } from '../errors.ts';
import { API, changeRoute, EMPTY, json, personRoute, type RequestContext, type Route } from '../server/route.ts';
import { flagIn, requiredTextIn, roleIn, textsIn } from './body-fields.ts';
import type { LinkShape, PersonShape } from './shapes/management.ts';

const PEOPLE = `${API}/people`;
const RIGHTS = ['role', 'projects', 'sees_content'];

async function listPeople({ people }: RequestContext) {
  return json({ items: (await people.list()).map(rowShape) });
}

const personShape = (person: Person): PersonShape => ({
  id: person.id,
  name: person.name,
  role: person.role,
  projects: person.projects,
  sees_content: person.seesContent,
  created_at: null,
  seen_at: null,
  sessions: [],
});

const rowShape = (row: PersonRow): PersonShape => ({
  ...personShape(row),
  created_at: row.createdAt.toISOString(),
  seen_at: row.seenAt?.toISOString() ?? null,
  sessions: row.sessions.map(({ id, createdAt, seenAt, address, agent }) => ({
    ...{ id, address, agent },
    created_at: createdAt.toISOString(),
    seen_at: seenAt.toISOString(),
  })),
});

function draftIn(body: RequestContext['body']): Omit<PersonDraft, 'name'> {
  const role = roleIn(body, 'role');
  const projects = textsIn(body, 'projects');
  const seesContent = flagIn(body, 'sees_content');
  return {
    ...(role === undefined ? {} : { role }),
    ...(projects === undefined ? {} : { projects }),
    ...(seesContent === undefined ? {} : { seesContent }),
  };
}

async function createPerson({ body, people, actor }: RequestContext) {
  const person = await people.create({ name: requiredTextIn(body, 'name'), ...draftIn(body) }, actor);
  return json(personShape(person), 201);
}

async function changePerson({ body, people, parameter, actor }: RequestContext) {
  const person = await people.change(parameter('person'), draftIn(body), actor);
  if (person === null) throw new ConsoleError('not_found');
  return json(personShape(person));
}

async function removePerson({ people, parameter, actor }: RequestContext) {
  if (!(await people.remove(parameter('person'), actor))) throw new ConsoleError('not_found');
  return EMPTY;
}

async function createLink({ login, parameter }: RequestContext) {
  const invitation = await login.invite(parameter('person'));
  if (invitation === null) throw new ConsoleError('not_found');
  const answer: LinkShape = { link: invitation.link, expires_at: invitation.expiresAt.toISOString() };
  return json(answer, 201);
}

export const PEOPLE_ROUTES: readonly Route[] = [
  personRoute(PEOPLE, 'admin', listPeople),
  changeRoute('POST', PEOPLE, { role: 'admin', body: ['name', ...RIGHTS] }, createPerson),
  changeRoute('PATCH', `${PEOPLE}/{person}`, { role: 'admin', body: RIGHTS }, changePerson),
  changeRoute('DELETE', `${PEOPLE}/{person}`, { role: 'admin' }, removePerson),
  changeRoute('POST', `${PEOPLE}/{person}/link`, { role: 'admin' }, createLink),
];
