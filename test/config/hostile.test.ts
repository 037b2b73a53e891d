// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the configuration
/**
 * A hundred invalid configurations, by accident or on purpose, with the shipped components. Each is refused within
 * a second, with the place of every problem, without a stack trace and without showing a secret.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/diagnostics.ts';
import { startExecutable } from '../support/executable.ts';
import { isPrompt } from '../support/promptness.ts';

t.setTimeout(300_000);

const SECRET = 'correct-horse-battery-staple';
/** Processor time, so that other processes do not matter. */
const PROMPT_MS = 1_000;
/** All of them in `.ci/run`: each is a process, or reads the schemas of every component. */
const EVERY = process.env['SLUICE_HOSTILE'] === 'all' ? 1 : 6;
const REAL_PROCESSES = EVERY === 1 ? 10 : 2;

const BASE = `
extensions:
  postgres: { url: "postgres://sluice:${SECRET}@127.0.0.1:1/sluice" }
  health_check: { endpoint: 127.0.0.1:0, path: /ready }
receivers:
  otlp: { protocols: { http: { endpoint: 127.0.0.1:0, max_request_body_size: 4MiB, read_timeout: 30s, max_nesting_depth: 32 } } }
processors:
  auth: { keys: [{ key: ${SECRET}-key, project: demo, plan: free, monthly_spans: 100 }], cache_ttl: 5s }
  environment: { default: staging }
  privacy: { capture_content: true, redact: [{ name: ticket, pattern: "TCK-[0-9]{6}" }] }
exporters:
  file: { path: out.ndjson, rotation: { max_size: 512MiB, max_age: 24h, max_files: 20 } }
service:
  ledger: memory
  shutdown_timeout: 15s
  extensions: [health_check]
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment, privacy], exporters: [file] }
`;

/** Values of the wrong type, for each kind of scalar. */
const WRONG = [
  '[]',
  '{}',
  '[[[[]]]]',
  '-1',
  '1e999',
  '"\\0"',
  '!!binary "AAAA"',
  "'; DROP TABLE x'",
  '*nowhere',
  '&a [*a]',
];
const VALUES = ['4MiB', '30s', '32 }', '/ready', '512MiB', '24h', '15s', 'memory'];

const nested = (depth: number): string => `${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`;
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Each is a whole file, or the base file with one text replaced. */
const SPECIAL: readonly (string | readonly [find: string, replacement: string])[] = [
  '',
  'null',
  '[]',
  '42',
  '\t\t',
  '\u0000',
  '\uFEFF\uFEFF{',
  '%YAML 9.9\n---\n',
  '---\na: 1\n---\nb: 2\n',
  '{"receivers": {',
  `a: ${nested(2000)}`,
  `a: ${'['.repeat(5000)}`,
  // Grows tenfold with each line if it is expanded.
  lines(
    12,
    (index) =>
      `a${index}: &a${index} [${
        index === 0
          ? 'x'
          : Array(10)
              .fill(`*a${index - 1}`)
              .join(', ')
      }]`,
  ),
  lines(600, (index) => `receivers${index}: {}`),
  `service: { pipelines: {\n${lines(200, (index) => `traces/${index}: { receivers: [otlp], exporters: [file] }`)}`,
  [BASE, `${BASE}\nservice: {}`],
  [BASE, `${BASE}\nconnectors: { forward: }`],
  [BASE, `${BASE}\nmodules: [./absent.js]`],
  [BASE, `${BASE}\nmodules: { a: b }`],
  [BASE, `${BASE}\n__proto__: { polluted: true }`],
  ['  file: {', '  __proto__: { a: 1 }\n  file: {'],
  ['  file: {', '  constructor: {}\n  file: {'],
  ['project: demo', 'project: "${env:UNSET"'],
  ['project: demo', 'project: "${file:/etc/absent}"'],
  ['project: demo', 'project: "${file:/dev/zero}"'],
  ['project: demo', 'project: "${http:evil}"'],
  ['project: demo', 'project: "${env:LOOP}"'],
  ['project: demo', 'project: ${env:LONG}'],
  ['project: demo', `project: ${'x'.repeat(100_000)}`],
  ['project: demo', 'project: "../../etc/passwd"'],
  ['project: demo', 'projct: demo'],
  ['plan: free', 'plan: gold'],
  [`${SECRET}-key`, 'short'],
  [`${SECRET}-key`, `[${SECRET}]`],
  [`key: ${SECRET}-key`, `kye: ${SECRET}-key`],
  [`"postgres://sluice:${SECRET}@127.0.0.1:1/sluice"`, `{ password: ${SECRET} }`],
  ['TCK-[0-9]{6}', '('],
  ['TCK-[0-9]{6}', '(a+)+(?=b)'],
  ['TCK-[0-9]{6}', '.*'],
  ['TCK-[0-9]{6}', `${'('.repeat(2000)}`],
  ['name: ticket', 'preset: nothing_like_this'],
  ['processors: [auth, environment, privacy]', 'processors: [privacy, environment, auth]'],
  ['processors: [auth, environment, privacy]', 'processors: [auth, auth, environment]'],
  ['processors: [auth, environment, privacy]', 'processors: auth environment'],
  ['exporters: [file]', 'exporters: []'],
  ['exporters: [file]', 'exporters: [fiel]'],
  ['exporters: [file]', 'exporters: [postgres]'],
  ['receivers: [otlp]', 'receivers: [health_check]'],
  ['receivers: [otlp]', 'receivers: [otlp/]'],
  ['traces:', 'tracez:'],
  ['traces:', 'traces/a b:'],
  ['traces:', '"":'],
  ['ledger: memory', 'ledger: postgres'],
  ['extensions: [health_check]', 'extensions: [heath_check]'],
  ['endpoint: 127.0.0.1:0, path', 'endpoint: nowhere, path'],
  ['endpoint: 127.0.0.1:0, path', 'endpoint: 127.0.0.1:99999, path'],
  ['endpoint: 127.0.0.1:0, max', 'endpoint: "http://127.0.0.1:0", max'],
  ['endpoint: 127.0.0.1:0, max', 'endpont: 127.0.0.1:0, max'],
  ['max_size: 512MiB', 'max_size: 512 parsecs'],
  ['24h', '24'],
  ['15s', '0s'],
  ['15s', '1000000h'],
];

