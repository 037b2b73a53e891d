/** The console's page in a real browser, on a real daemon and database. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page, Request } from 'playwright-core';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { makeDemo } from '../../../../src/cli/demo/application.ts';
import { chromiumFor, launchChromium } from '../../../support/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console.ts';
import { newLink } from '../../../support/console-page.ts';
import { isLong } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { hostileTrace } from './hostile-trace.ts';

/** All pages in one browser, on a machine that does other work too. */
const WHOLE_MS = 4 * PATIENCE_MS;
const PROCESSORS = 'auth, environment, normalization';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CONVERSATION = '"><img src=x onerror=alert(1)>';

interface Scene {
  readonly console: TestConsole;
  readonly page: Page;
  readonly faults: string[];
  readonly apiKey: string;
}

/** Dialogs, errors, refusals of the policy, requests elsewhere, and failures of the server. */
function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:') && !url.startsWith('blob:'))
      faults.push(`request: ${url}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) faults.push(`answer ${response.status()}: ${response.url()}`);
  });
  return faults;
}

async function send(url: string, key: string, requests: readonly { path: string; body: object }[]): Promise<void> {
  for (const { path, body } of requests) {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

const rows = (page: Page) => page.locator('.grid-row');

/** From the link to an empty project, a key, and the first trace. Only the keyboard is used. */
async function firstTrace(t: Test, console: TestConsole, page: Page): Promise<string> {
  await page.goto(await newLink(console, 'ada'));
  await page.getByRole('heading', { name: 'Send the first trace to shop' }).waitFor();
  t.notMatch(page.url(), /#/u, 'the token left the address');
  await page.getByRole('button', { name: 'Create an API key' }).press('Enter');
  const lines = page.getByRole('region', { name: 'environment' });
  await lines.getByText('slc_').waitFor();
  const key = /Bearer%20(slc_\S+)"/u.exec((await lines.textContent()) ?? '')?.[1] ?? '';
  await send(console.daemon.url, key, makeDemo(Date.now(), 'demo').requests);
  await rows(page).first().waitFor();
  t.match(await rows(page).first().textContent(), /invoke_agent travel-assistant/u, 'the trace appears by itself');
  return key;
}

/** The row that a screen reader reads: the one that the focused table names. */
const READ_ROW = `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.className`;

async function useKeys(t: Test, page: Page): Promise<string> {
  await page.keyboard.press('j');
  await page.locator('.grid-row.active').waitFor();
  t.match(await page.evaluate(READ_ROW), /active/u, 'the focus is where the active row is named');
  await page.keyboard.press('Enter');
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor();
  await page.getByText('execute_tool get_weather').first().waitFor();
  await page.keyboard.press('e');
  await page.getByRole('heading', { name: 'execute_tool get_weather' }).waitFor();
  t.match(await page.evaluate(READ_ROW), /active/u, 'also after a search for a span');
  t.match(page.url(), /#s=[0-9a-f]{16}$/u, 'the address holds the selected span');
  await page.keyboard.press('m');
  await page.getByRole('heading', { name: /^chat / }).waitFor();
  const link = page.url();
  await page.keyboard.press('ArrowUp');
  await page.waitForURL((url) => url.href !== link);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys and filters' });
  await help.waitFor();
  t.equal(await help.evaluate('document.querySelector("dialog").scrollTop'), 0, 'a long dialog begins at its top');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await help.waitFor();
  // A reader who types at once: the element of the dialog goes in a later task than its closing.
  await page.evaluate('document.querySelector("dialog").close(); document.querySelector("[data-search]").focus()');
  await page.locator('dialog').waitFor({ state: 'detached' });
  t.ok(await page.evaluate('document.activeElement.matches("[data-search]")'), 'a closed dialog takes no focus');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('weather');
  await page.keyboard.press('Enter');
  await page.keyboard.press('n');
  await page.getByText(/^[12] of 2$/u).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await page.getByRole('grid', { name: 'Log records' }).waitFor();
  await page.goBack();
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor();
  return link;
}

/** A link to a span, opened by another browser: the login first, then the same view. */
async function openLink(t: Test, browser: Browser, console: TestConsole, link: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('textbox', { name: 'Or paste the link' }).fill(await newLink(console, 'ada'));
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /^chat / }).waitFor();
  t.equal(page.url(), link);
  await context.close();
}

/** Addresses below the project, with an element that is there when the page has its data. */
const PAGES: readonly (readonly [path: string, ready: string])[] = [
  ['conversations', '.grid-row'],
  ['usage', '.data-table'],
  ['logs', '.grid-row'],
  ['metrics', '.data-table'],
  ['project', '.data-table'],
  ['status', '.tiles'],
  ['traces', '.grid-row'],
];
const VIEWS: readonly (readonly [view: string, ready: string])[] = [
  ['messages', '.message'],
  ['table', '.grid-row'],
  ['json', '.json'],
  ['timeline', '.grid-row'],
];

/** Without what is told of elements that pass, which takes most of the time. */
const AXE_OPTIONS = { resultTypes: ['violations'], selectors: false, preload: false, iframes: false };

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Axe's rules in the light theme; the dark one differs in its colours only. */
async function violations(page: Page, theme: 'light' | 'dark'): Promise<readonly string[]> {
  if (theme === 'light') await page.evaluate(AXE);
  const options = { ...AXE_OPTIONS, ...(theme === 'light' ? {} : { runOnly: ['color-contrast'] }) };
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

/** Chips in the visible line of their cell that end beyond it. */
const CUT_CHIPS = `[...document.querySelectorAll('.chips .chip')].filter((chip) => {
  const [cell, own] = [chip.parentElement, chip].map((element) => element.getBoundingClientRect());
  return own.top < cell.bottom && own.right > cell.right + 1;
}).map((chip) => chip.textContent)`;

/** Only a long test has both: the dark one differs in its colors only. */
const THEMES = isLong ? (['light', 'dark'] as const) : (['light'] as const);
/** Pages whose accessibility an ordinary test checks, which takes most of the time. */
const CHECKED = ['timeline', 'project'];

/** Only a long test visits each of several pages that behave alike. */
const some = <Value>(all: readonly Value[], count: number): readonly Value[] => (isLong ? all : all.slice(0, count));

/** Accessible in both themes, and as narrow as a phone. */
async function checkLook(t: Test, page: Page, what: string): Promise<void> {
  for (const colorScheme of isLong || CHECKED.includes(what) ? THEMES : []) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    t.same(await violations(page, colorScheme), [], `${what}, ${colorScheme}`);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  t.ok(width <= 360, `${what} fits in 360 pixels: ${width}`);
  t.same(await page.evaluate(CUT_CHIPS), [], `${what} shows no part of a chip in 360 pixels`);
  await page.setViewportSize({ width: 1280, height: 760 });
  t.same(await page.evaluate(CUT_CHIPS), [], `${what} shows no part of a chip`);
}
/** The open trace of the demo, as a timeline and as messages. */
async function checkTrace(t: Test, page: Page): Promise<void> {
  await checkLook(t, page, 'timeline');
  await page.setViewportSize({ width: 360, height: 740 });
  const cut = await page.evaluate(
    "[...document.querySelectorAll('h1, h1 *')].filter((each) => each.scrollWidth > each.clientWidth && each.clientWidth > 0).length",
  );
  t.equal(cut, 0, 'the name of the trace is whole in 360 pixels');
  const { width } = (await page.locator('.panel').boundingBox()) ?? { width: 0 };
  t.ok(width > 340, `the panel is below the timeline: ${width}`);
  await page.setViewportSize({ width: 1280, height: 760 });
  await page.keyboard.press('2');
  await page.locator('.message').first().waitFor();
  await checkLook(t, page, 'messages');
}

/** Every page with texts that try to run a script or to load something. */
async function visitHostile(t: Test, { console, page, faults, apiKey }: Scene, other: string): Promise<void> {
  const { traceId: id, requests } = hostileTrace(Date.now(), CONVERSATION);
  await send(console.daemon.url, apiKey, requests);
  const visit = async (path: string, ready: string): Promise<void> => {
    await page.goto(`${console.origin}/p/shop/${path}`);
    await page.locator(ready).first().waitFor();
  };
  for (const [path, ready] of PAGES) {
    await visit(path, ready);
    await checkLook(t, page, path);
  }
  await visit(`conversations/${encodeURIComponent(CONVERSATION)}`, '.message');
  await page.keyboard.press('r');
  for (const [view, ready] of VIEWS) await visit(`traces/${id}?view=${view}`, ready);
  await openTabs(page);
  await compare(t, page, `${console.origin}/compare?a=${id}&b=${other}`);
  await checkNothing(t, page, console.origin);
  await removePicked(t, page, console.origin);
  t.equal(await page.evaluate('window.hostile'), undefined, 'no script ran');
  t.same(faults, [], 'no dialog, error, refused script or request to another origin');
}

/** The lines and buttons of an empty list are one below the other. */
async function checkNothing(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces?q=model:nothing`);
  await page.getByRole('heading', { name: 'No trace matches' }).waitFor();
  const steps = await page.evaluate<readonly number[]>(`(() => {
    const tops = [...document.querySelector('.empty').children].map((child) => child.getBoundingClientRect().top);
    return tops.slice(1).map((top, at) => top - tops[at]);
  })()`);
  t.ok(Math.max(...steps) < 80, `no large gaps: ${steps}`);
}

