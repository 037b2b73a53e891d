/** A page that is printed is as long as its content, and dark on light. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

/** What scrolls within the page, and is therefore cut on paper. */
const SCROLLS = `[...document.querySelectorAll('.shell, .page, main, main > *, main .loaded > *')]
  .filter((each) => each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).overflowY !== 'visible')
  .map((each) => each.className || each.tagName)`;
/** What is wider than paper, where the script does not draw a chart again. Its other layers are empty there. */
const TOO_WIDE = `(() => {
  document.body.style.width = '700px';
  const wide = [...document.querySelectorAll('main :not(.u-wrap > div)')].filter((each) => each.getBoundingClientRect().right > 700);
  document.body.style.width = '';
  return wide.map((each) => each.className || each.tagName);
})()`;
const LENGTH = 'document.documentElement.scrollHeight';

const chromium = chromiumFor(t, 'printed pages');
if (chromium !== null) {
  t.test('printed pages', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    const page = await (await openBrowser(t, chromium, { viewport: { width: 1000, height: 300 } })).newPage();
    await logIn(console, page);
    await page.evaluate("localStorage.setItem('sluice.theme', 'dark')");
    const visit = async (name: string, ready: string): Promise<void> => {
      await page.locator(ready).first().waitFor();
      const shown = await page.evaluate<number>(LENGTH);
      await page.emulateMedia({ media: 'print' });
      t.ok((await page.evaluate<number>(LENGTH)) > shown, `${name} is longer on paper`);
      t.same(await page.evaluate(SCROLLS), [], `${name} is whole`);
      t.same(await page.evaluate(TOO_WIDE), [], `${name} fits the width`);
      t.notOk(await page.locator('.top').isVisible(), `${name} has no controls`);
      t.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light');
      t.equal(await page.evaluate('getComputedStyle(document.body).printColorAdjust'), 'exact', 'bars are printed');
      await page.emulateMedia({ media: null });
    };
    await page.goto(`${console.origin}/p/shop/usage`);
    await page.locator('.chart canvas').waitFor();
    await visit('usage', '.data-table');
    await page.goto(`${console.origin}/p/shop/metrics`);
    await visit('metrics', '.metric-view .data-table');
    await page.goto(`${console.origin}/p/shop/project`);
    await visit('the project', '.data-table');
    await page.goto(`${console.origin}/p/shop/conversations`);
    await page.locator('.grid-row').getByRole('link').click();
    await visit('a conversation', '.message');
    await page.locator('.turn-head a').first().click();
    await page.getByRole('button', { name: 'Messages' }).click();
    await visit('the messages of a trace', '.message');
  });
}
