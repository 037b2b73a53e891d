/** Browsers have an interface of the clipboard only with TLS or on a loopback address. Elsewhere copying works too. */
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const chromium = chromiumFor(t, 'the clipboard');
if (chromium !== null) {
  t.test('a text is copied without the interface of the clipboard', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const console = await startConsole(t, { projects: ['shop'] });
    const context = await openBrowser(t, chromium);
    await context.addInitScript("Object.defineProperty(window, 'isSecureContext', { value: false })");
    const page = await context.newPage();
    await logIn(console, page);
    const copy = page.getByRole('button', { name: 'Copy environment' });
    await copy.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const filter = page.getByRole('combobox', { name: 'Filter' });
    await filter.focus();
    await page.keyboard.press('Control+V');
    t.match(await filter.inputValue(), 'OTEL_EXPORTER_OTLP_ENDPOINT');
  });
}
