/** The page of usage: users are counted where the answer has them all, and links keep the filter. */
import t from 'tap';
import { findChromium } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

const chromium = findChromium();
if (chromium === null) {
  t.pass('the page of usage is NOT tested: there is no Chromium', {
    skip: 'set SLUICE_CHROMIUM to the path of a Chromium',
  });
} else {
  t.test('users and links', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    // The demo names its user on the span above its calls.
    await sendDemo(console, 'shop');
    const page = await (await openBrowser(t, chromium)).newPage();
    await logIn(console, page);
    const tiles = async (group: string): Promise<readonly string[]> => {
      await page.goto(`${console.origin}/p/shop/usage?group=${group}`);
      await page.locator('.data-table').waitFor();
      return (await page.locator('.tiles > div').allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, ' ').trim());
    };
    t.notMatch((await tiles('model')).join(), 'users');
    t.match((await tiles('user')).join(), 'users 1');
    await tiles('provider&q=-service:worker');
    const links = "[...document.querySelectorAll('.data-table th a, .tiles a')].map((link) => link.href)";
    const filters = ((await page.evaluate(links)) as string[]).map((href) => new URL(href).searchParams.get('q'));
    t.same(
      filters.sort(),
      ['-service:worker provider:anthropic', '-service:worker provider:openai', '-service:worker unpriced'],
      'links to traces keep the filter',
    );
  });
}
