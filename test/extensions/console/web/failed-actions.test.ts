/** What the reader asked for and did not get is said where they asked. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../../support/payloads.ts';
import '../../../support/long-file.ts';

const TRACE = 'a'.repeat(32);
/** Longer than what the console sends of a text at first. */
const LONG = 'word '.repeat(80_000);

async function sendLong({ administration, daemon }: TestConsole): Promise<void> {
  const { text: key } = await administration.createKey('shop', null, null);
  const values = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': LONG };
  const attributes = Object.entries(values).map(([name, stringValue]) => ({ key: name, value: { stringValue } }));
  const span = { ...aSpan({ traceId: TRACE, start: BigInt(Date.now()) * 1_000_000n }), attributes };
  const answer = await fetch(`${daemon.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(aTraceRequest([span])),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

async function refuse(page: Page, path: string, message: string): Promise<void> {
  await page.route(path, (route) => route.fulfill({ status: 503, json: { error: { code: 'busy', message } } }));
}

async function askInVain(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces/${TRACE}`);
  await page.locator('.grid-row').first().click();
  const all = page.getByRole('button', { name: 'load all' });
  await refuse(page, '**/content/*', 'No content now.');
  await all.click();
  await page.locator('.panel').getByRole('alert').getByText('No content now.').waitFor();
  await page.unroute('**/content/*');
  await all.click();
  await all.waitFor({ state: 'detached' });
  t.equal(await page.locator('.panel').getByRole('alert').count(), 0, 'the next attempt removes the message');
  for (const [name, path] of [
    ['Copy as Markdown', '**/markdown'],
    ['Download OTLP JSON', '**/otlp?as=json'],
  ] as const) {
    await refuse(page, path, `${name}: no.`);
    await page.getByRole('button', { name: 'Copy and download' }).click();
    await page.getByRole('button', { name }).click();
    await page.locator('.trace-header').getByRole('alert').getByText(`${name}: no.`).waitFor();
  }
  await refuse(page, '**/api/v1/session', 'Still logged in.');
  await page.getByRole('button', { name: 'You' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.locator('.menu-panel').getByRole('alert').getByText('Still logged in.').waitFor();
  await page.unroute('**/api/v1/session');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('textbox', { name: 'Or paste the link' }).waitFor();
}

/** The page of a proxy while the daemon restarts. */
async function waitBehindProxy(page: Page, origin: string): Promise<void> {
  for (const status of [502, 503]) {
    await page.route('**/api/v1/projects/shop/**', (route) =>
      route.fulfill({ status, contentType: 'text/html', body: '' }),
    );
    await page.goto(`${origin}/p/shop/usage`);
    await page.getByRole('alert').getByText('The daemon does not answer.').waitFor();
    await page.unroute('**/api/v1/projects/shop/**');
    await page.getByText('No model call in this range').waitFor();
  }
}

/** For example the page of a proxy. */
async function readNoJson(page: Page, origin: string): Promise<void> {
  await page.route('**/projects/shop/logs?*', (route) => route.fulfill({ contentType: 'text/html', body: '<p>Hello' }));
  await page.goto(`${origin}/p/shop/logs`);
  await page.getByRole('alert').getByText('The answer cannot be read.').waitFor();
  await page.unroute('**/projects/shop/logs?*');
}

const chromium = chromiumFor(t, 'failed actions');
if (chromium !== null) {
  t.test('failures', { timeout: 3 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendLong(console);
    const page = await (await openBrowser(t, chromium)).newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await logIn(console, page);
    await waitBehindProxy(page, console.origin);
    await readNoJson(page, console.origin);
    await askInVain(t, page, console.origin);
    t.same(errors, []);
  });
}
