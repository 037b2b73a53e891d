/** A trace too large for one answer: jumps and links reach the spans that are not loaded yet. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

/** Spans of one answer. The trace of the demo has six. */
const PART = 2;
const SPANS = `SELECT encode(trace_id, 'hex') AS trace, encode(span_id, 'hex') AS span, status = 'error' AS failed
  FROM sluice.spans ORDER BY start_time_unix_nano, span_id`;

const chromium = chromiumFor(t, 'a trace in parts');
if (chromium !== null) {
  t.test('a trace in parts', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    const { rows } = await console.database.query(SPANS);
    const failed = rows.findIndex((row) => row['failed'] === true);
    t.ok(failed >= PART, 'no span of the first part failed');
    const page = await (await openBrowser(t, chromium)).newPage();
    await page.route(/\/traces\/[0-9a-f]+\/spans/u, (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', String(PART));
      return route.continue({ url: url.href });
    });
    await logIn(console, page);
    const address = `${console.origin}/p/shop/traces/${String(rows[0]?.['trace'])}`;
    await page.goto(address);
    await page.getByText(`${PART} of ${rows.length} spans`).waitFor();
    const find = page.getByLabel('Find in this trace');
    await find.fill('get_weather');
    await page.getByText('0 matches so far').waitFor();
    await find.press('Escape');
    await page.keyboard.press('e');
    await page.waitForURL(`${address}#s=${String(rows[failed]?.['span'])}`);
    t.pass('the next error is in a later part');
    await page.keyboard.press('e');
    await page.getByText(`of ${rows.length} spans`).waitFor({ state: 'detached' });
    t.match(page.url(), String(rows[failed]?.['span']), 'after the last part, the first error is the next one');

    await page.goto('about:blank');
    await page.goto(`${address}#s=${String(rows.at(-1)?.['span'])}`);
    await page
      .locator('.panel')
      .getByText(String(rows.at(-1)?.['span']))
      .waitFor();
    t.pass('a link leads to a span of the last part');
  });
}
