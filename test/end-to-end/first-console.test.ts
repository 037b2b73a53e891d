/**
 * The console from the first start on, by keyboard alone: the real executable with the shipped configuration, the link
 * that it prints, the empty project, `sluice demo`, and every page.
 */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor, launchChromium } from '../support/browser.ts';
import { sluice } from '../support/command-line.ts';
import { type Executable, freePort, openFolder, startExecutable } from '../support/executable.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { createDatabase } from '../support/postgres.ts';
import '../support/long-file.ts';

const WHOLE_MS = 4 * PATIENCE_MS;
const LINK = /\bhttp:\/\/127\.0\.0\.1:\d+\/login#[0-9A-Za-z_-]{43}\b/u;
/** More than any page has. */
const MOST_TABS = 150;

/** Pages with the second key of their shortcut, and what is there when they have their data. */
const PAGES: readonly (readonly [key: string, page: string, ready: string])[] = [
  ['c', 'conversations', '.grid-row'],
  ['u', 'usage', '.data-table tbody tr'],
  ['l', 'logs', '.grid-row'],
  ['m', 'metrics', '.data-table tbody tr'],
  ['p', 'project', '.data-table tbody tr'],
  ['s', 'status', '.tiles'],
  ['t', 'traces', '.grid-row'],
];
const VIEWS: readonly (readonly [key: string, ready: string])[] = [
  ['2', '.message'],
  ['3', '[role=grid] .grid-row'],
  ['4', '.json'],
  ['1', '[role=treegrid] .grid-row'],
];

/** Errors, requests elsewhere, and failures of the server. */
function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // The first request of a page without a session is refused.
    if (message.type() === 'error' && !message.text().includes('401')) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(`request: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) faults.push(`answer ${response.status()}: ${response.url()}`);
  });
  return faults;
}

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let count = 0; count < MOST_TABS; count += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(
      "(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()",
    );
    if (name.test(focused)) return;
    passed.push(focused.slice(0, 30));
  }
  throw new Error(`Tab does not reach ${name}: ${passed.join(', ')}`);
}

/** One key directly after the other: the time for a sequence is limited. */
const pressBoth = (page: Page, first: string, second: string): Promise<unknown> =>
  Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);

interface Scene {
  readonly page: Page;
  readonly daemon: Executable;
  readonly settings: readonly string[];
  readonly folder: string;
}

async function firstTrace(t: Test, { page, daemon, settings, folder }: Scene): Promise<void> {
  const link = LINK.exec(daemon.output.out)?.[0] ?? '';
  t.match(link, LINK, 'the first start prints a link');
  await page.goto(link);
  await page.getByRole('heading', { name: 'Send the first trace to default' }).waitFor();
  t.notMatch(page.url(), /#/u, 'the token left the address');
  await tabTo(page, /^Create an API key$/u);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'environment' }).getByText('slc_').waitFor();
  const demo = await sluice(['demo', ...settings], { folder });
  t.equal(demo.code, 0, demo.err);
  await page.locator('.grid-row').first().waitFor();
  t.match(await page.locator('.grid-row').first().textContent(), /invoke_agent/u, 'the trace appears by itself');
}

async function readTrace(t: Test, page: Page): Promise<void> {
  await page.keyboard.press('j');
  await page.locator('.grid-row.active').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('[role=treegrid] .grid-row').first().waitFor();
  await page.keyboard.press('e');
  await page.locator('.panel h2').waitFor();
  const selected = new URL(page.url()).hash;
  for (const [key, ready] of VIEWS) {
    await page.keyboard.press(key);
    await page.locator(ready).first().waitFor();
  }
  t.equal(new URL(page.url()).hash, selected, 'the span is still selected after the other views');
  await page.locator('.panel h2').waitFor();
  await tabTo(page, /^Messages$/u);
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'Attributes', selected: true }).waitFor();
  await tabTo(page, /^Attributes$/u);
  t.match(page.url(), /\/p\/default\/traces\/[0-9a-f]{32}/u);
}

async function readPages(t: Test, page: Page): Promise<void> {
  for (const [key, name, ready] of PAGES) {
    await pressBoth(page, 'g', key);
    await page.waitForURL((url) => url.pathname === `/p/default/${name}`);
    await page.locator(ready).first().waitFor();
  }
  await pressBoth(page, 'g', 'c');
  await page.locator('.conversation-grid .grid-row').first().waitFor();
  await page.keyboard.press('j');
  await page.locator('.grid-row.active').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.message').first().waitFor();
  await tabTo(page, /^Usage$/u);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname === '/p/default/usage');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys and filters' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.locator('dialog input:focus').waitFor();
  await page.keyboard.type('logs');
  await page.getByRole('option', { name: /^Logs/u, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname === '/p/default/logs');
  t.pass('every page was reached');
}

const chromium = chromiumFor(t, 'the page');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('from the first start to every page, by keyboard', { timeout: WHOLE_MS }, async (t) => {
    const folder = openFolder(t);
    const { url } = await createDatabase(t);
    const settings = [
      ['extensions.postgres', `{ url: "${url}", allow_unsafe: true }`],
      ['extensions.health_check.endpoint', '127.0.0.1:0'],
      ['extensions.console.endpoint', '127.0.0.1:0'],
      ['receivers.otlp.protocols.http.endpoint', `127.0.0.1:${await freePort()}`],
      ['receivers.otlp.protocols.grpc.endpoint', '127.0.0.1:0'],
      ['service.telemetry.metrics.endpoint', '127.0.0.1:0'],
    ].flatMap(([path, value]) => ['--set', `${path}=${value}`]);
    const daemon = startExecutable(['run', ...settings], folder);
    t.teardown(async () => {
      daemon.child.kill('SIGTERM');
      await daemon.ended;
    });
    const [browser] = await Promise.all([launchChromium(chromium), daemon.until('/login#')]);
    t.teardown(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const faults = watch(page, new URL(LINK.exec(daemon.output.out)?.[0] ?? '').origin);
    await firstTrace(t, { page, daemon, settings, folder });
    await readTrace(t, page);
    await readPages(t, page);
    t.same(faults, [], 'no error and no request to another origin');
  });
}
