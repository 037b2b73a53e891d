// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the configuration
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/diagnostics.ts';
import { MAX_FILE_BYTES } from '../../src/config/read.ts';
import { folderOf, load, REST } from '../support/config-files.ts';
import { SAMPLE_COMPONENTS } from '../support/sample-components.ts';
import { isPrompt } from '../support/promptness.ts';

const http = (options: string): string => `receivers: { otlp: { protocols: { http: { ${options} } } } }${REST}`;
const httpOf = async (options: string, environment = {}) => {
  const config = await load({ 'a.yaml': http(options) }, { environment });
  const written = config.receivers.get('otlp')?.options as { protocols: { http: Record<string, unknown> } };
  return written.protocols.http;
};

t.test('defaults of every level are filled in, in milliseconds and bytes', async (t) => {
  const config = await load({ 'a.yaml': `receivers:\n  otlp:\n${REST}` });
  t.match(config.receivers.get('otlp')?.options, {
    protocols: { http: { endpoint: '127.0.0.1:4318', max_size: 4194304, timeout: 30_000, depth: 32 } },
  });
  t.equal(config.service.shutdownTimeoutMs, 15_000);
  t.same(config.service.telemetry.metrics, { enabled: true, endpoint: '127.0.0.1:8888' });
});

t.test('units are converted, and a duration of zero needs no unit', async (t) => {
  t.match(await httpOf('timeout: 1m30s, max_size: 1.5MiB'), { timeout: 90_000, max_size: 1_572_864 });
  t.match(await httpOf('max_size: 1048576'), { max_size: 1_048_576 });
});

t.test('a key without a value has its default', async (t) => {
  t.match(await httpOf('timeout: , depth: null'), { timeout: 30_000, depth: 32 });
});

t.test('a reference that is the whole value takes the type of the option', async (t) => {
  const environment = { N: '7', YES: 'false', D: '250ms', E: 'localhost:1' };
  const given = 'depth: "${env:N}", keep_alive: "${YES}", timeout: "${D}", endpoint: "${env:E}"';
  t.match(await httpOf(given, environment), { depth: 7, keep_alive: false, timeout: 250, endpoint: 'localhost:1' });
});

const keyOf = async (key: string, environment: Record<string, string>, files = {}) => {
  const text = `receivers: { otlp: {} }\nprocessors: { auth: { keys: [{ key: ${key}, project: demo }] } }
exporters: { file: { path: x } }
service: { ledger: memory, pipelines: { traces: { receivers: [otlp], processors: [auth], exporters: [file] } } }`;
  const config = await load({ ...files, 'a.yaml': text }, { environment });
  const options = config.processors.get('auth')?.options as { readonly keys: readonly { readonly key: string }[] };
  return { key: options.keys[0]?.key, config };
};

t.test('a text option receives the exact text of a variable, even if it looks like another type', async (t) => {
  for (const secret of [
    '0123456789012345678',
    '{"a": 1, "b": [2]}',
    'pa$$word-${HOME}-$x',
    '# not a comment at all',
    'true: false, [ and so on',
  ]) {
    const { key } = await keyOf('"${env:SECRET}"', { SECRET: secret });
    t.equal(key, secret);
  }
});

t.test('a file is included without its last line break', async (t) => {
  const { key } = await keyOf('"${file:key.txt}"', {}, { 'key.txt': 'p@ss: word $$ ${X} 1234\n' });
  t.equal(key, 'p@ss: word $$ ${X} 1234');
});

t.test('secrets never appear in the printed configuration', async (t) => {
  const { config } = await keyOf('"${env:SECRET}"', { SECRET: 'correct-horse-battery' });
  const printed = JSON.stringify(config.redacted);
  t.notMatch(printed, 'correct-horse');
  t.match(printed, '[REDACTED]');
});

t.test('text around references, defaults, and dollar signs', async (t) => {
  const path = async (written: string, environment = {}) => {
    const text = `receivers: { otlp: {} }\nprocessors: { auth: {} }\nexporters: { file: { path: '${written}' } }
service: { ledger: memory, pipelines: { traces: { receivers: [otlp], processors: [auth], exporters: [file] } } }`;
    const config = await load({ 'a.yaml': text }, { environment });
    const options = config.exporters.get('file')?.options as { readonly path: string };
    return options.path;
  };
  t.equal(await path('/data/${A}/${env:B}.ndjson', { A: 'x', B: 'y' }), '/data/x/y.ndjson');
  t.equal(await path('${env:A:-fallback}'), 'fallback');
  t.equal(await path('${env:A:-fallback}', { A: '' }), 'fallback', 'empty counts as not set when there is a default');
  t.equal(await path('${env:A:-${env:B:-inner}}'), 'inner');
  t.equal(await path('${A:-a:-b}'), 'a:-b');
  t.equal(await path('$$HOME and $HOME and $${A}'), '$HOME and $HOME and ${A}');
});

