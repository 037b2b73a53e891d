/** `sluice console`: a one-time link to the console. */
import { ROLES, type PersonDraft } from '../component/capabilities/people.ts';
import type { Config } from '../config/config.ts';
import { FIRST_PERSON } from '../daemon/daemon-host.ts';
import { findDaemons } from '../daemon/runtime-folder.ts';
import { UserError } from '../errors.ts';
import { makeLink } from '../extensions/console/auth/make-link.ts';
import { baseUrlOf } from '../extensions/console/base-url.ts';
import type { ConsoleOptions } from '../extensions/console/options.ts';
import { PostgresPeople } from '../extensions/postgres/people.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, listOption, textOption, UsageError } from './options.ts';

export const command: Command = {
  description:
    'Prints a link that logs in one person once, within 15 minutes. A new person without --project and --no-content is an\nadmin, otherwise a viewer. Options change a person that exists.',
  options: {
    ...CONFIG_OPTIONS,
    name: textOption('NAME', 'The person', { default: FIRST_PERSON }),
    role: textOption('viewer|editor|admin', 'What the person may do'),
    project: listOption('NAME', 'A project that the person sees; repeatable', { short: 'p' }),
    'no-content': flagOption('The person does not see prompts, answers and tool payloads'),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice console', 'a link for the admin'],
    ['sluice console --name ada --role editor --project shop', 'one for an editor of a project'],
  ],
  run: (call) =>
    withDatabase(call, 'write', async (database, { config }) => {
      const url = await findUrl(call, config);
      const people = new PostgresPeople(database);
      const name = call.values.word('name');
      const draft = draftOf(call, (await people.findByName(name)) === null);
      const link = await makeLink(people, { name, ...draft }, url);
      if (call.values.flag('json')) call.terminal.print(JSON.stringify({ link, name }, null, 2));
      else {
        call.terminal.print(link);
        call.terminal.say(`Open it in a browser: it logs in ${name}, once, within 15 minutes.`);
      }
    }),
};

function draftOf({ values }: Call, isNew: boolean): Omit<PersonDraft, 'name'> {
  const word = values.text('role');
  const role = ROLES.find((each) => each === word);
  if (word !== undefined && role === undefined) throw new UsageError(`--role takes ${ROLES.join(', ')}, not "${word}"`);
  const projects = values.list('project');
  const limited = projects.length > 0 || values.flag('no-content');
  if (role === 'admin' && limited)
    throw new UsageError('an admin sees all projects and their content', 'use --role viewer or --role editor');
  const chosen = role ?? (isNew ? (limited ? 'viewer' : 'admin') : undefined);
  return {
    ...(chosen === undefined ? {} : { role: chosen }),
    ...(projects.length === 0 ? {} : { projects }),
    ...(values.flag('no-content') ? { seesContent: false } : {}),
  };
}

/** The running daemon knows its port; otherwise the configuration says where the console will be. */
async function findUrl(call: Call, config: Config): Promise<string> {
  const options = optionsOf(config);
  if (options === null)
    throw new UserError('this configuration has no console', 'Add console to extensions and to service.extensions.');
  const daemons = await findDaemons(call.process);
  const here = daemons.filter(({ status }) => status.folder === call.process.cwd());
  const running = here.length === 1 ? (here[0]?.status.console ?? null) : null;
  const url = running?.startsWith('http') === true ? running : baseUrlOf(options, options.endpoint);
  if (url !== null) return url;
  throw new UserError(
    'the console listens on a Unix domain socket',
    'Set its public_url to the address in the browser.',
  );
}

function optionsOf(config: Config): ConsoleOptions | null {
  for (const id of config.service.extensions) {
    const extension = config.extensions.get(id);
    if (extension?.definition.type === 'console') return extension.options as ConsoleOptions;
  }
  return null;
}
