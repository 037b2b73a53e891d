/** `sluice mcp`: tools for coding agents over standard input and output, by the Model Context Protocol. */
import { resolve } from 'node:path';
import { readLimitedFile } from '../component/limited-file.ts';
import type { Logger } from '../component/logger.ts';
import { UserError } from '../errors.ts';
import { ChildCommands } from '../daemon/child-commands.ts';
import { ArchiveReaders } from '../extensions/console/server/archive-readers.ts';
import { DatabaseApi } from '../extensions/console/mcp/database-api.ts';
import type { ToolScene } from '../extensions/console/mcp/tool.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { PostgresPeople } from '../extensions/postgres/people.ts';
import { Readers } from '../extensions/postgres/reader.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS, configWords } from './config-options.ts';
import { ConsoleApi } from './console-api.ts';
import { type Opened, withDatabase } from './database.ts';
import { explainStoredSpan } from './explain.ts';
import { fileFault } from '../component/file-fault.ts';
import { flagOption, listOption, textOption, UsageError } from './options.ts';
import { queryViews } from './view-queries.ts';
import { versionOf } from '../component/version.ts';

const TOKEN_VARIABLE = 'SLUICE_READ_TOKEN';
const MAX_TOKEN_FILE_BYTES = 65_536;
const READER = { url: '', connections: 3, timeoutMs: 30_000, applicationName: 'sluice-mcp' } as const;
const BY = { id: null, name: 'sluice mcp' } as const;
const DATABASE_ONLY = ['project', 'no-content', 'sql', 'config', 'set'] as const;

export const command: Command = {
  description:
    'Coding agents start it and read stored telemetry by its tools; nothing is changed. It opens the database, or with --url asks a\nconsole with a read token, which is read from --token-file or SLUICE_READ_TOKEN. docs/mcp.md has the lines for common agents.',
  options: {
    ...CONFIG_OPTIONS,
    project: listOption('NAME', 'A project that is shown; repeatable', { short: 'p', otherwise: 'all projects' }),
    'no-content': flagOption('Do not show prompts, answers, attributes and tool payloads'),
    sql: flagOption('Offer query_sql: one SELECT on the views of a project'),
    url: textOption('URL', 'Ask the console at this address instead of the database'),
    'token-file': textOption('FILE', 'The file with the read token for --url', { otherwise: TOKEN_VARIABLE }),
  },
  examples: [
    ['sluice mcp', 'all projects of the database of this configuration'],
    ['sluice mcp --url https://sluice.example.com --token-file ~/.config/sluice/token', 'one project of a console'],
  ],
  run: (call) => {
    const url = call.values.text('url');
    if (url !== undefined) return serveConsole(call, url);
    if (call.values.text('token-file') !== undefined) throw new UsageError('--token-file needs --url');
    if (call.values.flag('sql') && call.values.flag('no-content'))
      throw new UsageError('--sql shows content, so it cannot be used with --no-content');
    return withDatabase(call, 'read', (database, opened) => serveDatabase(call, database, opened));
  },
};

async function serveConsole(call: Call, url: string): Promise<void> {
  const given = DATABASE_ONLY.find((name) => call.values.flag(name));
  if (given !== undefined)
    throw new UsageError(`--${given} cannot be used with --url: the token decides what is shown`);
  if (!/^https?:\/\/[^/?#@\s]+\/?$/u.test(url))
    throw new UsageError(`"${url}" is not the address of a console`, 'as http://127.0.0.1:4319');
  const api = new ConsoleApi(url.replace(/\/$/u, ''), tokenOf(call));
  return serve(call, { api, explain: null, sql: null });
}

function tokenOf({ values, process }: Call): string {
  const file = values.text('token-file');
  const token = (
    file === undefined ? (process.env[TOKEN_VARIABLE] ?? '') : readToken(resolve(process.cwd(), file))
  ).trim();
  if (/^slr_\S+$/u.test(token)) return token;
  throw new UserError(
    token === '' ? 'there is no read token' : 'this is not a read token',
    `Make one on the page of the project, and put it into ${TOKEN_VARIABLE} or a file for --token-file.`,
  );
}

function readToken(path: string): string {
  try {
    return readLimitedFile(path, { maxBytes: MAX_TOKEN_FILE_BYTES, pipes: true }).toString('utf8');
  } catch (error) {
    throw new UserError(`the file of the token cannot be read: ${fileFault(error)}`);
  }
}

async function serveDatabase(call: Call, database: Database, { config, options }: Opened): Promise<void> {
  const reader = new Readers(database, options.views_schema).open(READER);
  const projects = call.values.list('project');
  const commands = new ChildCommands({ process: call.process, configWords: configWords(call.values) });
  const archived = new ArchiveReaders(commands, loggerOf(call));
  const api = new DatabaseApi({
    archived,
    reader,
    administration: new Administration(database, BY),
    people: new PostgresPeople(database),
    projects: projects.length === 0 ? null : projects,
    seesContent: !call.values.flag('no-content'),
  });
  const views = options.views_schema;
  const scene: ToolScene = {
    api,
    explain: (question) => explainStoredSpan(call, { reader, config, database }, question),
    sql: call.values.flag('sql') ? (question) => queryViews({ database, views, api }, question) : null,
  };
  try {
    return await serve(call, scene);
  } finally {
    archived.stop();
    await reader.close();
  }
}

/** Standard error is for people. Failures only: an agent shows it. */
function loggerOf({ terminal }: Call): Logger {
  const nothing = (): void => undefined;
  const say: Logger['warn'] = (fields, message) =>
    terminal.say(`${message}: ${String('error' in fields ? fields.error : '')}`);
  return { debug: nothing, info: nothing, warn: say, error: say };
}

/** Until the agent closes standard input. */
async function serve({ process, terminal }: Call, scene: ToolScene): Promise<void> {
  const [{ makeServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import('../extensions/console/mcp/server.ts'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const failed = (error: unknown): void =>
    terminal.say(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const ended = new Promise<void>((done) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => done());
  });
  const handle = serveStdio(() => makeServer({ scene, version: versionOf(), failed }), {
    transport: new StdioServerTransport(process.stdin, process.stdout),
    onerror: failed,
  });
  await ended;
  await handle.close();
}
