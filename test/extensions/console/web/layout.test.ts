/** Rules of layout for every page, at the widths of a phone, a tablet and a desk, with short and long values. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { makeDemo } from '../../../../src/cli/demo/application.ts';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { isLong } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { hostileTrace } from './hostile-trace.ts';
import '../../../support/long-file.ts';

const WHOLE_MS = 6 * PATIENCE_MS;
const WIDTHS = isLong ? [360, 800, 1440] : [360, 1440];
/** The widths at which the room around controls is measured, which takes most of the time: a phone has least. */
const TARGET_WIDTHS = isLong ? WIDTHS : WIDTHS.slice(0, 1);
const HEIGHT = 820;
const CONVERSATION = '"><img src=x onerror=alert(1)>';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Requests = readonly { readonly path: string; readonly body: object }[];

const long = (part: string, length: number): string => part.repeat(Math.ceil(length / part.length)).slice(0, length);

/** The demo with a long word in place of each name that a list, a heading, a menu or an axis shows. */
function longDemo(nowMs: number): Requests {
  const { requests, conversation } = makeDemo(nowMs, long('environment-', 60));
  const text = JSON.stringify(requests)
    .replaceAll('sluice-demo', long('service-', 180))
    .replaceAll('travel-assistant', long('agent', 280))
    .replaceAll('demo-user', long('user@example.com/', 180))
    .replaceAll('gpt-5-mini', `gpt-5-mini-${long('model', 150)}`)
    .replaceAll(conversation, long('conversation/', 240))
    .replaceAll('gen_ai.client.operation.duration', long('metric.name.', 200))
    .replaceAll('"unit":"s"', `"unit":"${long('unit', 60)}"`)
    .replaceAll('tool.retry', long('event.name.', 150));
  return JSON.parse(text) as Requests;
}

/**
 * What is beyond its frame, in the open page: the page and its parts scroll downwards only, except for tables and code,
 * and no control is cut. Links within a text are a part of it and may end in an ellipsis.
 */
const BEYOND = `(() => {
  const found = [];
  const nameOf = (e) => (e.tagName + '.' + e.className).slice(0, 50) + ' ' + (e.getAttribute('aria-label') ?? e.textContent ?? '').slice(0, 30);
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push('the page scrolls: ' + document.documentElement.scrollWidth);
  const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
  for (const e of document.querySelectorAll('body *')) {
    if (scrolls(e) && e.scrollWidth > e.clientWidth + 1 && !e.matches('.scroll-x, pre, .markdown table, .tabs, select, textarea, input'))
      found.push('scrolls sideways: ' + nameOf(e) + ': ' + [...e.querySelectorAll('*')].filter((i) => i.getBoundingClientRect().right > e.getBoundingClientRect().right + 1 && i.closest('.scroll-x') === null).slice(0, 3).map(nameOf));
  }
  for (const e of document.querySelectorAll('button:not(.skip), a[href], input, select, textarea')) {
    const box = e.getBoundingClientRect();
    const style = getComputedStyle(e);
    if (box.width === 0 || style.visibility === 'hidden' || (e.tagName === 'A' && style.display === 'inline')) continue;
    let frame = e.parentElement;
    while (frame !== document.body && !/hidden|clip|auto|scroll/.test(getComputedStyle(frame).overflowX)) frame = frame.parentElement;
    if (frame.closest('.scroll-x, .tabs, .grid') !== null) continue;
    const right = frame === document.body ? width : frame.getBoundingClientRect().right;
    if (box.right > right + 1) found.push('is cut: ' + nameOf(e));
    const isCut = (each) => each.scrollWidth > each.clientWidth + 1;
    // Names of projects and environments have any length: in their menus they end in an ellipsis, and the title has them whole.
    const mayEnd = (text) => e.closest('.projects, .environments') !== null && e.title.endsWith(text.textContent);
    const texts = [...e.querySelectorAll('.menu-text')];
    if (e.tagName === 'BUTTON' && (isCut(e) || texts.some((text) => isCut(text) && !mayEnd(text)))) found.push('text is cut: ' + nameOf(e));
    if (/INPUT|SELECT/.test(e.tagName) && e.type !== 'checkbox' && box.height < 24) found.push('is flat: ' + nameOf(e));
  }
  for (const grid of document.querySelectorAll('.grid')) {
    const right = grid.getBoundingClientRect().right;
    for (const cell of grid.querySelectorAll('.grid-head > *, .grid-row > *'))
      if (cell.getBoundingClientRect().right > right + 1) found.push('a cell is beyond its list: ' + nameOf(cell));
  }
  for (const table of document.querySelectorAll('table')) {
    const names = [...table.querySelectorAll('thead th')].map((e) => e.textContent).filter((name) => name !== '');
    if (new Set(names).size < names.length) found.push('equal columns: ' + names);
  }
  return [...new Set(found)];
})()`;