t.test('an option whose reference is empty counts as not given', async (t) => {
  const text = `extensions: { postgres: { url: "\${env:DATABASE_URL:-}" } }\nreceivers: { otlp: {} }${REST.replace('memory', 'postgres, extensions: [postgres]')}`;
  const config = await load({ 'a.yaml': text });
  t.same(config.extensions.get('postgres')?.options, { data_dir: './data' });
});

t.test('a variable that is set and empty is refused, unless the file allows it', async (t) => {
  const loadWith = (url: string) => {
    const text = `extensions: { postgres: { url: "${url}" } }\nreceivers: { otlp: {} }${REST.replace('memory', 'postgres, extensions: [postgres]')}`;
    return load({ 'a.yaml': text }, { environment: { DATABASE_URL: '' } });
  };
  for (const url of ['${env:DATABASE_URL}', '${DATABASE_URL}', 'postgres://${env:DATABASE_URL}']) {
    await t.rejects(loadWith(url), {
      message: /^a\.yaml:1:32: error: the environment variable DATABASE_URL is set and empty/u,
    });
  }
  t.same((await loadWith('${env:DATABASE_URL:-}')).warnings, []);
});

t.test('a file may contain a whole section with further references', async (t) => {
  const files = {
    'a.yaml': `receivers: \${file:r.yaml}${REST}`,
    'r.yaml': 'otlp: { protocols: { http: { depth: "${N}" } } }',
  };
  const config = await load(files, { environment: { N: '9' } });
  t.match(config.receivers.get('otlp')?.options, { protocols: { http: { depth: 9 } } });
});

t.test('a mistake inside an included file is shown in that file', async (t) => {
  const files = { 'a.yaml': `receivers: \${file:r.yaml}${REST}`, 'r.yaml': 'otlp:\n  protcols: {}\n' };
  await t.rejects(load(files), { message: /^r\.yaml:2:3: error: unknown option "protcols"/u });
});

t.test('a later file overrides an earlier one, and overridden values are not expanded', async (t) => {
  const files = {
    'a.yaml': http('depth: "${env:NOT_SET}", timeout: 1s'),
    'b.yaml': 'receivers: { otlp: { protocols: { http: { depth: 5 } } } }',
  };
  const config = await load(files, { files: ['a.yaml', 'b.yaml'] });
  t.match(config.receivers.get('otlp')?.options, { protocols: { http: { depth: 5, timeout: 1_000 } } });
});

t.test('lists are replaced, an empty file adds nothing', async (t) => {
  const other = 'service: { pipelines: { traces: { processors: [auth, environment] } } }\nprocessors: { environment: }';
  const files = { 'a.yaml': http(''), 'b.yaml': other, 'c.yaml': '' };
  const config = await load(files, { files: ['a.yaml', 'b.yaml', 'c.yaml'] });
  t.same(config.service.pipelines[0]?.processors, ['auth', 'environment']);
});

t.test('settings are applied last, with either separator and quoted keys', async (t) => {
  const settings = [
    'receivers.otlp.protocols.http.depth=3',
    'receivers::otlp::protocols::http::timeout=2s',
    'exporters."file".path=/tmp/a=b.ndjson',
    'service.extensions=[health_check/a.b]',
    'extensions."health_check/a.b"={}',
  ];
  const config = await load({ 'a.yaml': http('depth: 4') }, { settings });
  t.match(config.receivers.get('otlp')?.options, { protocols: { http: { depth: 3, timeout: 2_000 } } });
  t.same(config.exporters.get('file')?.options, { path: '/tmp/a=b.ndjson' });
  t.same([...config.extensions.keys()], ['health_check/a.b']);
});

t.test('a mistake in a setting is shown in the setting', async (t) => {
  const wrong = load({ 'a.yaml': http('') }, { settings: ['receivers.otlp.protocols.http.depth=many'] });
  await t.rejects(wrong, {
    message: /^--set:1:37: error: receivers\.otlp\.protocols\.http\.depth must be a whole number/u,
  });
  for (const setting of ['novalue', '=1', 'a..b=1', '.a=1', 'a.=1']) {
    await t.rejects(
      load({ 'a.yaml': http('') }, { settings: [setting] }),
      { message: /not of the form path=value/u },
      setting,
    );
  }
});

