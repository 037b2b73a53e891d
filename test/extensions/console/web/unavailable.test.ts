/** The database stops while pages are open: each page says so, and shows its data again without a reload. */
import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor, launchChromium } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { logIn, sendDemo } from '../../../support/console-page.ts';
import { isLong } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { FAST_SETTINGS, makeServer } from '../../../support/postgres.ts';
import '../../../support/long-file.ts';

const WHOLE_MS = 6 * PATIENCE_MS;
/** Between two attempts of a page that waits for the database at most 15 seconds pass. */
const RETRY_MS = PATIENCE_MS + 15_000;

interface Visit {
  readonly name: string;
  /**
   * The page that is open when the database stops, and what it shows. Not traces for each: their list holds one of the
   * six connections of the browser.
   */
  readonly from: string;
  readonly shown: string;
  /** The link that then opens the page in question. */
  readonly link: string;
  /** What the page shows with its data. */
  readonly ready: string;
}

const rail = (page: string): string => `.rail a[href$="/${page}"]`;
const ALL_VISITS: readonly Visit[] = [
  ...[
    ['conversations', '.grid-row'],
    ['usage', '.data-table', 'project'],
    ['logs', '.grid-row'],
    ['metrics', '.data-table'],
    ['project', '.data-table'],
    ['status', '.tiles'],
  ].map(([name = '', ready = '', from = 'usage']) => ({ name, from, shown: '.data-table', link: rail(name), ready })),
  { name: 'traces', from: 'usage', shown: '.data-table', link: rail('traces'), ready: '.grid-row' },
  { name: 'trace', from: 'traces', shown: '.grid-row', link: '.grid-row a', ready: '.trace-title' },
  { name: 'conversation', from: 'conversations', shown: '.grid-row', link: '.grid-row a', ready: '.message' },
];
/** Each is a process of the browser. */
const ORDINARY_VISITS = ['logs', 'traces', 'trace'];
const VISITS = ALL_VISITS.filter(({ name }) => isLong || ORDINARY_VISITS.includes(name));

async function openPages(console: TestConsole, context: BrowserContext): Promise<ReadonlyMap<Visit, Page>> {
  const first = await context.newPage();
  await logIn(console, first);
  await first.close();
  const pages = new Map<Visit, Page>();
  for (const visit of VISITS) {
    const page = await context.newPage();
    page.setDefaultTimeout(RETRY_MS);
    await page.goto(`${console.origin}/p/shop/${visit.from}`);
    await page.locator(visit.shown).first().waitFor();
    pages.set(visit, page);
  }
  return pages;
}

async function checkAway(t: Test, { name, link }: Visit, page: Page): Promise<void> {
  await page.locator(link).first().click();
  await page.getByRole('alert').getByText('The database does not answer.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).first().waitFor();
  if (process.env['PICTURES'] !== undefined)
    await page.screenshot({ path: `${process.env['PICTURES']}/unavailable-${name}.png` });
  t.equal(await page.getByRole('alert').count(), 1, `${name}: the reason is there once`);
}

const chromium = chromiumFor(t, 'pages without a database');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('the database stops and starts while pages are open', { timeout: WHOLE_MS }, async (t) => {
    const server = await makeServer(t, FAST_SETTINGS);
    await server.start();
    const console = await startConsole(t, {
      processors: 'auth, environment, normalization',
      projects: ['shop'],
      databaseUrl: server.url,
    });
    await sendDemo(console, 'shop');
    const browser = await launchChromium(chromium);
    t.teardown(() => browser.close());
    const pages = await openPages(console, await browser.newContext({ reducedMotion: 'reduce' }));
    await server.stop();
    for (const [visit, page] of pages) await checkAway(t, visit, page);
    await server.start();
    for (const [{ name, ready }, page] of pages) {
      await page.locator(ready).first().waitFor();
      await page.locator('.banner').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Try again' }).first().waitFor({ state: 'detached' });
      t.pass(`${name}: nothing is left of it`);
    }
    const trace = [...pages].find(([{ name }]) => name === 'trace')?.[1];
    if (trace === undefined) throw new Error('no page of a trace is open');
    const id = new URL(trace.url()).pathname.split('/').at(-1);
    for (const path of [`traces/${id}`, `compare?a=${id}&b=${id}`]) {
      await trace.route('**/spans*', (route) => route.abort(), { times: 1 });
      await trace.goto(`${console.origin}/p/shop/${path}`);
      await trace.locator('.grid-row').first().waitFor();
      t.pass(`${path}: spans that did not arrive are loaded without a click`);
    }
  });
}
