/**
 * The console compared with the page of Phoenix: the same traces in both, each in a PostgreSQL server of its own, in
 * the same browser, in turns. The servers have one core, the browser the other.
 *
 *   node dist/bench/side-by-side-pages.js [--rounds 5]
 *
 * Linux, two cores, Chromium (SLUICE_CHROMIUM or on the path); Python for the first run, which installs Phoenix in the
 * version of scripts/phoenix.js with pip. Takes about fifteen minutes; see docs/performance.md.
 */
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { grouped, median } from '../src/cli/bench/figures.ts';
import { findChromium, launchChromium } from '../test/support/browser.ts';
import { readArguments } from './arguments.ts';
import type { Backend } from './side-by-side/contender.ts';
import { inFolder, provide } from './side-by-side/contenders.ts';
import { type Day, LARGE_TRACE, makeTraces, RARE_MODEL, RARE_WORD, sendDay } from './side-by-side/day.ts';
import { type PageSteps, PHOENIX, SLUICE } from './side-by-side/pages.ts';
import { startPhoenix } from './side-by-side/phoenix.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { startSluiceOverPostgres } from './side-by-side/sluice.ts';
import { printHead, printRow } from './table.ts';

const VIEWPORT = { width: 1280, height: 800 };
const PATIENCE_MS = 120_000;
/** For the parts of a page that come after its first row. */
const SETTLE_MS = 2_000;

const ROWS = {
  list: ['first row of the list', 'ms'],
  open: [`a trace of ${grouped(LARGE_TRACE.spans)} spans: its root is visible`, 'ms'],
  model: ['filter by model, one match', 'ms'],
  text: ['filter by a word in a prompt, one match', 'ms'],
  listHeap: ['JS heap of the page: list', 'MiB'],
  traceHeap: ['JS heap of the page: this trace', 'MiB'],
  server: ['resident memory of the server', 'MiB'],
  both: ['… with its database', 'MiB'],
} as const;
type Row = keyof typeof ROWS;
type Note = (row: Row, value: number) => void;

interface Side {
  readonly backend: Backend;
  readonly steps: PageSteps;
  readonly context: BrowserContext;
  readonly large: string;
  readonly found: ReadonlyMap<Row, number[]>;
}

async function fill(backends: readonly Backend[], day: Day): Promise<void> {
  for (const backend of backends) {
    await sendDay(backend.url, day);
    await backend.drain(day.spans);
    const kept = await backend.kept();
    if (kept !== day.spans) throw new Error(`${backend.name} has ${kept} of ${day.spans} spans`);
  }
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.enable').then(() => session.send('Performance.getMetrics'));
  await session.detach();
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1024 ** 2;
}

/** In a new page of the same context, which keeps the files of the page in its cache. */
async function inPage(side: Side, work: (page: Page) => Promise<void>): Promise<void> {
  const page = await side.context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  try {
    await work(page);
  } finally {
    await page.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function list(side: Side, page: Page): Promise<number> {
  const { steps, backend } = side;
  return timed(async () => {
    await page.goto(`${backend.page}/${steps.list}`, { waitUntil: 'commit' });
    await steps.row(page).first().waitFor();
  });
}

async function filter(side: Side, page: Page, text: string, found: string): Promise<number> {
  const { steps } = side;
  await list(side, page);
  await pause(SETTLE_MS);
  await steps.filterBox(page).click();
  await page.keyboard.press('Control+a');
  return timed(async () => {
    await page.keyboard.insertText(text);
    await page.keyboard.press('Enter');
    await steps.row(page).filter({ hasText: found }).waitFor();
  });
}

async function ask(side: Side, note: Note): Promise<void> {
  const { steps, backend, large } = side;
  await inPage(side, async (page) => {
    note('list', await list(side, page));
    await pause(SETTLE_MS);
    note('listHeap', await heapOf(page));
  });
  await inPage(side, async (page) => {
    const opened = await timed(async () => {
      await page.goto(`${backend.page}/${steps.traces}/${large}`, { waitUntil: 'commit' });
      for (const element of steps.rootOf(page)) await element.waitFor();
    });
    note('open', opened);
    await pause(SETTLE_MS);
    note('traceHeap', await heapOf(page));
  });
  await inPage(side, async (page) => note('model', await filter(side, page, steps.modelFilter, RARE_MODEL.name)));
  await inPage(side, async (page) => note('text', await filter(side, page, steps.textFilter, RARE_WORD.name)));
  const { serverMiB, databaseMiB } = backend.server.memory();
  note('server', serverMiB);
  note('both', serverMiB + databaseMiB);
}

async function compare(
  browser: Browser,
  backends: readonly [Backend, Backend],
  large: string,
  rounds: number,
): Promise<void> {
  const open = async (backend: Backend, steps: PageSteps): Promise<Side> => ({
    ...{ backend, steps, large },
    context: await browser.newContext({ viewport: VIEWPORT }),
    found: new Map((Object.keys(ROWS) as Row[]).map((row) => [row, []])),
  });
  const sides = [await open(backends[0], SLUICE), await open(backends[1], PHOENIX)];
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      // The first round fills the caches.
      await ask(side, (row, value) => round > 0 && side.found.get(row)?.push(value));
    }
  }
  print(sides);
}

function print(sides: readonly Side[]): void {
  printHead(['', ...sides.map(({ backend }) => backend.name), 'ratio'], [0]);
  for (const [row, [name, unit]] of Object.entries(ROWS)) {
    const figures = sides.map(({ found }) => found.get(row as Row) ?? []);
    const [first = 0, second = 0] = figures.map(median);
    const cells = figures.map((each) => `${grouped(median(each))} ${unit} (${grouped(Math.max(...each))})`);
    printRow([name, ...cells, `${(second / first).toFixed(1)}×`]);
  }
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, { options: { rounds: { type: 'string', default: '5' } } });
  const chromium = findChromium();
  const phoenix = provide('phoenix.js');
  if (chromium === null || phoenix === undefined) throw new Error('needs Chromium and Phoenix');
  console.log(`${cpus()[0]?.model}, Node.js ${process.version}, ${pinClient() ? 'a core each' : 'NOT PINNED'}`);
  await inFolder<Backend>('pages', async (folder, backends) => {
    // One after the other, so that the first is stopped when the other does not start.
    const sluice = await startSluiceOverPostgres();
    backends.push(sluice);
    const other = await startPhoenix(phoenix, folder);
    backends.push(other);
    const day = makeTraces(Date.now());
    await fill(backends, day);
    const browser = await launchChromium(chromium);
    console.log(`Chromium ${browser.version()}, ${grouped(day.spans)} spans\n`);
    try {
      await compare(browser, [sluice, other], day.large, Number(values.rounds));
    } finally {
      await browser.close();
    }
  });
}

await main();
