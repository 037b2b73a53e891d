/** The query API without a listener, for a program that opens the database itself. */
import type { ProjectAdministration } from '../../../component/capabilities/administration.ts';
import type { People } from '../../../component/capabilities/people.ts';
import type { PostgresReader } from '../../../component/capabilities/postgres-reader.ts';
import { ROUTES } from '../api/routes.ts';
import { ConsoleError } from '../errors.ts';
import { asConsoleError } from '../server/failures.ts';
import { type ArchiveReaders, loadingOfDays } from '../server/archive-readers.ts';
import type { Caller, LeftOutFiles, Reply, RequestContext } from '../server/route.ts';
import { type Match, Router } from '../server/router.ts';
import { textOf } from '../server/sending.ts';
import { RowThread } from '../server/row-thread.ts';
import { McpThread } from './thread.ts';
import { type Api, ApiFault } from './tool.ts';

export interface DatabaseApiParts {
  readonly reader: PostgresReader;
  readonly administration: ProjectAdministration;
  readonly people: People;
  /** Null: all projects. */
  readonly projects: readonly string[] | null;
  readonly seesContent: boolean;
  /** As that of a request. */
  readonly archivedFrom?: bigint | null;
  readonly leftOut?: LeftOutFiles | null;
  /** Left out: the reader has the archived rows already. */
  readonly archived?: ArchiveReaders;
}

export class DatabaseApi implements Api {
  readonly #parts: DatabaseApiParts;
  readonly #router = new Router(ROUTES);
  /** A thread that is never started. */
  readonly #mcp = new McpThread(() => undefined);
  readonly #rowThread = new RowThread();
  readonly #signal = new AbortController().signal;

  constructor(parts: DatabaseApiParts) {
    this.#parts = parts;
  }

  async get(url: string): Promise<string> {
    return this.reply(url, textOf);
  }

  /** `whole` reads the reply to its end. */
  async reply<Result>(
    url: string,
    whole: (reply: Reply) => Promise<Result>,
    headers: RequestContext['headers'] = {},
  ): Promise<Result> {
    try {
      // Not a URL, which would read ".." as the segment above.
      const [path = ''] = url.split('?');
      const match = this.#router.find('GET', path);
      if (!match.route.readToken) throw new ConsoleError('forbidden');
      await this.#checkProject(match.parameters.get('project'));
      const context = this.#contextOf(match, url, headers);
      return await whole(
        (await context.archived(match.parameters.get('project') ?? null)) ?? (await match.route.handle(context)),
      );
    } catch (error) {
      const { code, message, hint, at } = asConsoleError(error);
      if (code === 'internal') throw error;
      throw new ApiFault(code, message, { hint, at });
    }
  }

  async #checkProject(name: string | undefined): Promise<void> {
    if (name === undefined) return;
    const { administration, projects } = this.#parts;
    const known = projects ?? (await administration.listProjects()).map((project) => project.name);
    if (!known.includes(name)) throw new ConsoleError('not_found', { message: 'There is no such project.' });
  }

  #contextOf(match: Match, url: string, headers: RequestContext['headers']): RequestContext {
    const {
      reader,
      administration,
      people,
      projects,
      seesContent,
      archived,
      archivedFrom = null,
      leftOut = null,
    } = this.#parts;
    const { parameters } = match;
    const query = new URLSearchParams(url.split('?')[1] ?? '');
    const caller: Caller = { by: 'none', id: '', name: 'sluice mcp', role: 'viewer', projects, seesContent };
    const parameter = (name: string): string => parameters.get(name) ?? '';
    const refuse = (): Promise<never> => Promise.reject(new ConsoleError('forbidden'));
    const nothing = (): void => undefined;
    const question = { path: url, headers, projects, seesContent };
    const asker = { reader, signal: this.#signal };
    return {
      ...{ caller, query, headers, reader, administration, people, parameter },
      project: parameter('project'),
      archived: async (project) => archived?.answerForTrace(match, project, { question, asker }) ?? null,
      archivedDays: async (days) => archived?.answer(loadingOfDays(days), question, asker) ?? null,
      archivedFrom,
      leftOut,
      body: {},
      signal: this.#signal,
      actor: { id: null, name: caller.name },
      login: { open: refuse, close: refuse, invite: refuse },
      read: (path) => this.get(path),
      mcp: this.#mcp,
      rowThread: this.#rowThread,
      daemon: null,
      service: null,
      refused: null,
      logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      now: () => Date.now(),
    };
  }
}
