// Makes docs/pictures/*.png: a daemon with an embedded database in a temporary folder, a day of telemetry of the demo,
// and pages of the console in Chromium. `node scripts/screenshots.js [folder]` after a build.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDemo } from '../dist/src/cli/demo/application.js';
import { findChromium, launchChromium } from '../dist/test/support/browser.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = process.argv[2] ?? join(root, 'docs/pictures');
const PATIENCE_MS = 180_000;
const TRACES = 160;
const DAY_MS = 86_400_000;
const PROJECT = 'shop';
const VIEWPORT = { width: 1200, height: 480 };
/** Texts of the demo that are replaced, so that the day has more than one application. */
const SERVICES = ['travel-web', 'travel-api', 'worker'];
const AGENTS = ['travel-assistant', 'support-agent', 'digest'];
const USERS = ['ada', 'grace', 'edsger', 'barbara', 'tony', 'frances', 'donald'];
const MODELS = ['gpt-5-mini', 'gpt-5', 'gpt-4.1-mini'];
const PICTURES = [
  ['traces', 'light', `/p/${PROJECT}/traces`, []],
  ['trace', 'dark', `/p/${PROJECT}/traces/A`, ['ArrowDown', 'm']],
  ['usage', 'light', `/p/${PROJECT}/usage`, []],
  ['compare', 'light', `/p/${PROJECT}/compare?a=A&b=B`, ['n', 'j', 'j']],
  ['metrics', 'dark', `/p/${PROJECT}/metrics?name=http.server.request.duration&by=none`, []],
];

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function until(check, what) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const found = await check().catch(() => null);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
}

const configOf = (folder, otlp, page) => `
extensions:
  postgres: { data_dir: "${folder}" }
  console: { endpoint: "127.0.0.1:${page}", auth: { mode: none, anonymous_role: admin } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${otlp}" } } } }
processors: { auth: {}, environment: {}, privacy: {}, normalization: {}, pricing: {} }
exporters: { postgres: {} }
service:
  extensions: [postgres, console]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [postgres] }
    logs: *pipeline
    metrics: *pipeline
`;

const pick = (list, at) => list[at % list.length];

/** A day: more traffic in its second half, another user, service and model in each trace, few errors. */
function dayOf(nowMs) {
  return Array.from({ length: TRACES }, (_, at) => {
    const age = at === 0 ? 0 : DAY_MS * 0.98 * (at / TRACES) ** 1.4;
    const { requests } = makeDemo(nowMs - age, at % 5 === 4 ? 'staging' : 'production');
    const text = JSON.stringify(requests)
      .replaceAll('sluice-demo', pick(SERVICES, at * 7))
      .replaceAll('travel-assistant', pick(AGENTS, at * 5))
      .replaceAll('demo-user', pick(USERS, at * 3))
      .replaceAll('gpt-5-mini', pick(MODELS, Math.floor(at / 3)))
      .replaceAll(/demo-[0-9a-f]{8}/gu, `c-${Math.floor(at / 4)}`);
    const made = JSON.parse(text);
    if (at % 6 !== 0) for (const span of spansOf(made)) succeed(span);
    const begin = BigInt(spansOf(made)[0].startTimeUnixNano);
    if (at > 0) for (const span of spansOf(made)) stretch(span, begin, 0.3 + ((at * 37) % 23) / 10);
    return made;
  });
}

const spansOf = (requests) => requests[0].body.resourceSpans[0].scopeSpans[0].spans;

function succeed(span) {
  delete span.status;
  span.attributes = span.attributes.filter(({ key }) => key !== 'error.type');
}

/** Another duration of a span, and another number of its tokens. */
function stretch(span, begin, factor) {
  for (const name of ['startTimeUnixNano', 'endTimeUnixNano']) {
    span[name] = String(begin + BigInt(Math.round(Number(BigInt(span[name]) - begin) * factor)));
  }
  for (const { key, value } of span.attributes) {
    const isCount = key.startsWith('gen_ai.usage.') && value.intValue !== undefined;
    if (isCount) value.intValue = String(Math.round(Number(value.intValue) * factor));
  }
}

const STEP_MS = 300_000;
const NS = 1_000_000n;

