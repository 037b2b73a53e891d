/** With forced colors, bars of the timeline are seen, and so is what is chosen. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const SHOWN = `(() => {
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  return {
    bar: style('.span-bar.solid').backgroundColor !== style('body').backgroundColor,
    row: style('.grid-row.active').outlineStyle,
    view: style('.tabs [aria-pressed="true"]').outlineStyle,
    page: style('.rail [aria-current]').outlineStyle,
  };
})()`;

const PLACEHOLDER = `(() => {
  const placeholder = document.createElement('div');
  placeholder.className = 'placeholder';
  document.body.append(placeholder);
  const { borderTopStyle } = getComputedStyle(placeholder);
  placeholder.remove();
  return borderTopStyle;
})()`;

const chromium = chromiumFor(t, 'forced colors');
if (chromium !== null) {
  t.test('a trace with forced colors', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    const page = await (await openBrowser(t, chromium, { forcedColors: 'active' })).newPage();
    await logIn(console, page);
    // A list that loads must not be an empty page.
    t.equal(await page.evaluate(PLACEHOLDER), 'solid');
    await page.locator('.grid-row a').first().click();
    await page.locator('.span-bar.solid').first().waitFor();
    await page.keyboard.press('j');
    await page.locator('.grid-row.active').waitFor();
    t.same(await page.evaluate(SHOWN), { bar: true, row: 'solid', view: 'solid', page: 'solid' });
  });
}
