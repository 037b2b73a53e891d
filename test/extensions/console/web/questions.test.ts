/** What the page shows is of what was asked last: filters, ranges, pages of a conversation, and the way back. */
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const WHOLE_MS = 4 * PATIENCE_MS;
/** More than a page of a conversation, and than the rows that are in sight. */
const TRACES = 45;
const ZONE = 'America/New_York';
const SCROLL = 'document.querySelector(".grid").scrollTop';
const FOCUS = 'document.activeElement.id';

const spanOf = (_: unknown, at: number) => {
  const startNs = (BigInt(Date.now()) - BigInt(at) * 1_000n) * 1_000_000n;
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name: `step ${at}`,
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(startNs + 1n),
    attributes: [{ key: 'gen_ai.conversation.id', value: { stringValue: 'c' } }],
  };
};

async function sendSpans({ administration, daemon }: TestConsole): Promise<void> {
  const { text: key } = await administration.createKey('shop', null, null);
  const spans = Array.from({ length: TRACES }, spanOf);
  await fetch(`${daemon.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
}

const filterOf = (page: Page) => page.getByRole('combobox', { name: 'Filter' });

async function askWithFilters(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces`);
  await page.locator('.grid-row').first().waitFor();
  await filterOf(page).fill('name:typed');
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  t.equal(await filterOf(page).inputValue(), '', 'a filter that was not applied is cleared too');

  await filterOf(page).fill('name:\u{1f600} modell:x');
  await filterOf(page).press('Enter');
  await page.getByRole('alert').getByText('there is no field "modell"').waitFor();
  t.equal(await page.locator('.filter-problem mark').textContent(), 'modell:x', 'the place of the mistake');
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/traces\?.*q=name/u, async (route) => {
    await held;
    await route.continue();
  });
  await filterOf(page).fill('name:none');
  await filterOf(page).press('Enter');
  await page.locator('.filter-problem').waitFor({ state: 'detached' });
  t.pass('the mistake of one filter is not shown for the next one');
  answer();
  await page.getByRole('heading', { name: 'No trace matches' }).waitFor();
  await page.unroute(/\/traces\?.*q=name/u);
}