/** Metrics of a day, one point in five minutes: a gauge, a counter that begins anew, a histogram. */
function metricsOf(nowMs) {
  const times = Array.from({ length: DAY_MS / STEP_MS }, (_, at) => nowMs - DAY_MS + (at + 1) * STEP_MS);
  const at = (ms, more) => ({ timeUnixNano: String(BigInt(Math.floor(ms)) * NS), ...more });
  const route = (value) => [{ key: 'http.route', value: { stringValue: value } }];
  const points = (make) => times.map((ms, index) => make(ms, index));
  const wave = (index, size) => 1 + Math.sin(index / size) * 0.6 + ((index * 37) % 11) / 20;
  const counted = (factor, attributes) => {
    let stored = 0;
    return points((ms, index) => {
      stored = index === 170 ? 0 : stored + Math.round(wave(index, 40) * factor);
      const began = index < 170 ? times[0] - STEP_MS : times[169];
      return at(ms, { asInt: String(stored), attributes, startTimeUnixNano: String(BigInt(Math.floor(began)) * NS) });
    });
  };
  const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
  const lasted = points((ms, index) => {
    const counts = [40, 90, 60, 25 * wave(index, 60), 9 * wave(index, 25), 3 * wave(index, 12), 1, 0].map(Math.round);
    const count = counts.reduce((sum, each) => sum + each, 0);
    return at(ms, {
      startTimeUnixNano: String(BigInt(Math.floor(ms - STEP_MS)) * NS),
      ...{ count: String(count), sum: count * 0.21, explicitBounds: bounds, bucketCounts: counts.map(String) },
      attributes: route('/chat'),
    });
  });
  const [delta, cumulative] = [1, 2];
  const metrics = [
    {
      name: 'process.memory.usage',
      unit: 'By',
      description: 'The resident memory of the process.',
      gauge: { dataPoints: points((ms, index) => at(ms, { asInt: String(Math.round(wave(index, 50) * 9e7)) })) },
    },
    {
      name: 'http.server.requests',
      unit: '{request}',
      sum: {
        aggregationTemporality: cumulative,
        isMonotonic: true,
        dataPoints: [...counted(40, route('/chat')), ...counted(12, route('/trips')), ...counted(3, route('/health'))],
      },
    },
    {
      name: 'http.server.request.duration',
      unit: 's',
      description: 'Duration of HTTP server requests.',
      histogram: { aggregationTemporality: delta, dataPoints: lasted },
    },
  ];
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: SERVICES[0] } }] };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] };
}

async function post(url, body, headers) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text === '' ? {} : JSON.parse(text);
}

async function fill(otlp, origin) {
  const api = `${origin}/api/v1/projects`;
  await post(api, { name: PROJECT }, { origin });
  const { key } = await post(`${api}/${PROJECT}/keys`, {}, { origin });
  for (const requests of dayOf(Date.now())) {
    for (const { path, body } of requests) await post(otlp + path, body, { authorization: `Bearer ${key}` });
  }
  await post(`${otlp}/v1/metrics`, metricsOf(Date.now()), { authorization: `Bearer ${key}` });
  const { items } = await (await fetch(`${api}/${PROJECT}/traces?limit=4`)).json();
  return [items[0].trace_id, items[3].trace_id];
}

async function takePictures(origin, traces) {
  const executable = findChromium();
  if (executable === null) throw new Error('there is no Chromium; set SLUICE_CHROMIUM');
  const browser = await launchChromium(executable);
  mkdirSync(target, { recursive: true });
  for (const [name, colorScheme, path, keys] of PICTURES) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' });
    await page.goto(origin + path.replace('=B', `=${traces[1]}`).replace(/\bA\b/u, traces[0]));
    await page.locator('.grid-row, .chart canvas').first().waitFor();
    for (const key of keys) await page.keyboard.press(key);
    if (keys.length > 0) await page.locator('.panel .message, .panel .diff').first().waitFor();
    // The facets and the chart come after the rows.
    await page.waitForLoadState('load');
    await page.waitForTimeout(3_000);
    await page.screenshot({ path: join(target, `${name}-${colorScheme}.png`) });
    await page.close();
  }
  await browser.close();
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
const [otlpPort, pagePort] = [await freePort(), await freePort()];
const config = join(folder, 'sluice.yaml');
writeFileSync(config, configOf(join(folder, 'data'), otlpPort, pagePort));
const daemon = spawn(process.execPath, [join(root, 'bin/sluice.js'), 'run', '--config', config], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const origin = `http://127.0.0.1:${pagePort}`;
  await until(async () => (await fetch(`${origin}/api/v1/me`)).ok, 'the console answers');
  const otlp = `http://127.0.0.1:${otlpPort}`;
  await until(async () => (await fetch(`${otlp}/health`)).ok, 'the receiver answers');
  await takePictures(origin, await fill(otlp, origin));
} finally {
  const ended = new Promise((resolve) => daemon.on('exit', resolve));
  daemon.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
