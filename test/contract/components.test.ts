/**
 * The obligations of every component: of those in `src/components.ts`, and of the examples of the documentation, which
 * are modules outside the repository's own code.
 */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseDocument } from 'yaml';
import { Capabilities } from '../../src/component/capabilities/capability.ts';
import type { Component, Host } from '../../src/component/component.ts';
import type { Definition } from '../../src/component/definition.ts';
import type { Pipeline } from '../../src/component/receiver.ts';
import { LONGEST_WAIT_MS } from '../../src/component/longest-wait.ts';
import { ListeningSockets } from '../../src/net/listener.ts';
import { COMPONENTS } from '../../src/components.ts';
import { checkNode } from '../../src/config/check.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { parseYaml } from '../../src/config/parse.ts';
import { Diagnostics } from '../../src/config/diagnostics.ts';
import { convertUnits } from '../../src/config/schema.ts';
import type { Signal } from '../../src/pdata/context.ts';
import { ROOT } from '../docs/markdown.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-contract-'));
const SCHEMAS = new CompiledSchemas();
const metric = { add: () => undefined, record: () => undefined };
const log = (): void => undefined;

function hostFor({ type }: Definition): Host {
  return {
    id: type,
    logger: { debug: log, info: log, warn: log, error: log },
    meter: { counter: () => metric, histogram: () => metric, gauge: log },
    capabilities: new Capabilities(),
    listeners: new ListeningSockets().forService(),
    workers: 1,
    now: () => 0,
    process: { pid: 1, env: {}, kill: () => false },
    resolvePath: (path) => join(folder, path),
    fatal: (error) => {
      throw error;
    },
  };
}

/** Variables of an example stand for some text that is long enough. */
const exampleOf = ({ example }: Definition): string =>
  example.replace(/\$\{[^}]*\}/gu, 'an-example-secret-of-32-characters');

function optionsOf(
  definition: Definition,
  text: string,
): { readonly options: unknown; readonly diagnostics: Diagnostics } {
  const diagnostics = new Diagnostics();
  const node = parseYaml({ name: 'example.yaml', text }, diagnostics);
  const schema = SCHEMAS.of(definition.schema);
  const value = node === null ? undefined : checkNode(node, schema, [definition.type], diagnostics);
  return { options: value === undefined ? undefined : convertUnits(schema.written, value), diagnostics };
}

function create(definition: Definition): Component {
  const { options } = optionsOf(definition, exampleOf(definition));
  const host = hostFor(definition);
  if (definition.kind !== 'receiver') return definition.create(options, host);
  const pipelines = definition.signals.map((signal): [Signal, Pipeline] => [
    signal,
    { signal, admit: () => Promise.reject(new Error('not used')) },
  ]);
  return definition.create(options, host, new Map(pipelines));
}

interface Described {
  readonly path: string;
  readonly option: Readonly<Record<string, unknown>>;
}

/** Durations that are compared with a clock. Every other one may set a timer. */
const WITHOUT_TIMER =
  /\.(?:retention\.\w+|archive\.\w+|compaction\.\w+|max_age|retry_on_failure\.\w+|dead_letter_retention|session_lifetime)$/u;

function optionsIn(schema: unknown, path: string): readonly Described[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, items, additionalProperties } = schema as Record<string, unknown>;
  const named = Object.entries((properties ?? {}) as Record<string, unknown>);
  return [
    ...named.flatMap(([name, inner]) => [
      { path: `${path}.${name}`, option: inner as Described['option'] },
      ...optionsIn(inner, `${path}.${name}`),
    ]),
    ...optionsIn(items, `${path}[]`),
    ...optionsIn(additionalProperties, `${path}.*`),
  ];
}

t.test('no two components of a kind share a type', async (t) => {
  const names = COMPONENTS.map(({ kind, type }) => `${kind} ${type}`);
  t.equal(new Set(names).size, names.length);
});

const examples = readdirSync(`${ROOT}docs/examples`).filter((file) => file.endsWith('.js'));
const modules = await Promise.all(
  examples.map((file) => import(`file://${ROOT}docs/examples/${file}`) as Promise<Record<string, Definition>>),
);
const definitions = [...COMPONENTS, ...modules.flatMap((module) => Object.values(module))];
t.ok(definitions.length >= COMPONENTS.length + examples.length, 'every example exports a component');

for (const definition of definitions) {
  const { kind, type, schema } = definition;
  t.test(`the ${kind} ${type}`, async (t) => {
    t.match(type, /^[a-z][a-z0-9_]*$/u, 'has a snake_case type');
    t.ok(definition.summary.length > 10 && !definition.summary.includes('\n'), 'has a summary of one line');
    t.doesNotThrow(() => SCHEMAS.of(schema), 'has a schema that compiles');
    t.equal(schema['additionalProperties'], false, 'refuses unknown options');

    for (const { path, option } of optionsIn(schema, type)) {
      const { description, format, maximum } = option;
      t.ok(typeof description === 'string' && description.length > 0, `describes ${path}`);
      if (format === 'duration' && !WITHOUT_TIMER.test(path))
        t.ok(Number(maximum) <= LONGEST_WAIT_MS, `takes no time for ${path} that a timer cannot wait`);
    }

    t.same(parseDocument(definition.example).errors, [], 'has an example in YAML');
    t.same(optionsOf(definition, exampleOf(definition)).diagnostics.errors, [], 'has an example that is valid');

    // Above the example, as some options may be required.
    const { diagnostics } = optionsOf(
      definition,
      `no_such_option: 1\n${exampleOf(definition).replace(/^\{\}$/u, '')}\n`,
    );
    t.match(
      diagnostics.render(),
      /^example\.yaml:1:1: error: unknown option "no_such_option"/u,
      'names the line of an unknown option',
    );

    create(definition);
    t.same(readdirSync(folder), [], 'writes nothing when it is created');

    const unstarted = create(definition);
    await t.resolves(unstarted.stop?.(AbortSignal.timeout(PATIENCE_MS)) ?? Promise.resolve(), 'stops unstarted');
    await t.resolves(unstarted.stop?.(AbortSignal.timeout(PATIENCE_MS)) ?? Promise.resolve(), 'stops twice');
  });
}
