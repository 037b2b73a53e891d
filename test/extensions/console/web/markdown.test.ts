/** Texts as Markdown: with names of characters, and those that would take minutes to parse. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../../support/payloads.ts';
import '../../../support/long-file.ts';

const TRACE = 'a'.repeat(32);
const NAMED = '**bold** &lt;b&gt; &amp; &none;';
const LIST = Array.from({ length: 300 }, (_, at) => `${at + 1}. **item** of a_list`).join('\n');
/** Each takes longer than a test may. */
const HEAVY = ['*a_', '[a](', '1. ', 'a\n===\n', 'a**b', '> '].map((unit) => unit.repeat(20_000).slice(0, 100_000));

const chromium = chromiumFor(t, 'Markdown');
if (chromium !== null) {
  t.test('texts', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    const { text: key } = await console.administration.createKey('shop', null, null);
    const messages = [NAMED, LIST, ...HEAVY].map((content) => ({ role: 'user', content }));
    const values = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': JSON.stringify(messages) };
    const attributes = Object.entries(values).map(([name, stringValue]) => ({ key: name, value: { stringValue } }));
    const span = { ...aSpan({ traceId: TRACE, start: BigInt(Date.now()) * 1_000_000n }), attributes };
    const answer = await fetch(`${console.daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(aTraceRequest([span])),
    });
    t.equal(answer.status, 200);
    const page = await (await openBrowser(t, chromium)).newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await logIn(console, page);
    await page.goto(`${console.origin}/p/shop/traces/${TRACE}`);
    await page.locator('.grid-row').first().click();
    await page.getByRole('button', { name: 'load all' }).click();
    await page
      .locator('.message')
      .nth(HEAVY.length + 1)
      .waitFor();
    await page.keyboard.press('r');
    await page.locator('.markdown').first().waitFor();
    t.equal(await page.locator('.markdown').first().innerText(), 'bold <b> & &none;');
    const unfold = page.getByRole('button', { name: /^show \d/u });
    while ((await unfold.count()) > 0) await unfold.first().click();
    t.equal(await page.locator('.markdown li').count(), 300);
    t.equal(await page.locator('.markdown').count(), 2);
    t.equal(await page.locator('.text-block > .plain-text').count(), HEAVY.length, 'those stay texts');
    t.same(errors, []);
  });
}
