/** Before the first project: an admin creates it on the page. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { newLink, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const chromium = chromiumFor(t, 'the page without a project');
if (chromium !== null) {
  t.test('an admin without a project', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { projects: [] });
    const page = await (await openBrowser(t, chromium)).newPage();
    await page.goto(await newLink(console, 'ada'));
    await page.getByLabel('Name').fill('shop');
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByRole('heading', { name: 'Send the first trace to shop' }).waitFor();
    t.equal(new URL(page.url()).pathname, '/p/shop/traces');
  });
}
