/** The page of usage: users are counted where the answer has them all, and links keep the filter. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const startNs = BigInt(Date.now()) * 1_000_000n;
const callOf = (provider: string, cost: number | null) => ({
  traceId: randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
  name: 'chat',
  startTimeUnixNano: String(startNs),
  endTimeUnixNano: String(startNs + 1n),
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'gen_ai.provider.name', value: { stringValue: provider } },
    { key: 'gen_ai.request.model', value: { stringValue: 'same' } },
    ...(cost === null ? [] : [{ key: 'gen_ai.usage.cost', value: { doubleValue: cost } }]),
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '1' } },
    { key: 'user.id', value: { stringValue: 'grace' } },
  ],
});
const CUT = `[...document.querySelectorAll('.tiles dd')].filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.textContent)`;
const BROKEN = `[...document.querySelectorAll('.tiles dd')].filter((each) => each.offsetHeight > 2 * parseFloat(getComputedStyle(each).fontSize))
  .map((each) => each.textContent)`;

const chromium = chromiumFor(t, 'the page of usage');
if (chromium !== null) {
  t.test('users and links', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, {
      processors: 'auth, environment, normalization, pricing',
      projects: ['shop'],
    });
    // The demo names its user on the span above its calls, another call names a user itself.
    await sendDemo(console, 'shop');
    const { text: key } = await console.administration.createKey('shop', null, null);
    await fetch(`${console.daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        resourceSpans: [{ scopeSpans: [{ spans: [callOf('openai', 123_456_789), callOf('azure.ai.openai', null)] }] }],
      }),
    });
    const page = await (await openBrowser(t, chromium)).newPage();
    await logIn(console, page);
    const tiles = async (group: string): Promise<readonly string[]> => {
      await page.goto(`${console.origin}/p/shop/usage?group=${group}`);
      await page.locator('.data-table').waitFor();
      return (await page.locator('.tiles > div').allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, ' ').trim());
    };
    t.notMatch((await tiles('model')).join(), 'users');
    t.match((await tiles('user')).join(), 'users 2');
    await tiles('provider&q=-service:worker');
    const links = "[...document.querySelectorAll('.data-table th a, .tiles a')].map((link) => link.href)";
    const filters = async (): Promise<readonly (string | null)[]> =>
      ((await page.evaluate(links)) as string[]).map((href) => new URL(href).searchParams.get('q')).sort();
    const providers = ['anthropic', 'azure.ai.openai', 'openai'].map((name) => `-service:worker provider:${name}`);
    t.same(await filters(), [...providers, '-service:worker unpriced'], 'links to traces keep the filter');
    await tiles('model&q=model:same');
    const own = ['azure.ai.openai', 'openai'].map((name) => `model:same provider:${name}`);
    t.same(
      await filters(),
      [...own, 'model:same unpriced'],
      'a link finds the calls of its row, not those of the model elsewhere',
    );

    t.same(await page.evaluate(BROKEN), [], 'a large sum is on one line');
    await page.setViewportSize({ width: 360, height: 740 });
    t.same(await page.evaluate(BROKEN), [], 'on a phone too');
    t.same(await page.evaluate(CUT), [], 'a large sum fits into its tile');
    await tiles('model&from=-30d');
    t.match(await page.locator('.usage-page').innerText(), 'A bar is a day in UTC.');

    // As the API takes it.
    for (const [from, to] of [
      ['2020-01-01', '2020-01-02T00:00Z'],
      ['1577836800000000000', '1577923200000'],
      ['1970-01-01', '1970-01-02'],
      ['0', '86400000'],
    ]) {
      await page.goto(`${console.origin}/p/shop/usage?from=${from}&to=${to}`);
      await page.locator('.data-table, .empty').first().waitFor();
      t.match(await page.locator('.usage-page').innerText(), 'No model call in this range', `from ${from} to ${to}`);
    }

    // As the API refuses it: it would be another time for each reader.
    for (const from of ['2020-01-01T10:00', '2020-02-30', 'yesterday']) {
      await page.goto(`${console.origin}/p/shop/usage?from=${from}&to=2020-03-02`);
      await page.getByText('`from` is no time.').first().waitFor();
    }
    t.match(await page.locator('#range').textContent(), /^yesterday – 2020-03-0[12] /u);
  });
}
