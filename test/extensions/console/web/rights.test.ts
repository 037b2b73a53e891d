/** The rights of a reader change while the page is open. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { openBrowser } from '../../../support/console-page.ts';
import { startConsole } from '../../../support/console.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const chromium = chromiumFor(t, 'changed rights');
if (chromium !== null) {
  t.test('changed rights', { timeout: 3 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { projects: ['shop', 'blog'] });
    const { id, headers } = await console.logIn({ name: 'eve', role: 'editor', projects: ['shop', 'blog'] });
    const context = await openBrowser(t, chromium);
    const [name = '', value = ''] = headers.cookie.split('=');
    await context.addCookies([{ name, value, url: console.origin }]);
    const page = await context.newPage();
    await page.goto(`${console.origin}/p/shop/project`);
    const create = page.getByRole('button', { name: 'Create a key' });
    await create.waitFor();
    // Parts of the page that are still loading would notice the new role before the click.
    await page.waitForLoadState('networkidle');
    await console.database.query("UPDATE sluice.people SET role = 'viewer' WHERE id = $1", [id]);
    await create.click();
    await page.getByText('Ask an editor or an admin for an API key.').waitFor();
    t.pass('what the new role does not allow is not shown');
    await console.database.query("UPDATE sluice.people SET projects = '{blog}' WHERE id = $1", [id]);
    await page.locator('.rail a[href$="/traces"]').click();
    await page.getByRole('heading', { name: 'There is no project shop' }).waitFor();
    t.equal(await page.getByText('This trace is not stored').count(), 0);
  });
}
