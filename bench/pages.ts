/**
 * The console's page in Chromium on the traces of a day with one of 10,000 spans: first paint and first row without a
 * cache, opening the large trace, selecting spans, scrolling, and the time until a new trace is visible. The smallest
 * page of the same browser is the control of the first two. Also the memory that the console and twenty live streams
 * take in the daemon.
 *
 *   node dist/bench/pages.js [--rounds 5]
 *
 * Needs Chromium (SLUICE_CHROMIUM or on the path). A frame of the browser takes 16.7 ms.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { grouped, quantile } from '../src/cli/bench/figures.ts';
import { makeDemo } from '../src/cli/demo/application.ts';
import { findChromium, launchChromium } from '../test/support/browser.ts';
import { freePort } from '../test/support/executable.ts';
import { readArguments } from './arguments.ts';
import { type Daemon, KEY, openConsole, PROJECT, startDaemon } from './daemon.ts';
import { makeTraces, sendDay } from './side-by-side/day.ts';
import { serveSmallestPage } from './smallest-page.ts';
import { printHead, printRow } from './table.ts';

const VIEWPORT = { width: 1280, height: 800 };
const PATIENCE_MS = 60_000;
const SETTLE_MS = 2000;
const SELECTIONS = 20;
const FRAMES = 120;
const STREAMS = 20;
/** The daemon frees memory that it took at its start. */
const IDLE_MS = 20_000;

const ROWS = {
  paint: ['first contentful paint, empty cache', '100 ms'],
  smallestPaint: ['… of the smallest page', '–'],
  list: ['first row of the list, empty cache', '300 ms'],
  smallestRow: ['… of the smallest page', '–'],
  open: ['first rows of a trace of 10,000 spans', '–'],
  panel: ['a span is selected: its panel is visible', '16 ms'],
  content: ['… with its content', '100 ms'],
  listFrame: ['a frame while the list scrolls', '16.7 ms'],
  traceFrame: ['a frame while the trace scrolls', '16.7 ms'],
  live: ['a new trace: from the answer to its row', '2,000 ms'],
} as const;
type Row = keyof typeof ROWS;
type Note = (row: Row, ...ms: readonly number[]) => void;

/** In the page, since the processes of the benchmark share the cores: the time of the frame after the first row. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (document.querySelector('.grid-row') === null) return;
  observer.disconnect();
  requestAnimationFrame((time) => { window.firstRow = time; });
}).observe(document, { childList: true, subtree: true })`;

const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;

/** Milliseconds of each frame while the element scrolls by half of its height in each. */
const SCROLL = `(async () => {
  const grid = document.querySelector('.grid');
  const times = [];
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < ${FRAMES}; frame++) {
    const isDown = frame % 60 < 30;
    grid.scrollTop += (isDown ? 1 : -1) * grid.clientHeight / 2;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
  }
  return times;
})()`;

/** Selects the next span, and waits for its name in the panel and then for what the server has of it. */
const SELECT = `(async () => {
  const until = async (isThere) => {
    while (!isThere()) await new Promise(requestAnimationFrame);
    return performance.now();
  };
  const id = () => document.querySelector('.panel-facts code')?.textContent ?? '';
  const before = id();
  const started = performance.now();
  document.querySelector('.grid').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  const panel = await until(() => id() !== before && id() !== '');
  const isAnswered = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/spans/' + id()));
  const content = await until(() => isAnswered() && document.querySelector('.panel-body .loaded:not(.stale)') !== null);
  return [panel - started, content - started];
})()`;

interface Scene {
  readonly browser: Browser;
  readonly daemon: Daemon;
  /** The address of the project in the console. */
  readonly base: string;
  readonly large: string;
  readonly smallest: string;
}

/** Returns the id of the trace. */
async function sendDemo({ url }: Daemon): Promise<string> {
  const { requests, traceId } = makeDemo(Date.now(), 'demo');
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
  const body = JSON.stringify(requests[0]?.body);
  const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  return traceId;
}

/** In a new context, whose cache is empty. */
async function inPage({ browser }: Scene, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  try {
    await work(page);
  } finally {
    await context.close();
  }
}

/** Milliseconds from the start of the navigation to the first row. */
async function open(page: Page, address: string): Promise<number> {
  await page.addInitScript(NOTE_FIRST_ROW);
  await page.goto(address, { waitUntil: 'commit' });
  await page.locator('.grid-row').first().waitFor();
  return (await page.waitForFunction<number>('window.firstRow')).jsonValue();
}

