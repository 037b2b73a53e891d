/** `sluice person …`: the people of the console. */
import type { PersonRow } from '../component/capabilities/people.ts';
import { UserError } from '../errors.ts';
import { COMMAND_LINE } from '../component/capabilities/people.ts';
import { PostgresPeople } from '../extensions/postgres/people.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { layOut } from './terminal.ts';
import { flagOption, onlyWord } from './options.ts';

const DAY_LENGTH = 10;

export const commands: Readonly<Record<string, Command>> = {
  list: {
    options: { ...CONFIG_OPTIONS, json: flagOption('Print JSON') },
    examples: [['sluice person list', 'list them']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const people = await new PostgresPeople(database).list();
        call.terminal.print(call.values.flag('json') ? JSON.stringify(people, null, 2) : table(people));
      }),
  },
  remove: {
    description: 'Removes a person and ends their sessions. Read tokens that they made stay.',
    options: CONFIG_OPTIONS,
    examples: [['sluice person remove ada', 'remove one']],
    run: (call) =>
      withDatabase(call, 'write', async (database) => {
        const people = new PostgresPeople(database);
        const name = onlyWord(call, 'NAME');
        const person = await people.findByName(name);
        if (person === null) throw new UserError(`there is no person "${name}"`, 'See `sluice person list`.');
        await people.remove(person.id, COMMAND_LINE);
        call.terminal.print(`Removed ${name}.`);
      }),
  },
};

function table(people: readonly PersonRow[]): string {
  if (people.length === 0) return 'There are no people yet. Make a link for the first one with: sluice console';
  const rows = people.map(({ name, role, projects, seesContent, sessions, seenAt }) => [
    name,
    role,
    projects === null ? '(all)' : projects.join(', '),
    seesContent ? 'yes' : 'no',
    String(sessions.length),
    seenAt?.toISOString().slice(0, DAY_LENGTH) ?? 'never',
  ]);
  return layOut([['NAME', 'ROLE', 'PROJECTS', 'CONTENT', 'SESSIONS', 'LAST SEEN'], ...rows]);
}
