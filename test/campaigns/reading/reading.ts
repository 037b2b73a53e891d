/** Sends random requests to every route of the console, on hostile telemetry. See README.md. */
import { readFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { type Session, startConsole } from '../../support/console.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { CONTENT, hostileScene } from './hostile-telemetry.ts';
import { FOREIGN, Generator, type Operation, type Parameter, type Sketch } from './requests.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Documented statuses that a failure of the server may have. */
const FAILURES = new Set([503, 504]);
const QUERY_MS = 30_000;
const ROUND = 200;
/** These change the scene or end the session. */
const LEFT_OUT = new Set(['DELETE /api/v1/projects/{project}/traces/{trace}', 'DELETE /api/v1/session']);

t.setTimeout(0);
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
  },
});

interface Described {
  readonly parameters?: readonly (Parameter & { readonly $ref?: string })[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>> }>
  >;
}
const api = parse(readFileSync(`${ROOT}/docs/openapi-console.yaml`, 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(api, 'api');

const described: readonly Operation[] = Object.entries(api.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, { parameters = [] }]) => ({
    method: method.toUpperCase(),
    path,
    parameters: parameters.map((each) => {
      const name = each.$ref?.split('/').at(-1);
      return name === undefined ? each : (api.components.parameters[name] ?? each);
    }),
  })),
);
const operations = [...described, ...FOREIGN].filter(
  ({ method, path }) => !LEFT_OUT.has(`${method} ${path}`) && `${method} ${path}`.includes(values.only),
);

const scene = await startConsole(t, { processors: 'auth, environment, normalization' });
const nowNs = BigInt(Date.now()) * 1_000_000n;
const [shop, blog] = [hostileScene(1, 'shop', nowNs), hostileScene(2, 'blogsecret', nowNs)];
for (const [project, { bodies }] of [
  ['shop', shop],
  ['blog', blog],
] as const) {
  const { text } = await scene.administration.createKey(project, null, null);
  for (const [path, body] of bodies) {
    const answer = await fetch(`${scene.daemon.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
      body,
    });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

const admin = await scene.logIn({ name: 'admin', role: 'admin', seesContent: true });
const viewer = await scene.logIn({ name: 'viewer', role: 'viewer', projects: ['shop'], seesContent: false });
const token = { authorization: `Bearer ${await scene.token('shop', { seesContent: true })}` };
const callers: readonly (readonly [name: string, headers: Session['headers'] | typeof token])[] = [
  ['admin', admin.headers],
  ['viewer', viewer.headers],
  ['token', token],
];

interface Heard {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly ms: number;
}

function hear({ url, method, headers, body }: Sketch, own: object): Promise<Heard> {
  const began = performance.now();
  return new Promise<Heard>((resolve, reject) => {
    const sent = send(
      {
        host: '127.0.0.1',
        port: scene.port,
        path: url,
        method,
        headers: { ...headers, ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }), ...own },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        const end = (): void => {
          const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? '';
          const ms = performance.now() - began;
          resolve({
            status: answer.statusCode ?? 0,
            type,
            text: Buffer.concat(chunks).toString('utf8'),
            ms,
          });
        };
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', end);
        if (answer.headers['content-type'] === 'text/event-stream')
          setTimeout(() => {
            answer.removeAllListeners('error').on('error', () => undefined);
            answer.destroy();
            end();
          }, 20);
      },
    );
    sent.on('error', reject);
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error('no answer')));
    sent.end(body ?? undefined);
  });
}

/** The faults of one answer. */
function faultsOf(sketch: Sketch, caller: string, heard: Heard): readonly string[] {
  const faults: string[] = [];
  const { status, type, text } = heard;
  const { operation, method, url } = sketch;
  if (status >= 500 && !FAILURES.has(status)) faults.push(`status ${status}`);
  if (heard.ms > QUERY_MS) faults.push(`took ${Math.round(heard.ms)} ms`);
  if (
    caller !== 'admin' &&
    /blogsecret/u.test(text) &&
    !/blogsecret/u.test(
      decodeURIComponent(url.replaceAll(/%(?![0-9a-f]{2})/giu, '%25').replaceAll(/%[89a-f][0-9a-f]/giu, '?')),
    )
  )
    faults.push('shows another project');
  if (caller === 'viewer' && text.includes(CONTENT)) faults.push('shows content');
  const isMcp = operation.path === '/mcp' && text.startsWith('{"jsonrpc"');
  const isOwn = operation.path.startsWith('/api/v1') || (operation.path === '/mcp' && !isMcp);
  if (method === 'HEAD' || status === 204) {
    if (text !== '') faults.push('a body that must be empty');
    return faults;
  }
  if (status >= 400 && isOwn) {
    if (type !== 'application/json' || !accepts('#/components/schemas/ErrorAnswer', parsed(text)))
      faults.push(`shape of ${status}: ${type}`);
    else if (status === 400) {
      const {
        code,
        message,
        hint = '',
      } = (parsed(text) as { error: { code: string; message: string; hint?: string } }).error;
      if (!['filter_invalid', 'cursor_invalid'].includes(code) && !/`[a-z_.]+|"[^"]*"|body|project/u.test(message))
        faults.push(`names no parameter: ${message} (${hint})`);
    }
  } else if (status < 400 && isOwn && method === operation.method) {
    const { responses } = (api.paths[operation.path] as Readonly<Record<string, Described>>)[
      method.toLowerCase()
    ] as Described;
    const content = responses[String(status)]?.content;
    if (responses[String(status)] === undefined) faults.push(`status ${status} is not described`);
    if (content !== undefined && content[type] === undefined) faults.push(`type ${type}`);
    const schema = content?.[type]?.schema?.$ref;
    const value = type === 'application/json' ? parsed(text) : null;
    if (schema !== undefined && !accepts(schema, value))
      faults.push(`shape: ${JSON.stringify(ajv.getSchema(`api${schema}`)?.errors?.slice(0, 3))}`);
    if (type === 'application/x-ndjson')
      for (const line of text.split('\n'))
        if (line !== '' && parsed(line) === undefined) faults.push(`no JSON: ${line.slice(0, 200)}`);
  } else if (status === 0) faults.push('no status');
  if (/ at .*\.(?:js|ts):\d+/u.test(text)) faults.push('a stack trace');
  return faults;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function accepts(schema: string, value: unknown): boolean {
  return ajv.getSchema(`api${schema}`)?.(value) === true;
}