async function measureSmallest(scene: Scene, note: Note): Promise<void> {
  await inPage(scene, async (page) => {
    note('smallestRow', await open(page, scene.smallest));
    note('smallestPaint', await page.evaluate<number>(FIRST_PAINT));
  });
}

async function measureList(scene: Scene, note: Note): Promise<void> {
  await inPage(scene, async (page) => {
    note('list', await open(page, `${scene.base}/traces?from=-7d`));
    note('paint', await page.evaluate<number>(FIRST_PAINT));
    await pause(SETTLE_MS);
    note('listFrame', ...(await page.evaluate<number[]>(SCROLL)));
    note('live', await untilShown(scene.daemon, page));
  });
}

/** A trace of the demo, from its acknowledgement until its row is in the list. */
async function untilShown(daemon: Daemon, page: Page): Promise<number> {
  await page.evaluate(`document.querySelector('.grid').scrollTop = 0`);
  const traceId = await sendDemo(daemon);
  const started = performance.now();
  await page.locator(`.grid-row a[href*="${traceId}"]`).first().waitFor();
  return performance.now() - started;
}

async function measureTrace(scene: Scene, note: Note): Promise<void> {
  await inPage(scene, async (page) => {
    note('open', await open(page, `${scene.base}/traces/${scene.large}`));
    await pause(SETTLE_MS);
    note('traceFrame', ...(await page.evaluate<number[]>(SCROLL)));
    await page.evaluate(`document.querySelector('.grid').scrollTop = 0`);
    for (let at = 0; at < SELECTIONS; at += 1) {
      const [panel = 0, content = 0] = await page.evaluate<number[]>(SELECT);
      note('panel', panel);
      note('content', content);
    }
  });
}

async function measurePages(scene: Scene, rounds: number): Promise<void> {
  const found = new Map(Object.keys(ROWS).map((row) => [row, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    // The first round is the warm-up of the server.
    const note: Note = (row, ...ms) => void (round > 0 && found.get(row)?.push(...ms));
    await measureSmallest(scene, note);
    await measureList(scene, note);
    await measureTrace(scene, note);
  }
  printHead(['', 'target', 'median', '95th of a hundred', 'longest', 'times'], [0]);
  for (const [row, [name, target]] of Object.entries(ROWS)) {
    const times = found.get(row) ?? [];
    const cells = [0.5, 0.95, 1].map((part) => `${quantile(times, part).toFixed(1)} ms`);
    printRow([name, target, ...cells, grouped(times.length)]);
  }
}

/** Resident memory of an idle daemon in MiB: without the console, with it, and with live streams. */
async function measureMemory(): Promise<void> {
  const port = await freePort();
  const without = await startDaemon('embedded', ['service.extensions=[health_check,postgres]'], { workers: 1 });
  await pause(IDLE_MS);
  const least = without.server.memory().serverMiB;
  await without.stop();
  const daemon = await startDaemon('embedded', openConsole(port), { workers: 1 });
  await sendDemo(daemon);
  await pause(IDLE_MS);
  const idle = daemon.server.memory().serverMiB;
  const over = new AbortController();
  const { signal } = over;
  const address = `http://127.0.0.1:${port}/api/v1/projects/${PROJECT}/live`;
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => fetch(address, { signal })));
  for (const { status } of streams) if (status !== 200) throw new Error(`a stream was answered ${status}`);
  await pause(IDLE_MS);
  const streaming = daemon.server.memory().serverMiB;
  over.abort();
  await daemon.stop();
  const more = (of: number, than: number): string => `${of > than ? '+' : ''}${(of - than).toFixed(1)} MiB`;
  console.log(
    `\nresident memory without the console: ${least.toFixed(1)} MiB; with it ${more(idle, least)} (target 6);`,
  );
  console.log(`with ${STREAMS} streams ${more(streaming, least)} (target 20)`);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, { options: { rounds: { type: 'string', default: '5' } } });
  const chromium = findChromium();
  if (chromium === null) throw new Error('there is no Chromium');
  const port = await freePort();
  const daemon = await startDaemon('embedded', openConsole(port), { workers: 1 });
  const browser = await launchChromium(chromium);
  const smallest = await serveSmallestPage();
  try {
    const day = makeTraces(Date.now());
    await sendDay(daemon.url, day);
    console.log(`Chromium ${browser.version()}, ${grouped(day.spans)} spans\n`);
    const base = `http://127.0.0.1:${port}/p/${PROJECT}`;
    await measurePages({ browser, daemon, base, large: day.large, smallest: smallest.address }, Number(values.rounds));
  } finally {
    smallest.close();
    await browser.close();
    await daemon.stop();
  }
  await measureMemory();
}

await main();