/** A page of a conversation that cannot be loaded takes nothing from the ones before, and adds nothing. */
async function askForEarlier(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/conversations/c`);
  await page.locator('.turn').first().waitFor();
  const shown = await page.locator('.turn').count();
  const refusal = { status: 504, json: { error: { code: 'took_too_long', message: 'Too long.' } } };
  await page.route(/\/turns\?.*cursor=/u, (route) => route.fulfill(refusal), { times: 1 });
  await page.getByRole('button', { name: 'Earlier traces' }).click();
  await page.getByRole('alert').getByText('Took too long.').waitFor();
  t.equal(await page.locator('.turn').count(), shown, 'what is shown stays');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.turn').nth(shown).waitFor();
  const names = await page.locator('.turn').evaluateAll((turns) => turns.map((turn) => turn.ariaLabel));
  t.equal(new Set(names).size, names.length, 'each trace is there once');
}

async function askForRanges(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces?from=2023-02-14T05:00Z&to=2023-02-15T05:00Z`);
  const range = page.locator('#range');
  await range.getByText('2023-02-14 00:00 – 2023-02-15 00:00').waitFor();
  t.pass('a range of another year has its year');
  await range.click();
  await page.getByLabel('from', { exact: true }).fill('2026-07-02T10:00:00');
  await page.getByLabel('to', { exact: true }).fill('2026-07-01T10:00:00');
  await page.locator('.exact').getByText('UTC−4', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  const [from, to] = ['2026-07-01T14:00:00Z', '2026-07-02T14:00:00Z'].map((text) => String(Date.parse(text)));
  await page.waitForURL((url) => url.searchParams.get('from') === from && url.searchParams.get('to') === to);
  t.pass('the earlier of two times is the start');
  await page.goto(`${origin}/p/shop/traces?from=2026-11-01T05:30Z&to=2026-11-01T06:30Z`);
  await range.click();
  await page.getByLabel('from', { exact: true }).fill('2026-11-01T00:00:00');
  await page.locator('.exact').getByText('UTC−4 – UTC−5', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  const end = String(Date.parse('2026-11-01T06:30Z'));
  await page.waitForURL((url) => url.searchParams.get('to') === end);
  t.pass('an end within the hour that summer time repeats stays when only the start is changed');
  await range.press('Enter');
  await page.locator('.exact').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.locator('#range:focus').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.locator('.exact').waitFor({ state: 'detached' });
  t.pass('a menu closes when the focus leaves it');
}

/** The browser takes a drag over when it becomes a scroll of the page. */
async function cancelDrag(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces`);
  const bars = page.locator('.histogram svg');
  const { x, y, width, height } = (await bars.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width / 4, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2, y + height / 2);
  await bars.locator('.drag').waitFor();
  await bars.dispatchEvent('pointercancel');
  await bars.locator('.drag').waitFor({ state: 'detached' });
  await page.mouse.up();
  t.notMatch(page.url(), 'from=', 'a cancelled drag selects no range');
}

async function returnToList(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces`);
  const row = page.locator('.grid-row').filter({ hasText: 'step 30' });
  await page.locator('.grid-row').first().waitFor();
  await page.locator('.grid').evaluate((grid) => grid.scrollTo(0, 700));
  await row.waitFor();
  const place = await page.evaluate<number>(SCROLL);
  await row.getByRole('link').first().click();
  await page.locator('.trace-title').waitFor();
  t.equal(await page.evaluate(FOCUS), 'content', 'the focus is on the page, as the list that had it is gone');
  await page.goBack();
  await row.waitFor();
  t.equal(await page.evaluate<number>(SCROLL), place, 'the list is where it was left');
  t.match(await page.locator('.grid-row.active').textContent(), 'step 30', 'the row that was opened is active');
  t.equal(await page.evaluate(FOCUS), 'content', 'the focus is on the page again');
  await page.keyboard.press('j');
  t.match(await page.locator('.grid-row.active').textContent(), 'step 31', 'the next row follows it');
  await page.locator('.rail a[href$="/logs"]').click();
  await page.locator('.rail a[href$="/traces"]').click();
  await page.locator('.grid-row').first().waitFor();
  t.equal(await page.evaluate<number>(SCROLL), 0, 'a list that is opened anew begins at its top');
  await page.locator('.rail a[href$="/conversations"]').click();
  await page.locator('.conversation-grid .grid-row').getByRole('link').click();
  await page.getByRole('heading', { name: 'c', exact: true }).waitFor();
  await page.goBack();
  await page.locator('.conversation-grid .grid-row.active').waitFor();
}

/** A page without a list scrolls as a whole. */
async function returnToThread(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/conversations/c`);
  const link = page.locator('.turn').nth(12).getByRole('link').first();
  await link.scrollIntoViewIfNeeded();
  const place = await link.boundingBox();
  await link.click();
  await page.locator('.trace-title').waitFor();
  await page.goBack();
  await link.waitFor();
  t.strictSame(await link.boundingBox(), place, 'the conversation is where it was left');
  await page.locator('.rail a[href$="/usage"]').click();
  await page.goBack();
  await link.waitFor();
  t.strictSame(await link.boundingBox(), place, 'and is again');
}

const chromium = chromiumFor(t, 'what a page shows of a question');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('questions', { timeout: WHOLE_MS }, async (t) => {
    const console = await startConsole(t, { processors: 'auth, environment, normalization', projects: ['shop'] });
    await sendSpans(console);
    const context = await openBrowser(t, chromium, { timezoneId: ZONE, viewport: { width: 1280, height: 700 } });
    const page = await context.newPage();
    await page.route('**/api/v1/session', (route) =>
      route.fulfill({
        status: 429,
        json: { error: { code: 'too_many', message: 'There were too many failed logins.', hint: 'Wait a minute.' } },
      }),
    );
    await page.goto(`${console.origin}/login#x`);
    await page.getByRole('alert').getByText('There were too many failed logins. Wait a minute.').waitFor();
    await page.unroute('**/api/v1/session');
    await logIn(console, page);
    await askWithFilters(t, page, console.origin);
    await askForEarlier(t, page, console.origin);
    await askForRanges(t, page, console.origin);
    await cancelDrag(t, page, console.origin);
    await returnToList(t, page, console.origin);
    await returnToThread(t, page, console.origin);
  });
}
