/** `sluice key …`: API keys. The text of a key is printed once, when it is created. */
import type { KeyRow } from '../component/capabilities/administration.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import { PUBLIC_ID_LENGTH } from '../pdata/api-key.ts';
import { normalizeEnvironment } from '../pdata/environment.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { FIRST_PROJECT } from '../daemon/daemon-host.ts';
import { findEndpoint } from '../daemon/endpoint.ts';
import { sdkVariables } from './greeting.ts';
import { withDatabase } from './database.ts';
import { flagOption, onlyWord, textOption } from './options.ts';
import { boundUrl } from './running-daemon.ts';
import type { Terminal } from './terminal.ts';
import { describeTable } from './view/table.ts';

export const commands: Readonly<Record<string, Command>> = {
  create: {
    options: {
      ...CONFIG_OPTIONS,
      project: textOption('NAME', 'The project it belongs to', { short: 'p', default: FIRST_PROJECT }),
      environment: textOption('NAME', 'The one environment it may write', { short: 'e', otherwise: 'all of them' }),
      label: textOption('TEXT', 'A note about its use'),
      json: flagOption('Print JSON'),
    },
    examples: [
      ['sluice key create --project shop', 'a key for every environment'],
      ['sluice key create --project shop --environment production --label checkout', 'a key for one'],
    ],
    run: (call) =>
      withDatabase(call, 'write', async (database, { config }) => {
        const { values, terminal } = call;
        const project = values.word('project');
        const name = values.text('environment');
        const environment = name === undefined ? null : normalizeEnvironment(name);
        const administration = new Administration(database);
        const key = await administration.createKey(project, environment, values.text('label') ?? null);
        const revoke = (): Promise<void> => administration.revokeKey(key.publicId);
        const release = call.earlyEnd.prepare(revoke);
        const shown = { key: key.text, id: key.publicId, project, environment };
        terminal.print(values.flag('json') ? JSON.stringify(shown, null, 2) : key.text);
        if (!(await isWritten(call.process.stdout))) {
          await revoke().finally(release);
          return terminal.say('The key could not be shown, so it was revoked.');
        }
        release();
        if (values.flag('json')) return;
        terminal.say(
          `A key for project ${project}, ${environment === null ? 'all environments' : `environment ${environment}`}. It is not shown again.`,
        );
        const endpoint = await boundUrl(call, findEndpoint(config), ({ otlp }) => otlp?.http).catch(() => null);
        if (endpoint !== null) terminal.say(['', ...sdkVariables(endpoint, key.text)].join('\n'));
      }),
  },
  list: {
    options: {
      ...CONFIG_OPTIONS,
      project: textOption('NAME', 'Only those of one project', { short: 'p' }),
      json: flagOption('Print JSON'),
    },
    examples: [['sluice key list --project shop', 'the keys of one project']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const project = call.values.text('project') ?? null;
        const keys = await new Administration(database).listKeys(project);
        call.terminal.print(
          call.values.flag('json') ? JSON.stringify(keys, null, 2) : table(keys, project, call.terminal),
        );
      }),
  },
  revoke: {
    options: CONFIG_OPTIONS,
    examples: [['sluice key revoke 8fK2mQ0x', 'by its id, as in `sluice key list`']],
    run: (call) =>
      withDatabase(call, 'write', async (database) => {
        // A complete key is accepted as well.
        const id = onlyWord(call, 'ID').replace(/^slc_/, '').slice(0, PUBLIC_ID_LENGTH);
        await new Administration(database).revokeKey(id);
        call.terminal.print(`Revoked ${id}.`);
      }),
  },
};

/** Whether the output so far could be written. */
function isWritten(output: NodeJS.WritableStream): Promise<boolean> {
  return new Promise((resolve) => output.write('', (error) => resolve(error == null)));
}

/** `project`: the one that was asked for; null for all. */
function table(keys: readonly KeyRow[], project: string | null, terminal: Terminal): string {
  if (keys.length === 0) {
    const of = project === null ? '' : ` of a project "${project}"`;
    return `There are no keys${of}. Create one with: sluice key create --project <NAME>`;
  }
  const rows = keys.map(({ publicId, project, environment, label, createdAt, revokedAt }) => [
    publicId,
    project,
    environment ?? '(all)',
    createdAt.toISOString().slice(0, 10),
    revokedAt === null ? 'active' : `revoked ${revokedAt.toISOString().slice(0, 10)}`,
    label ?? '',
  ]);
  const heads = [['ID', 'PROJECT', 'ENVIRONMENT', 'CREATED', 'STATE', 'LABEL']];
  return describeTable({ heads, rows, shrinking: [heads[0]?.indexOf('LABEL') ?? 0] }, terminal);
}