/** The panel of some spans of the timeline. */
async function openTabs(page: Page): Promise<void> {
  for (let at = 0; at < (isLong ? 4 : 2); at += 1) {
    await page.keyboard.press('ArrowDown');
    await page.locator('.panel h2').waitFor();
    for (const tab of ['Messages', 'Attributes', 'Events', 'Raw']) await page.getByRole('tab', { name: tab }).click();
  }
}

/** Two traces, by an address without a project. */
async function compare(t: Test, page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('treegrid', { name: 'Spans of both traces' }).waitFor();
  t.match(page.url(), /\/p\/shop\/compare\?/u);
  await page.keyboard.press('n');
  await page.getByRole('complementary', { name: 'Messages of the pair' }).waitFor();
  await page.getByRole('table', { name: 'Lines of the messages' }).waitFor();
  await checkLook(t, page, 'compare');
  await page.getByRole('button', { name: 'swap' }).click();
  await page.waitForURL((url) => url.href.split('a=')[1] !== address.split('a=')[1]);
}

/** A value of the filter is completed from the newest spans. */
async function completeFilter(t: Test, page: Page): Promise<void> {
  const filter = page.getByRole('combobox', { name: 'Filter' });
  await page.keyboard.press('/');
  await page.keyboard.type('-service:SLU');
  await page.getByRole('option', { name: /^sluice-demo/u }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=option][aria-selected=true]').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('[role=option]').first().waitFor({ state: 'detached' });
  t.equal(await filter.inputValue(), '-service:sluice-demo ');
  await filter.fill('');
  await page.keyboard.press('Escape');
}