/** Controls below 24 pixels without room around them. */
const SMALL = `axe.run({ runOnly: ['target-size'], resultTypes: ['violations'], iframes: false, preload: false })
  .then(({ violations }) => [...new Set(violations.flatMap(({ nodes }) => nodes.map(({ html }) => /^<[^>]{0,90}/u.exec(html)?.[0])))])`;

const REFUSAL = {
  ...{ time: '2026-11-24T08:53:49.696Z', code: 'invalid_api_key', signal: 'traces', project: 'shop', key: 'QNAV1voZ' },
  ...{ message: long('The API key is missing or not valid. ', 170), bytes: 1024, address: '127.0.0.1:52436' },
  cause: long('a\u202Ename is twice, ', 170),
};
const DAEMON = {
  uptimeSeconds: 86_400,
  signals: { traces: { stored: 123_456_789, refused: 1_234_567 }, logs: { stored: 0, refused: 0 } },
  commitTimes: { 0.001: 5_000_000, 0.25: 1_000, '+Inf': 100 },
};
const CUT_MESSAGES = `(() => {
  const cells = [...document.querySelectorAll('[aria-label="Refused requests"] tbody td:nth-child(3)')];
  const isCut = (e) => [e, ...e.querySelectorAll('*')].some((each) => each.scrollWidth > each.clientWidth + 1);
  return cells.length === 0 ? ['no refusal is shown'] : cells.filter(isCut).map((e) => e.textContent);
})()`;

/** The figures of a large trace, which end in an ellipsis where their column is too narrow. */
const LARGE_FIGURES = {
  ...{ span_count: 10_000, error_count: 1_663, model_call_count: 707 },
  ...{ input_tokens: 2_134_567, cache_read_tokens: 412_345, output_tokens: 261_234 },
  ...{ total_cost: '1234.50000000', unpriced_count: 115, duration_ns: '257000000000' },
};
const CUT_FIGURES = `[...document.querySelectorAll('.trace-grid .grid-row > *')].filter((cell) =>
  /c-(?:calls|tokens|cost|took|spans|errors)/.test(cell.className) && cell.clientWidth > 0 && cell.scrollWidth > cell.clientWidth,
).map((cell) => cell.className + ' ' + cell.textContent)`;

async function checkFigures(t: Test, page: Page, address: string): Promise<void> {
  const isList = /\/projects\/shop\/traces\?/u;
  await page.route(isList, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { readonly items: readonly object[] };
    const items = body.items.map((row) => ({ ...row, ...LARGE_FIGURES }));
    await route.fulfill({ response: answer, json: { ...body, items } });
  });
  // It would replace these figures by those of the traces.
  const isLive = '**/projects/shop/live';
  await page.route(isLive, (route) => route.abort());
  await page.goto(address);
  await page.getByText('2.1M (412k cached) → 261k').first().waitFor();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    t.same(await page.evaluate(CUT_FIGURES), [], `figures of a large trace, ${width} pixels`);
  }
  await page.unroute(isList);
  await page.unroute(isLive);
}

