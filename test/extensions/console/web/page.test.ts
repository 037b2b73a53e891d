/** The console's page in a real browser, on a real daemon and database. */
import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { makeDemo } from '../../../../src/cli/demo-application.ts';
import { findChromium, launchChromium } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { hostileRequests } from './hostile-trace.ts';

const BY = { id: null, name: 'a test' };
const PROCESSORS = 'auth, environment, normalization';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CONVERSATION = '"><img src=x onerror=alert(1)>';

interface Scene {
  readonly console: TestConsole;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly faults: string[];
  readonly apiKey: string;
}

/** Dialogs, errors, refusals of the policy, requests elsewhere, and failures of the server. */
function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:') && !url.startsWith('blob:'))
      faults.push(`request: ${url}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) faults.push(`answer ${response.status()}: ${response.url()}`);
  });
  return faults;
}

async function newLink({ people, origin }: TestConsole, name: string): Promise<string> {
  const person = (await people.findByName(name)) ?? (await people.create({ name, role: 'admin' }, BY));
  const text = randomBytes(32).toString('base64url');
  await people.addLink(person.id, { hash: hash('sha256', text, 'buffer'), lifetimeMs: 60_000 }, BY);
  return `${origin}/login#${text}`;
}

async function send(url: string, key: string, requests: readonly { path: string; body: object }[]): Promise<void> {
  for (const { path, body } of requests) {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

const rows = (page: Page) => page.locator('.grid-row');

/** From the link to an empty project, a key, and the first trace. Only the keyboard is used. */
async function firstTrace(t: Test, console: TestConsole, page: Page): Promise<string> {
  await page.goto(await newLink(console, 'ada'));
  await page.getByRole('heading', { name: 'Send the first trace to shop' }).waitFor();
  t.notMatch(page.url(), /#/u, 'the token left the address');
  await page.getByRole('button', { name: 'Create an API key' }).press('Enter');
  const lines = page.getByRole('region', { name: 'environment' });
  await lines.getByText('slc_').waitFor();
  const key = /Bearer%20(slc_\S+)"/u.exec((await lines.textContent()) ?? '')?.[1] ?? '';
  await send(console.daemon.url, key, makeDemo(Date.now(), 'demo').requests);
  await rows(page).first().waitFor();
  t.match(await rows(page).first().textContent(), /invoke_agent travel-assistant/u, 'the trace appears by itself');
  return key;
}

async function useKeys(t: Test, page: Page): Promise<string> {
  await page.keyboard.press('j');
  await page.locator('.grid-row.active').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor();
  await page.getByText('execute_tool get_weather').first().waitFor();
  await page.keyboard.press('e');
  await page.getByRole('heading', { name: 'execute_tool get_weather' }).waitFor();
  t.match(page.url(), /#s=[0-9a-f]{16}$/u, 'the address holds the selected span');
  await page.keyboard.press('m');
  await page.getByRole('heading', { name: /^chat / }).waitFor();
  const link = page.url();
  await page.keyboard.press('ArrowUp');
  await page.waitForURL((url) => url.href !== link);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys and filters' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('weather');
  await page.keyboard.press('Enter');
  await page.keyboard.press('n');
  await page.getByText(/^[12] of 2$/u).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await page.getByRole('grid', { name: 'Log records' }).waitFor();
  await page.goBack();
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor();
  return link;
}

/** A link to a span, opened by another browser: the login first, then the same view. */
async function openLink(t: Test, browser: Browser, console: TestConsole, link: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('textbox', { name: 'Or paste the link' }).fill(await newLink(console, 'ada'));
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /^chat / }).waitFor();
  t.equal(page.url(), link);
  await context.close();
}

const PAGES = ['conversations', 'usage', 'logs', 'project', 'status', 'traces'];
const VIEWS = ['timeline', 'messages', 'table', 'json'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Waits until nothing is loading. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator('.placeholders').first().waitFor({ state: 'detached' });
}

/** The second theme differs in its colours only. */
async function violations(page: Page, theme: 'light' | 'dark'): Promise<readonly string[]> {
  if (theme === 'light') await page.evaluate(AXE);
  const options = theme === 'light' ? '{}' : "{ runOnly: ['color-contrast'] }";
  const found = await page.evaluate<readonly Violation[]>(`axe.run(${options}).then(({ violations }) => violations)`);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

async function checkAccess(t: Test, browser: Browser, scene: Scene, trace: string): Promise<void> {
  const { origin } = scene.console;
  const state = await scene.context.storageState();
  const context = await browser.newContext({ storageState: state, bypassCSP: true, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const addresses = [...PAGES.map((name) => `/p/shop/${name}`), trace, `${trace}?view=messages`];
  for (const address of addresses) {
    await page.goto(origin + address);
    await settle(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      t.same(await violations(page, colorScheme), [], `${address.split('/').at(-1)}, ${colorScheme}`);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    t.ok(width <= 360, `${address.split('/').at(-1)} fits in 360 pixels: ${width}`);
    await page.setViewportSize({ width: 1280, height: 760 });
  }
  await context.close();
}

async function visitHostile(t: Test, { console, page, faults, apiKey }: Scene): Promise<void> {
  await send(console.daemon.url, apiKey, hostileRequests(Date.now(), CONVERSATION));
  const { json } = await console.ask('/api/v1/projects/shop/traces', {
    headers: { cookie: (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ') },
  });
  const id = json.items[0].trace_id as string;
  const conversation = `conversations/${encodeURIComponent(CONVERSATION)}`;
  for (const name of [...PAGES, conversation, ...VIEWS.map((view) => `traces/${id}?view=${view}`)]) {
    await page.goto(`${console.origin}/p/shop/${name}`);
    await settle(page);
    if (name.startsWith('conv') || name.includes('view=m')) await page.keyboard.press('r');
  }
  await page.goto(`${console.origin}/p/shop/traces/${id}`);
  const grid = page.getByRole('treegrid', { name: 'Spans' });
  await grid.waitFor();
  for (let at = 0; at < 4; at += 1) {
    await page.keyboard.press('ArrowDown');
    await page.locator('.panel h2').waitFor();
    for (const tab of ['Messages', 'Attributes', 'Events', 'Raw']) await page.getByRole('tab', { name: tab }).click();
  }
  t.equal(await page.evaluate('window.hostile'), undefined, 'no script ran');
  t.same(faults, [], 'no dialog, error, refused script or request to another origin');
}

const chromium = findChromium();
if (chromium === null) {
  t.pass('the page is NOT tested: there is no Chromium', { skip: 'set SLUICE_CHROMIUM to the path of a Chromium' });
} else {
  t.setTimeout(PATIENCE_MS);
  t.test('the page of the console', { timeout: PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: PROCESSORS, projects: ['shop'] });
    const browser = await launchChromium(chromium);
    t.teardown(() => browser.close());
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const faults = watch(page, console.origin);
    const apiKey = await firstTrace(t, console, page);
    const scene = { console, context, page, faults, apiKey };
    const link = await useKeys(t, page);
    t.same(faults, []);
    await openLink(t, browser, console, link);
    await t.test('accessible, in both themes, and on a narrow screen', { timeout: PATIENCE_MS }, (t) =>
      checkAccess(t, browser, scene, new URL(link).pathname),
    );
    await t.test('a hostile trace', { timeout: PATIENCE_MS }, (t) => visitHostile(t, scene));
  });
}
