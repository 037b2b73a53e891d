/** Keys that follow each other before the page is painted, and keys of an input method. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

/** Presses the key, and evaluates before the browser paints. The page has drawn itself in a microtask by then. */
const soonAfter = <T>(page: Page, key: object, expression: string): Promise<T> =>
  page.evaluate<T>(`(async () => {
    const options = { bubbles: true, cancelable: true, ...${JSON.stringify(key)} };
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', options));
    for (let turn = 0; turn < 20; turn += 1) await null;
    return ${expression};
  })()`);

async function openQuickly(t: Test, page: Page): Promise<void> {
  t.ok(
    await soonAfter(page, { key: 'k', ctrlKey: true }, "document.activeElement.matches('dialog input')"),
    'what is typed after Ctrl K is for the palette',
  );
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  t.ok(await soonAfter(page, { key: '?' }, "document.querySelector('dialog').open"), 'the help takes the next key');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  t.ok(
    await soonAfter(page, { key: 't' }, "document.activeElement.matches('.menu-panel button')"),
    'Enter after t chooses a range',
  );
  await page.keyboard.press('Escape');
}

async function typeOn(t: Test, page: Page): Promise<void> {
  const filter = page.getByRole('combobox', { name: 'Filter' });
  await filter.fill('error');
  await soonAfter(
    page,
    { key: 'Enter' },
    `(() => {
      const input = document.activeElement;
      input.value += ' model';
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
    })()`,
  );
  await page.waitForURL(/q=error$/u);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  t.equal(await filter.inputValue(), 'error model', 'what is typed after Enter stays');
  await page.keyboard.press('Escape');
}

/** Enter ends the composition of a word there, and applies nothing. */
async function compose(t: Test, page: Page): Promise<void> {
  const address = page.url();
  const enter = { key: 'Enter', isComposing: true };
  await page.getByRole('combobox', { name: 'Filter' }).fill('にほん');
  await soonAfter(page, enter, 'null');
  t.equal(page.url(), address, 'the filter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, project or trace id' }).fill('log');
  t.ok(await soonAfter(page, enter, "document.querySelector('dialog') !== null"), 'the palette');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

const chromium = chromiumFor(t, 'quick keys');
if (chromium !== null) {
  t.test('keys', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    const page = await (await openBrowser(t, chromium)).newPage();
    await logIn(console, page);
    await page.locator('.grid-row').first().waitFor();
    await openQuickly(t, page);
    await typeOn(t, page);
    await compose(t, page);
  });
}
