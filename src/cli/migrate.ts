/** `sluice migrate`: only migrates the schema, for deployments whose daemon may not change it. */
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';

export const command: Command = {
  options: CONFIG_OPTIONS,
  examples: [
    ['sluice migrate --config config/gateway.yaml', 'prepare the database before the first start or an upgrade'],
  ],
  run: (call) =>
    withDatabase(call, 'migrate', async (_database, { applied }) => {
      call.terminal.print(applied.length === 0 ? 'The schema is current.' : `Applied: ${applied.join(', ')}`);
    }),
};
