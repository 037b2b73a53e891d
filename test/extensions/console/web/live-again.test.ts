/** The stream of a live list is refused: the page opens it again, and notices that the session has ended. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser, sendDemo } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const COLOUR = "getComputedStyle(document.querySelector('.live .dot')).backgroundColor";
const WHOLE_MS = 4 * PATIENCE_MS;

const chromium = chromiumFor(t, 'refused streams');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('a stream that is refused', { timeout: WHOLE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendDemo(console, 'shop');
    const page = await (await openBrowser(t, chromium)).newPage();
    await logIn(console, page);
    // As a proxy answers while the daemon starts again.
    await page.route('**/live*', (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }), { times: 2 });
    await page.goto(`${console.origin}/p/shop/traces`);
    await page.locator('.live.waiting').waitFor();
    const waiting = await page.evaluate(COLOUR);
    await page.locator('.live.on').waitFor();
    t.pass('it is opened again');
    t.not(waiting, await page.evaluate(COLOUR), 'the reader saw that it was not open');
    await console.database.query('DELETE FROM sluice.console_sessions');
    await page.getByText('Run this on the machine of the daemon').waitFor();
    t.pass('the end of the session is noticed without a click');
  });
}
