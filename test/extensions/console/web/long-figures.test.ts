/** Long figures and names in a trace stay in their own place. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aSpan, aTraceRequest, newTraceId } from '../../../support/payloads.ts';
import '../../../support/long-file.ts';

const DAY_NS = 86_400_000_000_000n;

const chromium = chromiumFor(t, 'long figures');
if (chromium !== null) {
  t.test('the time of a long bar and a long model name cover nothing else', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { projects: ['shop'], processors: 'auth, environment, normalization' });
    const { text: key } = await console.administration.createKey('shop', null, null);
    const end = BigInt(Date.now()) * 1_000_000n;
    const traceId = newTraceId();
    const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm'.repeat(200) };
    const span = aSpan({ traceId, name: 'days', start: end - 3n * DAY_NS + 70_000_000_000n, end, attributes: call });
    const { status } = await fetch(`${console.daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(aTraceRequest([span])),
    });
    t.equal(status, 200);
    const page = await (await openBrowser(t, chromium, { viewport: { width: 1280, height: 800 } })).newPage();
    await logIn(console, page);
    await page.goto(`${console.origin}/p/shop/traces/${traceId}`);
    const row = page.locator('.span-grid .grid-row', { hasText: 'days' });
    await row.click();
    const label = await row.locator('.bar-label').boundingBox();
    const took = await row.locator('.s-took').boundingBox();
    t.equal(await row.locator('.bar-label').innerText(), '2d23h');
    t.ok(label !== null && took !== null && label.x + label.width <= took.x, 'the time ends before its column');
    const model = await page.locator('.pairs dd .name').boundingBox();
    const panel = await page.locator('.panel-body').boundingBox();
    t.ok(model !== null && panel !== null && model.height > 30, 'the name has several lines');
    t.ok(model !== null && panel !== null && model.x + model.width <= panel.x + panel.width, 'it ends in the panel');
  });
}
