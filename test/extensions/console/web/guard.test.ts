/** An error while an answer is shown leaves the rest of the page and ways out. The answers have another shape. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

/** Replaces fields of the answers at this path. */
const change = (page: Page, path: RegExp, fields: object): Promise<unknown> =>
  page.route(path, async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...((await response.json()) as object), ...fields } });
  });

const failure = (page: Page) => page.getByRole('alert').filter({ hasText: 'This cannot be shown.' });
const rows = (page: Page) => page.locator('.grid-row');

/** The failure of a part, then another one of the same page. */
async function failInParts(t: Test, page: Page): Promise<void> {
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor();
  await change(page, /\/spans\/[0-9a-f]{16}\?/u, { events: 5 });
  await page.keyboard.press('j');
  await page.locator('.panel .message, .panel-body .muted').first().waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.locator('.panel').getByText('This cannot be shown.').waitFor();
  await page.getByRole('tab', { name: 'Attributes' }).click();
  await page.locator('.panel .values').first().waitFor();
  await change(page, /\/steps/u, { items: [{ content: { input_content: null } }] });
  await page.keyboard.press('2');
  await failure(page).waitFor();
  const raw = await failure(page).getByRole('link', { name: 'The trace as OTLP JSON' }).getAttribute('href');
  t.equal(await page.evaluate(`fetch(${JSON.stringify(raw)}).then(({ status }) => status)`), 200);
  await page.getByRole('button', { name: 'table' }).click();
  await rows(page).first().waitFor();
  t.equal(await failure(page).count(), 0, 'another view is shown');
}

async function failWhole(t: Test, page: Page, { origin }: TestConsole): Promise<void> {
  await change(page, /\/projects\/shop\/traces\?/u, { items: [{ trace_id: '1', start_time_unix_nano: 'x' }] });
  await page.goto(`${origin}/p/shop/traces`);
  await failure(page).waitFor();
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.locator('.tiles').waitFor();
  t.equal(await failure(page).count(), 0, 'another page is shown');
  await page.goBack();
  await failure(page).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await failure(page).getByRole('button', { name: 'Load the page again' }).click();
  await rows(page).first().waitFor();
}

const chromium = chromiumFor(t, 'errors of the page');
if (chromium !== null) {
  t.test('an error while something is shown', { timeout: 4 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    const page = await (await openBrowser(t, chromium)).newPage();
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await logIn(console, page);
    await rows(page).first().getByRole('link').click();
    await failInParts(t, page);
    await failWhole(t, page, console);
    t.ok(errors.length >= 3, 'the errors are reported to the browser');
  });
}
