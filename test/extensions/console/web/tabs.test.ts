/**
 * Many tabs of the console in one browser. A hidden tab has no stream, so those that are shown keep their connections.
 * Chromium without a window reports every tab as shown, so the test says which one is.
 */
import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { makeDemo } from '../../../../src/cli/demo/application.ts';
import { chromiumFor, launchChromium } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { isLong } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

/** A browser has six connections to a place. */
const TABS = isLong ? 8 : 7;
const HIDDEN = `Object.defineProperty(document, 'visibilityState', { get: () => window.shown ? 'visible' : 'hidden' })`;

const show = (page: Page, isShown: boolean): Promise<unknown> =>
  page.evaluate(`window.shown = ${isShown}; document.dispatchEvent(new Event('visibilitychange'))`);

async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(url);
  await page.locator('.grid-row').first().waitFor();
  return page;
}

const rows = (page: Page) => page.getByRole('grid', { name: 'Traces' }).locator('.grid-row');

const chromium = chromiumFor(t, 'many tabs');
if (chromium !== null) {
  t.test('more tabs than a browser has connections', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, {
      options: 'auth: { mode: none, anonymous_role: viewer }',
      projects: ['shop'],
    });
    const { text: key } = await console.administration.createKey('shop', null, null);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const post = async (path: string, body: object): Promise<void> => {
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      t.equal((await fetch(console.daemon.url + path, init)).status, 200);
    };
    const sendSpans = (body: object): Promise<void> => post('/v1/traces', body);
    const sendLog = (text: string): Promise<void> => post('/v1/logs', logOf(text));
    const sendTrace = async (): Promise<string> => {
      const { traceId, requests } = makeDemo(Date.now(), 'production');
      await sendSpans(requests[0]?.body ?? {});
      return traceId;
    };
    const id = await sendTrace();
    const browser = await launchChromium(chromium);
    t.teardown(() => browser.close());
    const context = await browser.newContext();
    await context.addInitScript(HIDDEN);
    let streams = 0;
    context.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/live')) streams += 1;
    });
    const address = `${console.origin}/p/shop/traces`;
    const showWindows = async (t: Test): Promise<void> => {
      const windows = await browser.newContext();
      await windows.addInitScript(HIDDEN);
      await windows.addInitScript('window.shown = true');
      const open = new Set<object>();
      windows.on('request', (request) => {
        if (new URL(request.url()).pathname.endsWith('/live')) open.add(request);
      });
      windows.on('requestfailed', (request) => open.delete(request));
      const pages: Page[] = [];
      for (let at = 0; at < TABS; at += 1) pages.push(await openTab(windows, address));
      const [first, last] = [pages[0], pages.at(-1)] as [Page, Page];
      await last.locator('.live.on').waitFor();
      await first.locator('.live.waiting').waitFor();
      t.equal(open.size, 4);
      t.match(await first.locator('.live').getAttribute('title'), /four windows used last/u);
      const before = await rows(last).count();
      await sendTrace();
      await rows(last).nth(before).waitFor();
      t.equal(await rows(first).count(), before);
      await first.evaluate("window.dispatchEvent(new Event('focus'))");
      await rows(first).nth(before).waitFor();
      await pages[4]?.locator('.live.waiting').waitFor();
      await last.close();
      await pages[4]?.locator('.live.on').waitFor();
      await windows.close();
    };
    const tabs: Page[] = [];
    for (let at = 0; at < TABS; at += 1) tabs.push(await openTab(context, at % 2 === 0 ? address : `${address}/${id}`));
    t.equal(streams, 0, 'hidden tabs open no stream');
    await t.test('a tab that is refused because others ask too', async () => {
      let isRefused = true;
      const busy = await context.newPage();
      await busy.route(/\/projects\/shop\/traces\?.*limit=50/u, (route) => {
        if (!isRefused) return route.continue();
        isRefused = false;
        return route.fulfill({ status: 429, json: { error: { code: 'too_many', message: 'Too many requests.' } } });
      });
      await busy.goto(address);
      await busy.locator('.grid-row').first().waitFor({ timeout: PATIENCE_MS });
      await busy.close();
    });
    const [list, trace] = tabs as [Page, Page];

    await t.test('a list that was hidden since it was loaded', async (t) => {
      await sendTrace();
      await show(list, true);
      await rows(list).nth(1).waitFor();
      t.equal(await rows(list).count(), 2);
    });
    await t.test('a list that was hidden for a while continues its stream', async (t) => {
      await show(list, false);
      await list.locator('.live.waiting').waitFor();
      await sendTrace();
      await show(list, true);
      await rows(list).nth(2).waitFor();
      t.equal(await rows(list).count(), 3);
    });
    await t.test('a trace that was hidden', async () => {
      await sendSpans(lateSpan(id));
      await show(trace, true);
      await trace.getByRole('button', { name: '1 more span · show' }).click();
      await trace.getByText('a late span').first().waitFor();
    });
    if (isLong) await t.test('windows beside each other, all of which are shown', (t) => showWindows(t));
    await t.test('a list of log records', async (t) => {
      const logs = await context.newPage();
      logs.setDefaultTimeout(PATIENCE_MS);
      let asked = 0;
      logs.on('request', (request) => {
        if (request.url().includes('/api/v1/projects/shop/logs')) asked += 1;
      });
      await sendLog('first');
      await logs.goto(`${console.origin}/p/shop/logs`);
      const records = logs.getByRole('grid', { name: 'Log records' }).locator('.grid-row');
      await records.first().waitFor();
      t.equal(asked, 1, 'a hidden tab does not follow');
      await sendLog('second');
      await show(logs, true);
      await records.nth(1).waitFor();
      t.match(await records.allTextContents(), [/second/u, /first/u]);
      await logs.keyboard.press('j');
      await logs.getByRole('complementary', { name: 'Log record' }).getByText('second').waitFor();
      await sendLog('third');
      await logs.getByRole('button', { name: '1 new ↑' }).click();
      await records.nth(2).waitFor();
      t.match(await records.allTextContents(), [/third/u, /second/u, /first/u]);
      t.match(await logs.locator('.grid-row.active').textContent(), /second/u, 'the record of the reader stays');
      await logs.keyboard.press('l');
      await logs.locator('.live.off').waitFor();
    });
  });
}

function logOf(text: string): object {
  const record = { timeUnixNano: String(BigInt(Date.now()) * 1_000_000n), body: { stringValue: text } };
  return { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] };
}

function lateSpan(traceId: string): object {
  const time = String(BigInt(Date.now()) * 1_000_000n);
  const span = { traceId, spanId: 'a'.repeat(16), name: 'a late span', kind: 1, startTimeUnixNano: time };
  const resource = {
    attributes: [{ key: 'deployment.environment.name', value: { stringValue: 'production' } }],
  };
  return { resourceSpans: [{ resource, scopeSpans: [{ spans: [{ ...span, endTimeUnixNano: time }] }] }] };
}
