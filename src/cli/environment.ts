/** `sluice environment …`: the content settings of a project's environments. */
import { Administration } from '../extensions/postgres/administration.ts';
import { normalizeEnvironment } from '../pdata/environment.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, textOption, UsageError } from './options.ts';
import { layOut } from './terminal.ts';

const CHOICES: ReadonlyMap<string, boolean | null> = new Map([
  ['on', true],
  ['off', false],
  ['default', null],
]);

export const commands: Readonly<Record<string, Command>> = {
  set: {
    description:
      'Prompts, answers and tool payloads are stored unless switched off. This setting wins over the configuration.',
    options: {
      ...CONFIG_OPTIONS,
      'capture-content': textOption(
        'on|off|default',
        'Store prompts, answers and tool payloads; default: as the configuration says',
      ),
    },
    examples: [
      ['sluice environment set shop production --capture-content off', 'store no content, only tokens and cost'],
    ],
    run: (call) =>
      withDatabase(call, 'write', async (database) => {
        const [project, name] = call.words;
        if (project === undefined || name === undefined) throw new UsageError('PROJECT and ENVIRONMENT are missing');
        const environment = normalizeEnvironment(name);
        const word = call.values.text('capture-content');
        if (word === undefined) throw new UsageError('--capture-content is missing', 'use on, off or default');
        const choice = CHOICES.get(word);
        if (choice === undefined) throw new UsageError(`--capture-content takes on, off or default, not "${word}"`);
        await new Administration(database).setEnvironment(project, environment, choice);
        call.terminal.print(
          `Content of ${project}, ${environment}: ${choice === null ? 'as the configuration says' : choice ? 'stored' : 'not stored'}.`,
        );
      }),
  },
  list: {
    options: {
      ...CONFIG_OPTIONS,
      project: textOption('NAME', 'Only those of one project', { short: 'p' }),
      json: flagOption('Print JSON'),
    },
    examples: [['sluice environment list', 'list them']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const rows = await new Administration(database).listEnvironments(call.values.text('project') ?? null);
        const lines = rows.map(({ project, environment, settings }) => [
          project,
          environment,
          JSON.stringify(settings),
        ]);
        const text =
          rows.length === 0
            ? 'Every environment follows the configuration.'
            : layOut([['PROJECT', 'ENVIRONMENT', 'SETTINGS'], ...lines]);
        call.terminal.print(call.values.flag('json') ? JSON.stringify(rows, null, 2) : text);
      }),
  },
};