/** Picks the newest trace, deletes it after the question, and it is gone from the list. */
async function removePicked(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/traces`);
  await page.locator('.grid-row').nth(1).waitFor();
  await completeFilter(t, page);
  await page.keyboard.press('j');
  await page.locator('.grid-row.active').waitFor();
  await page.keyboard.press('x');
  const picked = page.getByRole('toolbar', { name: 'Picked traces' });
  await picked.getByText('1 trace picked').waitFor();
  await picked.getByRole('button', { name: 'Export' }).click();
  const href = await picked.getByRole('link', { name: 'Spans as OTLP' }).getAttribute('href');
  const { status, lines } = await page.evaluate<{ status: number; lines: number }>(
    `fetch(${JSON.stringify(href)}).then(async (r) => ({ status: r.status, lines: (await r.text()).split('\\n').length }))`,
  );
  t.same([status, lines > 1], [200, true], 'the picked trace is exported');
  await page.keyboard.press('Escape');
  await picked.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this trace' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText(/of 1 trace are deleted\./u).waitFor();
  await page.keyboard.press('Escape');
  await picked.waitFor({ state: 'detached' });
  await page.getByText('1 shown').waitFor();
}

/** The answers are real, but for what an archive adds to them. */
async function countArchived(t: Test, page: Page, origin: string): Promise<void> {
  const asked: string[] = [];
  let isUnavailable = true;
  await page.route('**/api/v1/projects/shop/usage?*', async (route) => {
    const isArchived = new URL(route.request().url()).searchParams.get('archived') === 'true';
    asked.push(isArchived ? 'archived' : 'usual');
    if (isArchived && isUnavailable) {
      await page.getByText('Counting archived days …').waitFor();
      const error = { code: 'archive_unavailable', message: 'The archive cannot be read now.' };
      return route.fulfill({ status: 503, json: { error } });
    }
    const response = await route.fetch();
    const json = (await response.json()) as object;
    return route.fulfill({ response, json: isArchived ? json : { ...json, complete_from: '1700006400000000000' } });
  });
  await page.goto(`${origin}/p/shop/usage`);
  await page.getByText(/^Archived days before .* are not counted\./u).waitFor();
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.getByText('The archive cannot be read now.').waitFor();
  isUnavailable = false;
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.getByText('are not counted.').waitFor({ state: 'detached' });
  t.same(asked, ['usual', 'archived', 'archived'], 'archived days are counted only when they are asked for');
  await page.locator('.data-table').waitFor();
}

/** As `countArchived`: the archived trace is a stored one, with another id and start. */
async function listArchived(t: Test, page: Page, origin: string): Promise<void> {
  let isUnavailable = true;
  await page.route(/\/projects\/shop\/traces\?/u, async (route) => {
    const { searchParams } = new URL(route.request().url());
    const isArchived = searchParams.get('archived') === 'true';
    if (isArchived && isUnavailable) {
      await page.getByText('Reading archived days …').waitFor();
      const error = { code: 'archive_unavailable', message: 'The archive cannot be read now.' };
      return route.fulfill({ status: 503, json: { error } });
    }
    const url = new URL(route.request().url());
    url.searchParams.delete('to');
    const response = await route.fetch({ url: url.href });
    const json = (await response.json()) as { readonly items: readonly object[] };
    const start = '1700000000000000000';
    const old = { ...json.items[0], trace_id: 'ab'.repeat(16), name: 'an archived trace', start_time_unix_nano: start };
    if (isArchived) t.equal(searchParams.get('to'), '1700006400000000000', 'only older traces are asked for');
    const own = isArchived ? { items: [old] } : { complete_from: '1700006400000000000' };
    return route.fulfill({ response, json: { ...json, ...own } });
  });
  await page.goto(`${origin}/p/shop/traces`);
  await page.getByText(/^Archived days before .* are not shown\./u).waitFor();
  const stored = await rows(page).count();
  await page.getByRole('button', { name: 'Show them' }).click();
  await page.getByText('The archive cannot be read now.').waitFor();
  isUnavailable = false;
  await page.getByRole('button', { name: 'Show them' }).click();
  await rows(page).filter({ hasText: 'an archived trace' }).waitFor();
  t.equal(await rows(page).count(), stored + 1, 'the stored traces stay');
}

/** What stands beside the list is asked for after it, but does not wait for one that takes long. */
async function askInTurn(t: Test, page: Page, origin: string): Promise<void> {
  const asked: string[] = [];
  const names = ['limit=50', 'histogram', 'facets'];
  const note = (request: Request): void => {
    const name = names.find((each) => request.url().includes(each));
    if (name !== undefined) asked.push(name);
  };
  page.on('request', note);
  let held: Promise<unknown> = Promise.resolve();
  await page.route(/\/projects\/shop\/traces\?.*limit=50/u, async (route) => {
    await held;
    return route.continue();
  });
  const visit = async (): Promise<void> => {
    await page.goto(`${origin}/p/shop/traces`);
    await rows(page).first().waitFor();
    await page.getByRole('complementary', { name: 'Facets' }).getByRole('button').first().waitFor();
    await page.locator('.histogram svg').waitFor();
  };
  await visit();
  t.equal(asked[0], 'limit=50', 'the list first');
  held = page.waitForRequest(/\/facets\?/u);
  await visit();
  page.off('request', note);
}

/** Each list, sum, histogram and facet whose answer lacks something says since when, and why. */
async function meetIncomplete(page: Page, { origin }: TestConsole, traceId: string): Promise<void> {
  const unread = 'The archive cannot read lake/spans/day=2023-11-14/job-000000000001.parquet: it is not there.';
  const lost = { complete_from: '1700006400000000000', unread };
  const paths =
    /\/projects\/shop\/(?:traces|logs|conversations|usage|facets|traces\/top|traces\/histogram|traces\/[0-9a-f]{32}|conversations\/[^/]+\/turns)(?:\?|$)/u;
  let isLost = true;
  await page.route(paths, async (route) => {
    const response = await route.fetch();
    if (!isLost) return route.fulfill({ response });
    return route.fulfill({ response, json: { ...((await response.json()) as object), ...lost } });
  });
  const alert = page.getByRole('alert').filter({ hasText: unread });
  const within = alert.filter({ hasText: /^Before .*2023.* this is incomplete\./u });
  for (const path of some(
    ['usage', 'logs', 'conversations', 'traces', 'traces?sort=cost', 'traces?q=user:none-17'],
    2,
  )) {
    await page.goto(`${origin}/p/shop/${path}`);
    await within.waitFor();
  }
  await page.goto(`${origin}/p/shop/traces`);
  await within.waitFor();
  await page.getByRole('img', { name: unread }).waitFor();
  await page.getByRole('complementary', { name: 'Facets' }).getByText(unread).waitFor();
  await page.goto(`${origin}/p/shop/conversations`);
  await rows(page).first().getByRole('link').click();
  await within.waitFor();
  await page.goto(`${origin}/p/shop/traces/${traceId}`);
  await alert.filter({ hasText: /^This is incomplete\./u }).waitFor();
  for (const path of some(['traces', 'usage'], 1)) {
    isLost = true;
    await page.goto(`${origin}/p/shop/${path}`);
    await within.waitFor();
    isLost = false;
    await within.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
  }
  await page.unroute(paths);
}

/** What is not there says so, and how to continue. */
async function meetDeadEnds(t: Test, page: Page, { origin }: TestConsole, link: string): Promise<void> {
  const visit = (path: string) => page.goto(`${origin}${path}`);
  await visit('/p/none/usage');
  await page.getByRole('heading', { name: 'There is no project none' }).waitFor();
  await page.getByRole('link', { name: 'sums' }).click();
  await page.waitForURL(`${origin}/p/sums/traces`);
  const id = new URL(link).pathname.split('/').at(-1) ?? '';
  await visit(`/p/sums/traces/${id}`);
  await page.getByRole('alert').getByText('This trace is not stored in sums').waitFor();
  await page.getByRole('link', { name: 'Look in all projects' }).click();
  await page.waitForURL(`${origin}/p/shop/traces/${id}`);
  await visit('/p/shop/conversations/none');
  await page.getByText('This conversation is not stored in shop').waitFor();
  await page.getByRole('link', { name: 'All conversations' }).click();
  await rows(page).first().waitFor();
  for (const list of some(['usage', 'conversations', 'logs', 'traces'], 1)) {
    await visit(`/p/shop/${list}?q=user:none-17`);
    await page.getByRole('button', { name: 'without user:none-17' }).click();
    await page.locator('.grid-row, .data-table').first().waitFor();
  }
  await visit('/p/shop/traces?sort=duration&q=error');
  await page.getByRole('button', { name: 'without the filter' }).click();
  await rows(page).first().waitFor();
  await chooseColumns(t, page);
}

/** Columns are chosen with the keyboard and kept; the bars show another figure. */
async function chooseColumns(t: Test, page: Page): Promise<void> {
  const head = page.locator('.trace-grid .grid-head');
  await page.getByRole('button', { name: 'Columns' }).press('Enter');
  await page.getByRole('checkbox', { name: 'Age' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.getByRole('checkbox', { name: 'Model' }).check();
  if (isLong) t.same(await violations(page, 'light'), [], 'the choice of columns');
  await page.keyboard.press('Escape');
  const names = ['Pick (x)', 'Start', 'Name', 'Service', 'Model', 'Calls', 'Tokens', 'Cost', 'Took', 'Spans', 'Errors'];
  t.same(await head.getByRole('columnheader').allTextContents(), names);
  const answer = page.waitForResponse((response) => response.url().includes('by=cost'));
  await page.getByRole('combobox', { name: 'Bars' }).selectOption('Cost');
  await answer;
  await page.reload();
  await rows(page).first().waitFor();
  t.same(await head.getByRole('columnheader').allTextContents(), names, 'they are kept');
  t.equal(await page.getByRole('combobox', { name: 'Bars' }).inputValue(), 'cost', 'the address holds the bars');
  await page.getByRole('img', { name: /^\d+ traces? from .* highest: \$/u }).waitFor();
  t.same(await page.evaluate(CUT_CHIPS), [], 'no part of a chip is shown');
}

/** With the keyboard; a folded text unfolds. */
async function findInMessages(t: Test, page: Page): Promise<void> {
  const find = page.getByRole('search');
  await page.keyboard.press('/');
  await page.keyboard.type('BERGEN');
  await page.keyboard.press('Enter');
  const place = find.getByText(/^1 of \d+$/u);
  const count = Number((await place.textContent())?.split(' ').at(-1));
  t.ok(count > 0, `${count} matches`);
  await page.locator('body').evaluate(`new Promise((done) => {
    const look = () => (CSS.highlights.has('found-now') ? done() : requestAnimationFrame(look));
    look();
  })`);
  const marks =
    '[...CSS.highlights].map(([name, ranges]) => [name, ranges.size, String([...ranges][0]).toLowerCase()])';
  t.same(await page.evaluate(marks), [
    ['found', count, 'bergen'],
    ['found-now', 1, 'bergen'],
  ]);
  await page.keyboard.press('Shift+Enter');
  await find.getByText(`${count} of ${count}`).waitFor();
  if (isLong) t.same(await violations(page, 'light'), [], 'find in messages');
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.locator('.find-text [role=status]:empty').waitFor({ state: 'attached' });
}

/** A conversation, filtered by its user, and its records as a file. */
async function saveConversation(t: Test, page: Page, { origin }: TestConsole): Promise<void> {
  await page.goto(`${origin}/p/shop/conversations`);
  await page.getByRole('combobox', { name: 'Filter' }).fill('user:demo-user');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=user/u);
  await rows(page).first().getByRole('link').click();
  await page.locator('.message').first().waitFor();
  await findInMessages(t, page);
  await page.getByRole('button', { name: 'Download' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Spans as NDJSON' }).click();
  const lines = readFileSync((await (await saved).path()) ?? '', 'utf8')
    .trimEnd()
    .split('\n');
  t.ok(lines.length > 1 && lines.every((line) => JSON.parse(line).signal === 'span'), 'the file has its spans');
}

/** Integers that a number of JavaScript does not keep, alone and as sums. */
async function showLarge(t: Test, page: Page, { daemon, origin, administration }: TestConsole): Promise<void> {
  const { text: key } = await administration.createKey('sums', null, 'large');
  const ids = ['a', 'b'].map((digit) => digit.repeat(32));
  const counts = [['9007199254740991', '9007199254740990'], ['9007199254740990']];
  const requests = ids.map((traceId, at) => ({ path: '/v1/traces', body: largeTrace(traceId, counts[at] ?? []) }));
  await send(daemon.url, key, requests);
  const [a, b] = ids;
  const visit = (path: string) => page.goto(`${origin}/p/sums/${path}`);
  await visit('traces');
  await page.getByTitle('18,014,398,509,481,981 → 2', { exact: true }).waitFor();
  await visit('usage');
  await page.locator('dd[title="27,021,597,764,222,971"]').waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const csv = readFileSync((await (await saved).path()) ?? '', 'utf8');
  t.match(csv, /,27021597764222971,/u, 'the file has every digit');
  await visit(`traces/${a}#s=${'1'.repeat(16)}`);
  await page.getByTitle('18,014,398,509,481,981 → 2', { exact: true }).waitFor();
  await page.locator('.panel').getByText('9,007,199,254,740,991 → 1').waitFor();
  await page.getByRole('tab', { name: 'Attributes' }).click();
  await page.locator('.value-text').getByText('12345678901234567890').waitFor();
  await page.getByText('1152921504606846977').first().waitFor();
  await visit(`traces/${a}?view=json`);
  await page.locator('.json').getByText('18014398509481981').waitFor();
  await visit(`compare?a=${a}&b=${b}`);
  await page.getByText('−9P (−50 %)').waitFor();
}