const generator = new Generator(shop, blog, nowNs);
const until = performance.now() + Number(values.seconds) * 1000;
const statuses = new Map<string, number>();
const seen = new Map<string, number>();
let [sent, failed] = [0, 0];
let seed = Number(values.seed);
do {
  const sketches = fc.sample(generator.of(operations), { seed, numRuns: ROUND });
  for (const [at, sketch] of sketches.entries()) {
    const [name, headers] = callers[(at + seed) % callers.length] as (typeof callers)[number];
    const before = scene.daemon.log.length;
    let heard: Heard;
    let faults: string[];
    try {
      heard = await hear(sketch, headers);
      faults = [...faultsOf(sketch, name, heard)];
    } catch (error) {
      heard = { status: 0, type: '', text: String(error), ms: 0 };
      faults = [String(error)];
    }
    sent += 1;
    const key = `${sketch.operation.method} ${sketch.operation.path}`;
    statuses.set(`${key} ${heard.status}`, (statuses.get(`${key} ${heard.status}`) ?? 0) + 1);
    if (faults.length === 0) continue;
    failed += 1;
    const shape = `${key}: ${faults.join('; ').replaceAll(/\d+/gu, 'N').slice(0, 200)}`;
    seen.set(shape, (seen.get(shape) ?? 0) + 1);
    if ((seen.get(shape) ?? 0) > (values.all ? 100 : 3)) continue;
    console.log(
      `FAULT seed ${seed} #${at} ${name}: ${sketch.method} ${sketch.url.slice(0, 600)} ${JSON.stringify(sketch.headers)} ${sketch.body?.slice(0, 300) ?? ''}\n  ${faults.join('\n  ')}\n  ${heard.status} ${Math.round(heard.ms)} ms ${heard.text.slice(0, 300)}`,
    );
    for (const line of scene.daemon.log.slice(before))
      console.log(
        '  log',
        line.message,
        String((line.fields['error'] as Error | undefined)?.stack ?? JSON.stringify(line.fields)).slice(0, 500),
      );
  }
  seed += 1;
} while (performance.now() < until);
console.log(Object.fromEntries([...seen].sort()));
if (values.all) console.log(Object.fromEntries([...statuses].sort()));
t.equal(failed, 0, `${sent} requests, seeds ${values.seed} to ${seed - 1}`);
