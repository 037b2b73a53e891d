/** Long texts and lists of errors, log records and attributes: shown whole, or with how much of them is shown. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aLogRequest, aSpan, aTraceRequest } from '../../../support/payloads.ts';
import '../../../support/long-file.ts';

const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);
const ERROR = `Traceback:\n${'  File "app.py"\n'.repeat(30)}ValueError: the last line`;
/** The answer ends within an escape: a quote counts twice in JSON, and begins with one of its own. */
const BODY = `"${'"'.repeat(20_000)}`;
/** Characters of two UTF-16 units. */
const ATTRIBUTE = '\u{1f600}'.repeat(40_000);
/** Long as JSON, and shown whole. */
const QUOTES = '"'.repeat(20_000);

const chromium = chromiumFor(t, 'long texts');
if (chromium !== null) {
  t.test('long texts', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    const { text: key } = await console.administration.createKey('shop', null, null);
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      t.equal((await fetch(console.daemon.url + path, init)).status, 200);
    };
    const start = BigInt(Date.now()) * 1_000_000n;
    const attributes = [
      { key: 'long', value: { stringValue: ATTRIBUTE } },
      { key: 'quotes', value: { stringValue: QUOTES } },
    ];
    const list = {
      key: 'list',
      value: { arrayValue: { values: Array.from({ length: 1250 }, () => ({ intValue: 7 })) } },
    };
    const span = {
      ...aSpan({ traceId: TRACE, spanId: SPAN, start }),
      attributes: [...attributes, list],
      status: { code: 2, message: ERROR },
    };
    const record = {
      timeUnixNano: String(start),
      body: { stringValue: BODY },
      traceId: TRACE,
      spanId: SPAN,
      attributes,
    };
    await post('/v1/traces', aTraceRequest([span]));
    await post('/v1/logs', aLogRequest([record]));
    const page = await (await openBrowser(t, chromium)).newPage();
    await logIn(console, page);

    await page.goto(`${console.origin}/p/shop/traces/${TRACE}?tab=Attributes#s=${SPAN}`);
    const panel = page.locator('.panel-body');
    await panel.getByText('the first 32,768 of 40,000 characters').waitFor();
    t.equal(await panel.getByText(/^20,000 characters$/u).count(), 1, 'a whole text');
    await panel.getByRole('button', { name: '[1,250]' }).click();
    for (const left of ['1,150', '1,050'])
      await panel.getByRole('button', { name: `${left} more`, exact: true }).click();
    await panel.getByRole('button', { name: '950 more', exact: true }).waitFor();
    await panel.getByRole('button', { name: /^show \d+ more lines$/u }).click();
    await panel.getByText('ValueError: the last line').waitFor();

    await page.goto(`${console.origin}/p/shop/traces/${TRACE}?tab=Events#s=${SPAN}`);
    await panel.getByText('the first 16,384 of 40,004 characters').waitFor();

    await page.goto(`${console.origin}/p/shop/logs`);
    await page.locator('.grid-row .l-body').click();
    await panel.getByText('the first 16,384 of 40,004 characters').waitFor();
    t.notMatch(await panel.locator('.plain-text').first().textContent(), '\\', 'a cut text has no escapes of JSON');
    t.equal(await panel.getByText(/^the first 16,384 of [48]0,0\d\d characters$/u).count(), 2, 'body and attributes');
  });
}
