/** `sluice components`: the components that a configuration can use. */
import { COMPONENTS } from '../components.ts';
import type { Definition } from '../component/definition.ts';
import type { Command } from './command.ts';
import { layOut } from './terminal.ts';
import { flagOption } from './options.ts';

const KINDS = ['receiver', 'processor', 'exporter', 'extension'] as const;

export const command: Command = {
  options: { json: flagOption('Print JSON, with the schema of every option') },
  examples: [
    ['sluice components', 'list them'],
    ['sluice components --json', 'the same for programs, with the JSON Schema of their options'],
  ],
  async run({ values, terminal }) {
    terminal.print(values.flag('json') ? JSON.stringify(asData(), null, 2) : asText(terminal.style.bold));
  },
};

const ofKind = (kind: Definition['kind']): readonly Definition[] => COMPONENTS.filter((each) => each.kind === kind);

function asText(bold: (text: string) => string): string {
  const widest = Math.max(0, ...COMPONENTS.map(({ type }) => type.length));
  return KINDS.map((kind) => {
    const rows = ofKind(kind).map(({ type, stability, summary }) => [
      type.padEnd(widest),
      stability.padEnd(11),
      summary,
    ]);
    return `${bold(`${kind}s`)}\n${layOut(rows, '  ')}`;
  }).join('\n\n');
}

function asData() {
  return Object.fromEntries(KINDS.map((kind) => [`${kind}s`, ofKind(kind).map(describe)]));
}

function describe(definition: Definition) {
  const { type, summary, stability, schema, example } = definition;
  return {
    type,
    summary,
    stability,
    ...('signals' in definition ? { signals: definition.signals } : {}),
    ...('requires' in definition ? { requires: definition.requires } : {}),
    ...('provides' in definition ? { provides: definition.provides } : {}),
    example,
    schema,
  };
}
