/** `sluice print-config`: the effective configuration. */
import { Document, isScalar, visit } from 'yaml';
import type { Config } from '../config/config.ts';
import { REDACTED } from '../component/masked-url.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { flagOption, textOption, UsageError } from './options.ts';

const FORMATS = ['yaml', 'json'];

export const command: Command = {
  description:
    'Files are merged, variables replaced and defaults filled in. Secrets are shown as [REDACTED]. A secret that comes from\na variable or a file is printed as that reference, so Sluice can be started with the output; write such a reference\nin place of every other [REDACTED].',
  options: {
    ...CONFIG_OPTIONS,
    format: textOption('yaml|json', 'Form of the output', { default: 'yaml' }),
    json: flagOption('The same as --format json'),
  },
  examples: [
    ['sluice print-config', 'show config/sluice.yaml with all defaults'],
    ['sluice print-config --set service.shutdown_timeout=30s --json', 'show it with one option changed, as JSON'],
  ],
  async run(call) {
    const { values, terminal } = call;
    const format = values.flag('json') ? 'json' : values.word('format');
    if (!FORMATS.includes(format)) throw new UsageError(`--format must be ${FORMATS.join(' or ')}, not "${format}"`);
    const document = documentOf(await readConfig(call));
    terminal.print(format === 'json' ? JSON.stringify(document, null, 2) : document.toString({ lineWidth: 0 }));
  },
};

/** The configuration as it can be read again. */
function documentOf({ redacted, references }: Config): Document {
  const document = new Document(redacted);
  // The text of a value would be taken for a reference.
  visit(document, {
    Scalar: (key, node) => {
      if (key !== 'key' && typeof node.value === 'string') node.value = node.value.replace(/\$(?=[${])/gu, '$$$$');
    },
  });
  for (const { path, reference } of references) {
    const node = document.getIn(path, true);
    if (!isScalar(node)) continue;
    node.value = reference;
    node.comment = ` ${REDACTED}`;
  }
  return document;
}
