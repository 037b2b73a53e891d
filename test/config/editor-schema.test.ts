/**
 * The schema for editors and the daemon's own check agree: every key and value of config/reference.yaml is changed, one
 * at a time, and both give their verdict.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { COMPONENTS } from '../../src/components.ts';
import type { Definition } from '../../src/component/definition.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { ConfigError } from '../../src/config/diagnostics.ts';
import { editorSchema } from '../../src/config/editor-schema.ts';
import { loadConfig } from '../../src/config/load.ts';
import { isLong } from '../support/long.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The checks in code are for what the schemas cannot express. */
const DEFINITIONS = COMPONENTS.map(({ check: _, ...definition }) => definition as Definition);
const SCHEMAS = new CompiledSchemas();
const forEditors = new Ajv({ strict: false }).compile(editorSchema(COMPONENTS));
/** Options that config/reference.yaml has in comments only. */
const OPTIONAL = `
receivers:
  otlp:
    protocols:
      http: { cors: { allowed_origins: ["https://example.com"], allowed_headers: [x-a], max_age: 2h } }
      grpc: { endpoint: "127.0.0.1:4317", keepalive: { server_parameters: { time: 2h } } }
processors:
  auth:
    keys: [{ key: a-key-of-sixteen-characters, project: demo, environment: staging, plan: free, monthly_spans: 5 }]
  privacy:
    environments: { production: { capture_content: false } }
    redact: [{ preset: email }, { name: own, pattern: "a+", replacement: x }]
  normalization:
    mappings:
      - name: own
        markers: [own.kind]
        scopes: [own]
        services: [shop]
        fields: { request_model: own.model, input_tokens: [{ attribute: own.usage, paths: [in], sum: true }, own.in] }
        operations: { own.kind: { call: chat } }
        span_names: { "call*": chat }
        events: { call: chat }
        cached_tokens: inside
        content: [own.text]
  pricing:
    inclusive_rules: [{ scope: own, provider: openai, inclusive: true }]
    overrides:
      - id: own
        match: { provider: [openai], model: { prefix: gpt } }
        prices: [{ from: 2026-01-01T00:00:00Z, rates: { input: 1, output: 2 }, tiers: [{ above_input_tokens: 9, rates: { input: 2, output: 3 } }] }]
        service_tiers: { batch: { multiplier: 0.5 } }
      - { id: lent, match: { model: [a, b] }, use: { provider: openai, model: gpt-5 }, multiplier: 1.5, source: x }
`;
const base = merged(parse(readFileSync(`${ROOT}config/reference.yaml`, 'utf8')), parse(OPTIONAL));

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function merged(one: unknown, other: unknown): unknown {
  if (!isMap(one) || !isMap(other)) return other;
  const added = Object.entries(other).map(([key, value]) => [key, key in one ? merged(one[key], value) : value]);
  return { ...one, ...Object.fromEntries(added) };
}

/** The messages of the daemon; empty when it accepts the configuration. */
async function refusals(config: unknown, VALUE = ''): Promise<readonly string[]> {
  try {
    await loadConfig({
      files: ['config.yaml'],
      definitions: DEFINITIONS,
      environment: { VALUE },
      workingDirectory: ROOT,
      schemas: SCHEMAS,
      read: (name) => ({ name, text: stringify(config) }),
    });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').flatMap((line) => / error: (.*)/u.exec(line)?.[1] ?? []);
  }
}

/** Rules over several places, and the limits of texts with a unit, which a JSON Schema cannot express. */
const INEXPRESSIBLE = [
  /is not defined$/u,
  / needs (?!at least)/u,
  /the module "zz" does not exist/u,
  /must be at least \d+(?:ms|s|m|h|d), not/u,
  /must be an RE2 expression/u,
  // An empty value means that the option is not given.
  /redact\[\d\] (?:lacks|needs)/u,
];

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inside = Object.entries(value).flatMap(([key, inner]) =>
    pathsOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? inside : [path, ...inside];
}

type Change = (key: string | number, value: unknown) => readonly [string | number, unknown];

/** A copy with one key and value changed. */
function changed(value: unknown, [step, ...rest]: Path, change: Change): unknown {
  const entries = Object.entries(value as object).map(([key, inner]) => {
    if (key !== String(step)) return [key, inner];
    return rest.length === 0 ? change(key, inner) : [key, changed(inner, rest, change)];
  });
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

/** Ordinary runs change one in so many options. */
const ORDINARY_STEP = 50;
const VALUES: readonly unknown[] = ['zz', '', 0, 7, -1, 1.5, true, null, [], ['zz'], [7], {}, { zz: 1 }];
const CHANGES: readonly (readonly [name: string, change: Change])[] = [
  ...VALUES.map((value) => [`= ${JSON.stringify(value)}`, (key) => [key, value]] as const satisfies [string, Change]),
  ['misspelt', (key, value) => [`${key}zz`, value]],
  ['misspelt in British English', (key, value) => [String(key).replace('z', 's'), value]],
];

const CHANGED_PATHS = pathsOf(base).filter((_, at) => isLong || at % ORDINARY_STEP === 0);

t.test('both accept the configuration that the tests change', async (t) => {
  t.same(await refusals(base), []);
  t.ok(forEditors(base), JSON.stringify(forEditors.errors));
});

t.test('a changed key or value is accepted by both or refused by both', { timeout: 300_000 }, async (t) => {
  for (const path of CHANGED_PATHS) {
    const differing: string[] = [];
    for (const [name, change] of CHANGES) {
      const config = changed(base, path, change);
      const messages = await refusals(config);
      const refused = messages.filter((message) => !INEXPRESSIBLE.some((rule) => rule.test(message)));
      const accepted = forEditors(config);
      if (accepted && refused.length > 0) differing.push(`${name}: the daemon refuses it: ${refused[0]}`);
      if (!accepted && messages.length === 0)
        differing.push(`${name}: editors refuse it: ${JSON.stringify(forEditors.errors?.[0])}`);
    }
    t.same(differing, [], path.join('.'));
  }
});

t.test('a reference is accepted by both instead of any value', { timeout: 300_000 }, async (t) => {
  for (const path of CHANGED_PATHS) {
    const value = path.reduce((inner, step) => (inner as Record<string | number, unknown>)[step], base);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
    const config = changed(base, path, (key) => [key, '${env:VALUE}']);
    const given = typeof value === 'string' ? value : JSON.stringify(value);
    // An empty variable means that the option is not given.
    if (given === '') continue;
    t.same(await refusals(config, given), [], `${path.join('.')} for the daemon`);
    t.ok(forEditors(config), `${path.join('.')} for editors`);
  }
});

t.test('a file with modules may have components of theirs', async (t) => {
  t.ok(forEditors({ modules: ['./own.js'], processors: { own: { any: 1 } } }));
  t.notOk(forEditors({ modules: [], processors: { own: { any: 1 } } }));
  t.notOk(forEditors({ processors: { normalisation: {} } }));
});

t.test("a configuration of the Collector's own is refused", async (t) => {
  t.notOk(forEditors(parse(readFileSync(`${ROOT}config/otelcol.yaml`, 'utf8'))));
});
