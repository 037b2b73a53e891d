/** Answers that take longer than the page waits before it asks again: it waits for them, and then shows them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const WHOLE_MS = 4 * PATIENCE_MS;
/** The page of an empty project asks every 1.5 seconds, that of the status every 5. */
const LIST_MS = 2_500;
const STATUS_MS = 6_000;
const TRACE_ID = "SELECT encode(trace_id, 'hex') AS id FROM sluice.traces";
const SEEN_PX = 100;

/** Each answer to such a request is late by this time. */
const delay = (page: Page, address: RegExp, ms: number): Promise<unknown> =>
  page.route(address, async (route) => {
    await pause(ms);
    // The page may have given up.
    await route.continue().catch(() => undefined);
  });

const chromium = chromiumFor(t, 'pages with slow answers');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('slow answers', { timeout: WHOLE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    const page = await (await openBrowser(t, chromium, { bypassCSP: true })).newPage();
    await logIn(console, page);
    await page.goto(`${console.origin}/p/shop/traces`);
    await page.getByRole('heading', { name: 'Send the first trace to shop' }).waitFor();
    await delay(page, /\/traces\?/u, LIST_MS);
    await sendDemo(console, 'shop');
    await page.locator('.grid-row').first().waitFor();
    t.pass('an empty project shows its first trace');
    await delay(page, /\/api\/v1\/status/u, STATUS_MS);
    await page.goto(`${console.origin}/p/shop/status`);
    await page.locator('.tiles').first().waitFor();
    t.pass('the status is shown');

    const id = String((await console.database.query(TRACE_ID)).rows[0]?.['id']);
    await page.route('**/api/v1/projects/shop/**', () => undefined);
    for (const path of [
      'traces',
      `traces/${id}`,
      'conversations',
      'usage',
      'logs',
      'metrics',
      `compare?a=${id}&b=${id}`,
    ]) {
      await page.goto(`${console.origin}/p/shop/${path}`);
      // Of a page that is loaded first, the rows are replaced.
      await page.waitForFunction(`document.querySelector('.placeholder')?.clientWidth > ${SEEN_PX}`);
      t.pass(`gray rows are seen while the answer is awaited: ${path.slice(0, 12)}`);
    }
  });
}
