/**
 * No message about a configuration shows the content of a variable or an included file, wherever the reference is used.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
import fc from 'fast-check';
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/diagnostics.ts';
import { cases } from '../support/long.ts';

const SCHEMAS = new CompiledSchemas();
const REST = `
receivers: { otlp: {} }
exporters: { file: {} }
service: { ledger: memory, pipelines: { traces: { receivers: [otlp], processors: [auth], exporters: [file] } } }
`;

/** The values of `K` and of the file `k`, in the forms that YAML reads as text, number, list and map. */
const VALUES = [
  'correct-horse-battery-staple',
  'correct horse "battery" staple',
  'correct-horse: battery-staple',
  '[correct-horse, battery-staple]',
  '{ correct-horse: { battery-staple: 1 } }',
  '- correct-horse\n- battery-staple',
  '918273645546372819',
  `correct-horse-${'x'.repeat(200)}`,
  '(correct-horse',
  'http://user:correct-horse@[battery-staple',
];
const PARTS = ['correct-horse', 'battery-staple', '918273645546372819'];

const PLACES = {
  'a list of keys': (k: string) => `processors: { auth: { keys: ${k} } }${REST}`,
  'an item of the list of keys': (k: string) => `processors: { auth: { keys: [${k}] } }${REST}`,
  'a key of another type': (k: string) => `processors: { auth: { keys: [{ key: { a: ${k} }, project: p }] } }${REST}`,
  'the project of a key': (k: string) =>
    `processors: { auth: { keys: [{ key: abcdefghijklmnopqrst, project: [${k}] }] } }${REST}`,
  'the plan of a key': (k: string) =>
    `processors: { auth: { keys: [{ key: abcdefghijklmnopqrst, project: p, plan: ${k} }] } }${REST}`,
  'a duration': (k: string) => `processors: { auth: { cache_ttl: ${k} } }${REST}`,
  'text around a duration': (k: string) => `processors: { auth: { cache_ttl: "a ${k.replaceAll('"', '')} b" } }${REST}`,
  'headers of an exporter': (k: string) =>
    `processors: { auth: {} }\nexporters: { file: {}, otlp_http: { endpoint: "http://127.0.0.1:1", headers: ${k} } }${REST.replace('exporters: { file: {} }', '')}`,
  'one header': (k: string) =>
    `processors: { auth: {} }\nexporters: { file: {}, otlp_http: { endpoint: "http://127.0.0.1:1", headers: { a: [${k}] } } }${REST.replace('exporters: { file: {} }', '')}`,
  'an endpoint': (k: string) =>
    `processors: { auth: {} }${REST.replace('otlp: {}', `otlp: { protocols: { http: { endpoint: ${k} } } }`)}`,
  'a size': (k: string) =>
    `processors: { auth: {} }${REST.replace('otlp: {}', `otlp: { protocols: { http: { max_request_body_size: ${k} } } }`)}`,
  'the options of a component': (k: string) => `processors: { auth: ${k} }${REST}`,
  'a section': (k: string) => `processors: ${k}${REST}`,
  'the service': (k: string) =>
    `processors: { auth: {} }\nreceivers: { otlp: {} }\nexporters: { file: {} }\nservice: ${k}\n`,
  'the id of a component in a pipeline': (k: string) =>
    `processors: { auth: {} }${REST.replace('[auth]', `[auth, ${k}]`)}`,
  'an extension': (k: string) =>
    `processors: { auth: {} }${REST.replace('ledger: memory', `ledger: memory, extensions: [${k}]`)}`,
  'a pattern': (k: string) =>
    `processors: { auth: {}, privacy: { redact: [{ name: a, pattern: ${k} }, { name: ${k}, pattern: [${k}] }] } }${REST.replace('[auth]', '[auth, privacy]')}`,
  'a module': (k: string) => `modules: [${k}]\nprocessors: { auth: {} }${REST}`,
  'the log level': (k: string) =>
    `processors: { auth: {} }${REST.replace('ledger: memory', `ledger: memory, telemetry: { logs: { level: ${k} } }`)}`,
};

/** Where a map is expected, a file that holds a map is configuration: its mistakes are shown at their own place. */
const MAP_PLACES = [
  'an item of the list of keys',
  'headers of an exporter',
  'the options of a component',
  'a section',
  'the service',
];
const isMap = (value: string): boolean => /^[{\w-]+[:{ ]/.test(value) && /: /.test(value);

async function messageFor(
  text: string,
  environment: Record<string, string>,
  files: Record<string, string> = {},
): Promise<string> {
  const sources: Record<string, string> = { ...files, 'a.yaml': text };
  try {
    const config = await loadConfig({
      files: ['a.yaml'],
      definitions: COMPONENTS,
      environment,
      workingDirectory: '/',
      schemas: SCHEMAS,
      read: (name) => ({ name, text: sources[name] ?? '' }),
      importModule: (url) => Promise.reject(new Error(`cannot import ${url}`)),
    });
    return config.warnings.join('\n');
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

for (const [place, write] of Object.entries(PLACES)) {
  t.test(`as ${place}`, async (t) => {
    const shown: string[] = [];
    for (const value of VALUES) {
      for (const [form, text, environment, files] of [
        ['a variable', write('"${env:K}"'), { K: value }, {}],
        ['a short form', write('"${K}"'), { K: value }, {}],
        ['a file', write('"${file:k}"'), {}, { k: `${value}\n` }],
      ] as const) {
        if (form === 'a file' && isMap(value) && MAP_PLACES.includes(place)) continue;
        const message = await messageFor(text, environment, files);
        const parts = PARTS.filter((part) => message.includes(part));
        shown.push(...parts.map((part) => `${part}: ${form} that holds ${JSON.stringify(value.slice(0, 40))}`));
      }
    }
    t.same(shown, []);
  });
}

t.test('a message shows the reference instead of its value', async (t) => {
  const message = await messageFor(PLACES['a list of keys']('"${env:K}"'), { K: 'correct-horse' });
  t.match(message, 'processors.auth.keys must be a list, not the value of ${K}');
  const around = await messageFor(PLACES['text around a duration']('${env:K}'), { K: 'correct-horse' });
  t.match(around, 'must be a duration, not the value of ${K}');
});

t.test('a secret that is written instead of a list of secrets is masked', async (t) => {
  for (const written of ['correct-horse', '[correct-horse]', '{ a: correct-horse }', '{ key: [correct-horse] }']) {
    const message = await messageFor(PLACES['a list of keys'](written), {});
    t.match(message, 'processors.auth.keys');
    t.notMatch(message, 'correct-horse', written);
  }
});

t.test('no message shows the credentials of a URL', async (t) => {
  for (const url of [
    'http://user:correct-horse@[battery-staple',
    'http//user:correct-horse@host',
    'https://correct-horse@host',
    'http://host/?api_key=correct-horse#battery-staple',
  ]) {
    const exporters = `exporters: { file: {}, otlp_http: { endpoint: "${url}" } }`;
    const message = await messageFor(
      `processors: { auth: {} }${REST.replace('exporters: { file: {} }', exporters)}`,
      {},
    );
    t.match(message, /otlp_http/u, url);
    t.notMatch(message, 'correct-horse', url);
  }
});

t.test('no message shows a value, for any characters', async (t) => {
  const text = fc.stringMatching(/^[\x20-\x7e]{12,60}$/);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.values(PLACES)), text, async (write, value) => {
      const message = await messageFor(write('"${env:K}"'), { K: value });
      return !message.includes(value);
    }),
    { numRuns: cases(300) },
  );
  t.pass('no value is shown');
});
