/** The page of a trace in a low window, and a trace of the other half of the year. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../../support/payloads.ts';
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
    const answer = await fetch(`${console.daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(aTraceRequest(spans)),
    });
    t.equal(answer.status, 200);
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
  });
}
