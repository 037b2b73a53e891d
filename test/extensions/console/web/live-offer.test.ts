/** The list of traces offers what had no place in an event, and nothing that it already has. */
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { chromiumFor } from '../../../support/browser.ts';
import { openBrowser } from '../../../support/console-page.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

/** The rows of one event, and of the first page of the list. */
const MOST = 50;
const MANY = 120;
/** The rows of one event that the page shows at once. */
const ARRIVING = 20;

/** Each span is a trace of its own. The names tell the requests apart. */
function spansNow(name: string, count: number): object {
  const now = BigInt(Date.now()) * 1_000_000n;
  const spans = Array.from({ length: count }, (_, at) => ({
    traceId: `${Buffer.from(name).toString('hex')}${String(at).padStart(8, '0')}`.padStart(32, '1').slice(-32),
    spanId: '0000000000000001',
    name,
    startTimeUnixNano: String(now - BigInt(at)),
    endTimeUnixNano: String(now + 1_000_000n),
  }));
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

interface Scene {
  readonly page: Page;
  readonly console: TestConsole;
  send(name: string, count: number): Promise<void>;
}

async function startScene(t: Test, chromium: string): Promise<Scene> {
  const console = await startConsole(t, {
    options: 'auth: { mode: none, anonymous_role: viewer }',
    projects: ['shop'],
  });
  const { text: key } = await console.administration.createKey('shop', null, null);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const send = async (name: string, count: number): Promise<void> => {
    const body = JSON.stringify(spansNow(name, count));
    t.equal((await fetch(`${console.daemon.url}/v1/traces`, { method: 'POST', headers, body })).status, 200);
  };
  const page = await (await openBrowser(t, chromium)).newPage();
  return { page, console, send };
}

const chromium = chromiumFor(t, 'live pages');
if (chromium !== null) {
  t.setTimeout(6 * PATIENCE_MS);
  t.test('more new traces than one event has stay offered until the list has them', async (t) => {
    const { page, console, send } = await startScene(t, chromium);
    const row = (name: string) => page.locator('.grid-row', { hasText: name }).first();
    const offer = page.getByRole('button', { name: / new ↑$/u });
    // More than a page, shortly before: the first event looks back at them.
    await send('earlier', MANY);
    await page.goto(`${console.origin}/p/shop/traces`);
    await row('earlier').waitFor();
    await send('next', 1);
    await row('next').waitFor();
    t.equal(await offer.count(), 0, 'what the list has, or loads with a page, is not offered');

    await send('many', MANY);
    await row('many').waitFor();
    await page.getByRole('button', { name: `${MANY - MOST} new ↑` }).waitFor();
    await send('last', 1);
    await row('last').waitFor();
    t.equal(await offer.innerText(), `${MANY - MOST} new ↑`, 'rows that are shown do not end the offer');

    const loaded = page.waitForResponse((response) => response.url().includes('/shop/traces?'));
    await offer.click();
    await loaded;
    await offer.waitFor({ state: 'detached' });
    await send('after', 1);
    // Under the pointer no row moves, so the row is offered: alone.
    await page.getByRole('button', { name: /^1 new ↑$/u }).waitFor();
  });

  t.test('rows that left the list leave the memory', async (t) => {
    const { page, console, send } = await startScene(t, chromium);
    await send('earlier', MANY);
    await page.goto(`${console.origin}/p/shop/traces`);
    await page.locator('.grid-row', { hasText: 'earlier' }).first().waitFor();
    const arrive = async (from: number, to: number): Promise<void> => {
      for (let at = from; at < to; at += 1) {
        await send(`round ${at}.`, ARRIVING);
        await page
          .locator('.grid-row', { hasText: `round ${at}.` })
          .first()
          .waitFor();
      }
    };
    const session = await page.context().newCDPSession(page);
    const nodesNow = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Memory.getDOMCounters')).nodes;
    };
    await arrive(0, 4);
    const before = await nodesNow();
    await arrive(4, 16);
    const more = (await nodesNow()) - before;
    t.ok(more < 12 * ARRIVING, `${more} more nodes for ${12 * ARRIVING} more rows`);
  });
}