const files: readonly string[] = [
  ...SPECIAL.map((special) => (typeof special === 'string' ? special : BASE.replace(special[0], () => special[1]))),
  ...VALUES.flatMap((value) =>
    WRONG.map((wrong) => BASE.replace(value, () => (value.endsWith('}') ? `${wrong} }` : wrong))),
  ),
].slice(0, 120);

const ENVIRONMENT = { LOOP: '${env:LOOP}', LONG: 'x'.repeat(200_000) };
const SCHEMAS = new CompiledSchemas();
const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

async function messageOf(text: string): Promise<string | null> {
  writeFileSync(join(folder, 'hostile.yaml'), text);
  try {
    await loadConfig({
      files: ['hostile.yaml'],
      definitions: COMPONENTS,
      environment: ENVIRONMENT,
      workingDirectory: folder,
      schemas: SCHEMAS,
    });
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

t.test('a hundred hostile files are refused at once, with places, without secrets', async (t) => {
  t.ok(new Set(files).size >= 100, `${new Set(files).size} different files`);
  for (const [index, text] of files.entries()) {
    if (index % EVERY !== 0) continue;
    let message = null as string | null;
    const prompt = await isPrompt(PROMPT_MS, async () => (message = await messageOf(text)));
    const about = `${index}: ${text.slice(0, 60)}`;
    const problems = message?.split('\n').filter((line) => /^(?:\S+: )?error: /u.test(line)) ?? [];
    const faults = [
      message === null && 'accepted',
      problems.length === 0 && 'no problem is shown',
      // Data that is not text has no places.
      problems.some((line) => !/^hostile\.yaml:\d+:\d+: |is not UTF-8 text$/u.test(line)) &&
        'a problem without its place',
      message?.includes(SECRET) === true && 'shows the secret',
      /\n\s+at /u.test(message ?? '') && 'a stack trace',
      !prompt && 'slow',
    ].filter((fault) => fault !== false);
    if (faults.length > 0) t.fail(`${about}: ${faults.join(', ')}\n${message?.slice(0, 400)}`);
  }
  t.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
});

t.test('the executable refuses them with exit code 1', async (t) => {
  const step = Math.floor(files.length / REAL_PROCESSES);
  for (let at = 0; at < files.length; at += step) {
    writeFileSync(join(folder, `${at}.yaml`), files[at] ?? '');
    const { ended, output } = startExecutable(['validate', '--config', `${at}.yaml`], folder, { LOOP: 'x', LONG: 'x' });
    t.equal(await ended, 1, `file ${at}`);
    t.notMatch(output.err + output.out, SECRET);
    t.notMatch(output.err, /\n\s+at /u);
  }
});