function largeTrace(traceId: string, counts: readonly string[]): object {
  const start = BigInt(Date.now()) * 1_000_000n;
  const attribute = (name: string, value: object) => ({ key: name, value });
  const spans = counts.map((count, at) => ({
    ...{ traceId, spanId: String(at + 1).repeat(16), name: 'chat', kind: 3 },
    ...{ startTimeUnixNano: String(start + BigInt(at)), endTimeUnixNano: String(start + 1_000_000n) },
    attributes: [
      attribute('gen_ai.operation.name', { stringValue: 'chat' }),
      attribute('gen_ai.request.model', { stringValue: 'large' }),
      attribute('gen_ai.usage.input_tokens', { intValue: count }),
      attribute('gen_ai.usage.output_tokens', { intValue: '1' }),
      attribute('order.id', { intValue: '1152921504606846977' }),
      attribute('order.text', { stringValue: '12345678901234567890' }),
    ],
  }));
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

/** The file that the page shows with a new read token is one with which Grafana reads. */
async function connectGrafana(t: Test, page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/p/shop/project`);
  await page.getByRole('button', { name: 'Create a read token' }).click();
  const file = await page.getByRole('region', { name: 'data source' }).textContent();
  const { datasources } = parse(file ?? '') as { datasources: readonly GrafanaSource[] };
  const [{ url = '', basicAuthUser: user = '', secureJsonData } = {}] = datasources;
  const password = secureJsonData?.basicAuthPassword ?? '';
  const search = async (secret: string): Promise<Response> =>
    fetch(`${url}/api/search?q=%7B%7D&limit=1`, {
      headers: { authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` },
    });
  const found = await search(password);
  t.equal(found.status, 200);
  t.equal(((await found.json()) as { traces: readonly object[] }).traces.length, 1);
  t.equal((await search(`${password}x`)).status, 401);
}

