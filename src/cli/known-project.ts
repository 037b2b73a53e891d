/** Whether a project exists: an answer about a misspelt one would be empty. */
import { nearest } from '../component/nearest.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import type { Database } from '../extensions/postgres/database.ts';

/** A project of keys in the configuration has no row of its own. An interrupted erasure may have left nothing else. */
const IS_KNOWN = `
  SELECT EXISTS (SELECT FROM sluice.projects WHERE name = $1) OR EXISTS (SELECT FROM sluice.usage_months WHERE project = $1)
    OR EXISTS (SELECT FROM sluice.traces WHERE project = $1) OR EXISTS (SELECT FROM sluice.lake_jobs WHERE $1 = ANY (projects))
    OR EXISTS (SELECT FROM sluice.lake_erasures WHERE project = $1) AS known`;

/** Throws a `UserError` if the project is neither stored nor in the configuration. */
export async function requireProject(database: Database, config: Config, name: string): Promise<void> {
  if (projectsOfKeys(config).includes(name)) return;
  const { rows } = await database.query(IS_KNOWN, [name]);
  if (rows[0]?.['known'] === true) return;
  const known = (await new Administration(database).listProjects()).map((project) => project.name);
  const near = nearest(name, [...known, ...projectsOfKeys(config)]);
  const list = 'See `sluice project list`.';
  throw new UserError(`there is no project "${name}"`, near === null ? list : `Did you mean "${near}"? ${list}`);
}

/** Before such a key is used, the database knows nothing of its project. */
const projectsOfKeys = ({ processors }: Config): readonly string[] =>
  [...processors.values()]
    .filter(({ definition }) => definition.type === 'auth')
    .flatMap(({ options }) => (options as { readonly keys?: readonly { readonly project: string }[] }).keys ?? [])
    .map(({ project }) => project);
