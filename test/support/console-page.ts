/** What comes before a test of the console's page: a login, and telemetry to show. */
import { hash, randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { makeDemo } from '../../src/cli/demo/application.ts';
import type { TestConsole } from './console.ts';

const BY = { id: null, name: 'a test' };

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
