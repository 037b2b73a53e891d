/** `sluice print-config`: the effective configuration. */
import { stringify } from 'yaml';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { UsageError } from './options.ts';

const FORMATS = ['yaml', 'json'];

export const printConfig: Command = {
  description: 'Files are merged, variables replaced and defaults filled in. Secrets are shown as [REDACTED].',
  options: {
    ...CONFIG_OPTIONS,
    format: { type: 'text', value: 'yaml|json', description: 'Form of the output', default: 'yaml' },
    json: { type: 'flag', description: 'The same as --format json' },
  },
  examples: [
    ['sluice print-config', 'show config/sluice.yaml with all defaults'],
    ['sluice print-config --set service.ledger=memory --json', 'show it with one option changed, as JSON'],
  ],
  async run(call) {
    const { values, terminal } = call;
    const format = values.flag('json') ? 'json' : values.word('format');
    if (!FORMATS.includes(format)) throw new UsageError(`--format must be ${FORMATS.join(' or ')}, not "${format}"`);
    const { redacted } = await readConfig(call);
    terminal.print(format === 'json' ? JSON.stringify(redacted, null, 2) : stringify(redacted, { lineWidth: 0 }));
    return 0;
  },
};
