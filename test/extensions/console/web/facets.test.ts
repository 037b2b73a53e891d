/** The facets of a field with more values than are counted. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../../support/payloads.ts';
import '../../../support/long-file.ts';

const chromium = chromiumFor(t, 'the facets');
if (chromium !== null) {
  t.test('a facet says that there may be more values than it lists', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { projects: ['shop'], processors: 'auth, environment, normalization' });
    const { text: key } = await console.administration.createKey('shop', null, null);
    const start = BigInt(Date.now()) * 1_000_000n;
    const spans = Array.from({ length: 60 }, (_, at) => aSpan({ start, attributes: { 'user.id': `u-${at}` } }));
    const { status } = await fetch(`${console.daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(aTraceRequest(spans)),
    });
    t.equal(status, 200);
    const page = await (await openBrowser(t, chromium, { viewport: { width: 1400, height: 900 } })).newPage();
    await logIn(console, page);
    const more = (field: string) => page.getByLabel('Facets').locator('section', { hasText: field }).getByText('more');
    await more('User').waitFor();
    t.equal(await more('User').innerText(), '44+ more');
  });
}
