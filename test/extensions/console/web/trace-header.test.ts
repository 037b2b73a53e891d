/** The page of a trace in a low window, a trace of the other half of the year, and the log records of one span. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aLogRequest, aSpan, aTraceRequest } from '../../../support/payloads.ts';
import '../../../support/long-file.ts';

const SUMMER_MS = Date.UTC(2026, 6, 1, 12);
const WINTER_MS = Date.UTC(2026, 0, 1, 12);
const ROW_PX = 28;

const chromium = chromiumFor(t, 'the page of a trace');
if (chromium !== null) {
  t.test('the page of a trace', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { projects: ['shop'] });
    const { text: key } = await console.administration.createKey('shop', null, null);
    const spans = [SUMMER_MS, WINTER_MS].flatMap((ms, trace) =>
      Array.from({ length: 5 }, (_, at) =>
        aSpan({
          traceId: `${trace + 1}`.repeat(32),
          spanId: `${trace + 1}${at + 1}`.repeat(8),
          start: BigInt(ms) * 1_000_000n,
        }),
      ),
    );
    // The record of the first span comes after more of another one than an answer has.
    const logs = Array.from({ length: 501 }, (_, at) => ({
      timeUnixNano: String(BigInt(WINTER_MS + at) * 1_000_000n),
      body: { stringValue: at < 500 ? 'of another span' : 'of the first span' },
      traceId: '2'.repeat(32),
      spanId: (at < 500 ? '22' : '21').repeat(8),
      attributes: [],
    }));
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      t.equal((await fetch(console.daemon.url + path, init)).status, 200);
    };
    await post('/v1/traces', aTraceRequest(spans));
    await post('/v1/logs', aLogRequest(logs));
    // 1280 by 800 pixels with a zoom of 200 %.
    const context = await openBrowser(t, chromium, {
      timezoneId: 'Europe/Berlin',
      viewport: { width: 640, height: 400 },
    });
    const page = await context.newPage();
    await logIn(console, page);
    const shown = async (trace: string): Promise<string> => {
      await page.goto(`${console.origin}/p/shop/traces/${trace.repeat(32)}`);
      await page.locator('.grid-row').first().waitFor();
      return page.locator('.facts').innerText();
    };
    t.match(await shown('1'), '2026-07-01 14:00:00.000 UTC+2');
    t.match(await shown('2'), '2026-01-01 13:00:00.000 UTC+1');
    await page.keyboard.press('j');
    await page.locator('.panel-body').waitFor();
    const height = Number((await page.locator('.span-grid').boundingBox())?.height);
    t.ok(height > 2 * ROW_PX, `the rows of the timeline have ${height} pixels`);
    await page.goto(`${console.origin}/p/shop/traces/${'2'.repeat(32)}?tab=Events#s=${'21'.repeat(8)}`);
    await page.locator('.panel').getByText('of the first span').waitFor();
    t.equal(await page.locator('.panel').getByText('of another span').count(), 0);
    t.equal(await page.locator('.panel').getByText('The first 500 are shown.').count(), 0);
    await page.goto(`${console.origin}/p/shop/traces/${'2'.repeat(32)}?tab=Events#s=${'22'.repeat(8)}`);
    await page.locator('.panel').getByText('of another span').first().waitFor();
    t.equal(await page.locator('.panel').getByText('of the first span').count(), 0);
  });
}
