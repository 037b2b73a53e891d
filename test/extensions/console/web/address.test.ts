/** The address holds the tab of a span and the selected log record, so that a link and a reload show the same. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const FOCUS = 'document.activeElement.ariaLabel';

async function sendLogs({ administration, daemon }: TestConsole, bodies: readonly string[]): Promise<void> {
  const { text: key } = await administration.createKey('shop', null, null);
  const timeUnixNano = String(BigInt(Date.now() + 1_000) * 1_000_000n);
  const logRecords = bodies.map((stringValue) => ({ timeUnixNano, body: { stringValue } }));
  await fetch(`${daemon.url}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
  });
}

async function keepTab(t: Test, page: Page): Promise<void> {
  await page.locator('.grid-row').first().getByRole('link').click();
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('tab', { name: 'Attributes' }).click();
  await page.locator('.values').first().waitFor();
  await page.keyboard.press('j');
  await page.reload();
  await page.locator('.values').first().waitFor();
  t.equal(await page.getByRole('tab', { selected: true }).textContent(), 'Attributes');
  await page.getByRole('button', { name: 'Close the panel' }).press('Enter');
  await page.locator('.values').first().waitFor({ state: 'detached' });
  t.equal(await page.evaluate(FOCUS), 'Spans', 'the timeline has the focus of the panel that is gone');
  await page.goBack();
  await page.getByRole('grid', { name: 'Traces' }).waitFor();
}

async function keepRecord(t: Test, page: Page, { origin }: TestConsole): Promise<void> {
  await page.goto(`${origin}/p/shop/logs`);
  const panel = page.getByRole('complementary', { name: 'Log record' });
  const body = (text: string) => panel.locator('.panel-body').getByText(text, { exact: true });
  const filter = page.getByRole('combobox', { name: 'Filter' });
  await filter.fill('unfinished');
  for (const text of ['first', 'second', 'first']) {
    await page.locator('.l-body').getByText(text, { exact: true }).click();
    await body(text).waitFor();
  }
  t.equal(await filter.inputValue(), 'unfinished', 'a selection keeps the text that is typed');
  await page.reload();
  await panel.waitFor();
  t.match(await panel.textContent(), /first|second/u, 'a record of that time');
  await panel.getByRole('button', { name: 'Close' }).click();
  await panel.waitFor({ state: 'detached' });
  t.notMatch(page.url(), '#');
  t.equal(await page.evaluate(FOCUS), 'Log records', 'the list has the focus of the panel that is gone');
}

const chromium = chromiumFor(t, 'the address of the page');
if (chromium !== null) {
  t.test('a reload', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    await sendLogs(console, ['first', 'second']);
    const page = await (await openBrowser(t, chromium)).newPage();
    await logIn(console, page);
    await keepTab(t, page);
    await keepRecord(t, page, console);
  });
}
