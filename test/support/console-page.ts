/** What comes before a test of the console's page: a browser, a login, and telemetry to show. */
import { hash, randomBytes } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { makeDemo } from '../../src/cli/demo/application.ts';
import { launchChromium } from './browser.ts';
import type { TestConsole } from './console.ts';
import { PATIENCE_MS } from './patience.ts';

const BY = { id: null, name: 'a test' };

/** Pages of a browser that is closed after the test. They wait with the patience of tests. */
export async function openBrowser(
  t: { teardown(task: () => Promise<void>): unknown },
  chromium: string,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const browser = await launchChromium(chromium);
  t.teardown(() => browser.close());
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** Creates a login link for the person with this name, and returns its address. A new person is an admin. */
export async function newLink(
  { people, origin }: Pick<TestConsole, 'people' | 'origin'>,
  name: string,
): Promise<string> {
  const person = (await people.findByName(name)) ?? (await people.create({ name, role: 'admin' }, BY));
  const text = randomBytes(32).toString('base64url');
  await people.addLink(person.id, { hash: hash('sha256', text, 'buffer'), lifetimeMs: 60_000 }, BY);
  return `${origin}/login#${text}`;
}

/** Opens the page as an admin. */
export async function logIn(console: Pick<TestConsole, 'people' | 'origin'>, page: Page, name = 'ada'): Promise<void> {
  await page.goto(await newLink(console, name));
  await page.locator('.shell').waitFor();
}

/** Sends the telemetry of `sluice demo` with a new key of the project. */
export async function sendDemo(
  { administration, daemon }: Pick<TestConsole, 'administration' | 'daemon'>,
  project: string,
): Promise<void> {
  const { text: key } = await administration.createKey(project, null, null);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  for (const { path, body } of makeDemo(Date.now(), 'demo').requests)
    await fetch(daemon.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}
