/** A request whose path names no project, because the path is that of another product's API. */
import { ConsoleError } from '../errors.ts';
import type { Reply, RequestContext, Route } from './route.ts';

/** The header that Grafana's data sources can be given for a tenant. */
const HEADER = 'x-scope-orgid';

/** The reply of the handler for the project. For a trace of archived days, the reply of the process that reads them. */
export async function replyInOwnProject(context: RequestContext, handle: Route['handle']): Promise<Reply> {
  const project = await ownProjectOf(context);
  const archived = await context.archived(project);
  return archived ?? handle(Object.create(context, { project: { value: project } }) as RequestContext);
}

/** The caller's only project, or the one that the parameter `project` or the header names. */
async function ownProjectOf({ administration, caller, headers, query }: RequestContext): Promise<string> {
  const named = query.get('project') ?? headers[HEADER] ?? '';
  const projects = caller.projects ?? (await administration.listProjects()).map(({ name }) => name);
  if (named !== '' && !projects.includes(named)) throw new ConsoleError('not_found');
  if (named !== '') return named;
  const [project] = projects;
  if (project !== undefined && projects.length === 1) return project;
  throw new ConsoleError('request_invalid', {
    message: 'The request must name a project.',
    hint: 'Use a read token, the parameter project, or the header X-Scope-OrgID.',
  });
}