t.test('merge keys and anchors work, as in other YAML tools', async (t) => {
  const text = `receivers:\n  otlp:\n    protocols: { http: &http { depth: 8, timeout: 1s } }\n  otlp/b:\n    protocols: { http: { <<: *http, depth: 9, endpoint: "127.0.0.1:0" } }${REST.replace('traces:', 'logs: { receivers: [otlp/b], processors: [auth], exporters: [file] }, traces:')}`;
  const config = await load({ 'a.yaml': text });
  t.match(config.receivers.get('otlp/b')?.options, { protocols: { http: { depth: 9, timeout: 1_000 } } });
});

t.test('an unused component is a warning, and so is a component that is listed twice', async (t) => {
  const text = `extensions: { health_check: }\nreceivers: { otlp: {} }${REST.replace('[file]', '[file, file]')}`;
  const { warnings } = await load({ 'a.yaml': text });
  t.equal(warnings.length, 2);
  t.match(warnings[0], /a\.yaml:1:15: warning: the extension "health_check" is defined but not used\n/u);
  t.match(warnings[1], /warning: "file" is named twice in exporters/u);
});

t.test('keys with a meaning in JavaScript are ordinary unknown options', async (t) => {
  for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
    await t.rejects(
      load({ 'a.yaml': http(`"${key}": { a: 1 }`) }),
      { message: new RegExp(`unknown option "${key}"`, 'u') },
      key,
    );
  }
  t.equal(({} as Record<string, unknown>)['a'], undefined);
});

t.test('missing files, directories and files that are too large are reported by name', async (t) => {
  const folder = folderOf({});
  writeFileSync(join(folder, 'big.yaml'), '#'.repeat(MAX_FILE_BYTES + 1));
  const error = await loadConfig({
    files: ['none.yaml', '.', 'big.yaml', 'none.yaml/x', 'a.yaml,b.yaml'],
    definitions: SAMPLE_COMPONENTS,
    environment: {},
    workingDirectory: folder,
  }).catch((caught: unknown) => caught);
  t.ok(error instanceof ConfigError);
  t.equal(
    (error as ConfigError).message,
    [
      'error: the configuration file none.yaml does not exist',
      `        hint: It was looked for at ${join(folder, 'none.yaml')}.`,
      'error: the configuration file . is a directory',
      '        hint: Name a file in it.',
      `error: the configuration file big.yaml is larger than ${MAX_FILE_BYTES} bytes`,
      'error: the configuration file none.yaml/x does not exist',
      `        hint: It was looked for at ${join(folder, 'none.yaml/x')}.`,
      'error: the configuration file a.yaml,b.yaml does not exist',
      '        hint: Several files are given as --config FIRST --config SECOND.',
      '5 errors, 0 warnings',
    ].join('\n'),
  );
});

t.test('a large file of many values is refused within a second', async (t) => {
  const refused = () =>
    t.rejects(load({ 'a.yaml': `receivers: [${'1,'.repeat(15_000)}]` }), { message: /more than 10000 values/u });
  t.ok(await isPrompt(1_000, refused));
});

t.test('a component of a module can be used, and is checked like any other', async (t) => {
  const module = `export const tagger = { kind: 'processor', type: 'tagger', summary: 'Tags.', stability: 'alpha', example: '{}',
    schema: { type: 'object', additionalProperties: false, properties: { tag: { type: 'string', description: 'The tag.' } }, required: ['tag'] },
    requires: ['project'], provides: [], create: () => ({}) };`;
  const text = (options: string) =>
    `modules: [./tagger.mjs]\nreceivers: { otlp: {} }${REST.replace('auth: {}', `auth: {}, tagger: { ${options} }`).replace('[auth]', '[auth, tagger]')}`;
  const config = await load({ 'a.yaml': text('tag: blue'), 'tagger.mjs': module });
  t.same(config.processors.get('tagger')?.options, { tag: 'blue' });
  await t.rejects(load({ 'a.yaml': text('tga: blue'), 'tagger.mjs': module }), { message: /did you mean "tag"/u });
});

t.test('a module that fails, exports nothing or repeats a type is refused at its line', async (t) => {
  const text = `modules: [./m.mjs]\nreceivers: { otlp: {} }${REST}`;
  const refused = (module: string, message: RegExp) =>
    t.rejects(load({ 'a.yaml': text, 'm.mjs': module }), { message });
  await refused(
    'throw new Error("no luck")',
    /a\.yaml:1:11: error: the module "\.\/m\.mjs" cannot be loaded: no luck/u,
  );
  await refused('export const x = 1;', /exports no component/u);
  await refused(
    "export const a = { kind: 'processor', type: 'auth', schema: {}, requires: [], provides: [], create() {} }",
    /the processor "auth" exists already/u,
  );
});