interface GrafanaSource {
  readonly url?: string;
  readonly basicAuthUser?: string;
  readonly secureJsonData?: { readonly basicAuthPassword?: string };
}

const chromium = chromiumFor(t, 'the page');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('the page of the console', { timeout: WHOLE_MS }, async (t) => {
    const console = await startConsole(t, { processors: PROCESSORS, projects: ['shop', 'sums'] });
    const browser = await launchChromium(chromium);
    t.teardown(() => browser.close());
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const faults = watch(page, console.origin);
    const apiKey = await firstTrace(t, console, page);
    const scene = { console, page, faults, apiKey };
    const link = await useKeys(t, page);
    t.same(faults, []);
    await openLink(t, browser, console, link);
    await t.test('a trace, accessible', { timeout: WHOLE_MS }, (t) => checkTrace(t, page));
    const other = new URL(link).pathname.split('/').at(-1) ?? '';
    // Without a watch: a failure of the server is a part of it. A new page for each would be a new process.
    const own = await context.newPage();
    own.setDefaultTimeout(PATIENCE_MS);
    const parts: readonly (readonly [name: string, part: (t: Test) => Promise<void>])[] = [
      ['the list before what is beside it', (t) => askInTurn(t, own, console.origin)],
      ['answers that are incomplete', () => meetIncomplete(own, console, other)],
      ['dead ends and columns', (t) => meetDeadEnds(t, own, console, link)],
      ['a data source for Grafana', (t) => connectGrafana(t, own, console.origin)],
      ['archived traces in the list', (t) => listArchived(t, own, console.origin)],
      ['usage of archived days', (t) => countArchived(t, own, console.origin)],
      ['a conversation as a file', (t) => saveConversation(t, own, console)],
      ['large integers', (t) => showLarge(t, own, console)],
    ];
    for (const [name, part] of some(parts, 4)) {
      await t.test(name, { timeout: WHOLE_MS }, part);
      await own.unrouteAll({ behavior: 'wait' });
    }
    await own.close();
    await t.test(
      'every page: a hostile trace, accessible, in both themes, on a narrow screen',
      { timeout: WHOLE_MS },
      (t) => visitHostile(t, scene, other),
    );
  });
}
