/** A failure on a phone is as high as its text. At a zoom of 400 % the bars leave a place for it. */
import t from 'tap';
import { CONSOLE_ERRORS } from '../../../../src/extensions/console/errors.ts';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

const { status, message, hint } = CONSOLE_ERRORS.took_too_long;
const BODY = JSON.stringify({ error: { code: 'took_too_long', message, hint } });
const HIGHEST_PX = 200;

const chromium = chromiumFor(t, 'a failure on a phone');
if (chromium !== null) {
  t.test('a failure on a phone', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    const page = await (await openBrowser(t, chromium, { viewport: { width: 390, height: 844 } })).newPage();
    await logIn(console, page);
    await page.route(/\/shop\/traces\?/u, (route) =>
      route.fulfill({ status, contentType: 'application/json', body: BODY }),
    );
    await page.goto(`${console.origin}/p/shop/traces`);
    const failure = page.locator('.failure', { hasText: message });
    await failure.waitFor();
    const box = await failure.boundingBox();
    t.ok((box?.height ?? Infinity) < HIGHEST_PX, `${box?.height} px high`);
    t.ok((box?.width ?? 0) > HIGHEST_PX, `${box?.width} px wide`);
    await page.setViewportSize({ width: 320, height: 256 });
    const place = await page.locator('main').boundingBox();
    t.ok((place?.height ?? 0) > HIGHEST_PX, `${place?.height} px for the content at a zoom of 400 %`);
  });
}