async function checkPage(t: Test, page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    // Charts and lists are drawn again in the frames after a change of size.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    t.same(await page.evaluate(BEYOND), [], `${what}, ${width} pixels`);
    if (TARGET_WIDTHS.includes(width)) t.same(await page.evaluate(SMALL), [], `${what}, ${width} pixels: targets`);
  }
}

async function post(url: string, key: string, requests: Requests): Promise<void> {
  for (const { path, body } of requests) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

const traceOf = (requests: Requests): string => /"traceId":"([0-9a-f]{32})"/u.exec(JSON.stringify(requests))?.[1] ?? '';

const chromium = chromiumFor(t, 'the layout');
if (chromium !== null) {
  t.setTimeout(WHOLE_MS);
  t.test('the layout of every page', { timeout: WHOLE_MS }, async (t) => {
    const console = await startConsole(t, {
      processors: 'auth, environment, normalization',
      projects: ['shop', 'empty'],
    });
    const { origin, people, administration, daemon } = console;
    const { text: key } = await administration.createKey('shop', null, long('label', 90));
    const [now, early] = [Date.now(), Date.now() - 3_600_000];
    const [longer, demo, hostile] = [longDemo(early), makeDemo(now, 'demo').requests, hostileTrace(now, CONVERSATION)];
    for (const requests of [longer, demo, hostile.requests]) await post(daemon.url, key, requests);

    const page = await (await openBrowser(t, chromium, { bypassCSP: true, reducedMotion: 'reduce' })).newPage();
    await page.goto(`${origin}/login`);
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await checkPage(t, page, 'login');

    await logIn({ people, origin }, page, long('person', 60));

    // This daemon runs in the process of the test, which knows neither refusals nor counts.
    await page.route('**/api/v1/status', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        json: { ...(await answer.json()), refusals: [REFUSAL], daemon: DAEMON },
      });
    });

    const id = traceOf(longer);
    const metric = encodeURIComponent(long('metric.name.', 200));
    const pages: readonly (readonly [path: string, ready: string])[] = [
      ['empty/traces', 'h1'],
      ['shop/traces', '.grid-row'],
      ['shop/traces?q=model:nothing', '.empty'],
      ['shop/traces?q=error&sort=cost', '.empty'],
      ['none/traces', '.empty'],
      [`shop/traces/${'f'.repeat(32)}`, '.failure'],
      ['shop/conversations', '.grid-row'],
      [`shop/conversations/${encodeURIComponent(long('conversation/', 240))}`, '.message'],
      [`shop/conversations/${encodeURIComponent(CONVERSATION)}`, '.message'],
      ['shop/usage', '.data-table'],
      ['shop/usage?measure=calls&group=user', '.data-table'],
      ['shop/logs', '.grid-row'],
      ['shop/metrics', '.data-table'],
      [`shop/metrics?name=${metric}`, '.data-table'],
      ['shop/project', '.data-table'],
      ['shop/status', '.tiles'],
      [`shop/compare?a=${id}&b=${traceOf(demo)}`, '.grid-row'],
      ...(isLong ? [id, hostile.traceId] : [id]).flatMap((trace) =>
        [
          ['timeline', '.grid-row'],
          ['messages', '.message'],
          ['table', '.grid-row'],
          ['json', '.json'],
        ].map(([view, ready]) => [`shop/traces/${trace}?view=${view}`, ready ?? ''] as const),
      ),
    ];
    await checkFigures(t, page, `${origin}/p/shop/traces`);
    // An ordinary test has every fifth page, with the list of traces.
    for (const [path, ready] of pages.filter((_, at) => isLong || at % 5 === 1)) {
      await page.goto(`${origin}/p/${path}`);
      await page.locator(ready).first().waitFor();
      await checkPage(t, page, path.slice(0, 60));
      // It says what to do about a refusal.
      if (path === 'shop/status') {
        t.same(await page.evaluate(CUT_MESSAGES), [], 'messages of refusals are whole');
        t.equal(await page.getByText(/‹U\+202E›name is twice/u).count(), 1, 'the cause is shown');
      }
    }
  });
}
