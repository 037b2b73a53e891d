/** Lists with more rows than they show, names of white space, costs of few tokens, and spans deep below the root. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t from 'tap';
import { chromiumFor } from '../../../support/browser.ts';
import { startConsole } from '../../../support/console.ts';
import { logIn, openBrowser } from '../../../support/console-page.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import '../../../support/long-file.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIOLATIONS = `axe.run('[role=grid]', { runOnly: ['wcag2a'], resultTypes: ['violations'], iframes: false, preload: false })
  .then(({ violations }) => violations.map(({ id }) => id))`;
const CUT = `[...document.querySelectorAll('.s-cost, .d-cost')].filter((cell) => cell.scrollWidth > cell.clientWidth)
  .map((cell) => cell.textContent)`;
/** Names of spans of which less than a few letters are seen. */
const HIDDEN = `[...document.querySelectorAll('.span-grid .grid-row .s-name, .compare-grid .grid-row .d-name')].filter((cell) => {
  const name = cell.querySelector('.name').getBoundingClientRect();
  return name.width < 24 || name.right > cell.getBoundingClientRect().right + 1;
}).map((cell) => cell.textContent)`;
const TAB_LISTS = `[...document.querySelectorAll('[role=tablist] > :not([role=tab])')].map((each) => each.outerHTML)`;
const WIDE = `[...document.querySelectorAll('.empty *')].filter((each) => each.getBoundingClientRect().right > innerWidth)
  .map((each) => each.textContent)`;
const LINK = "getComputedStyle(document.querySelector('p > a')).textDecorationLine";
const LONG_NAME = 'word'.repeat(30);
const DEPTH = 40;
/** More than one page of the list. */
const TRACES = 60;
const CALL = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'small' };

const attributesOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));

function callOf(name: string, cost: number, at: number) {
  const startNs = (BigInt(Date.now()) - BigInt(at)) * 1_000_000n;
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name,
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(startNs + 1_000_000n),
    attributes: [...attributesOf(CALL), { key: 'gen_ai.usage.cost', value: { doubleValue: cost } }],
  };
}

/** Each span is the child of the one before. */
function chainOf(at: number) {
  const calls = Array.from({ length: DEPTH }, (_, depth) => callOf(`step ${depth}`, 0.01, at));
  const traceId = randomBytes(16).toString('hex');
  return calls.map((call, depth) => ({ ...call, traceId, parentSpanId: calls[depth - 1]?.spanId ?? '' }));
}

const chromium = chromiumFor(t, 'lists in a browser');
if (chromium !== null) {
  t.test('a list of many rows', { timeout: 2 * PATIENCE_MS }, async (t) => {
    const processors = 'auth, environment, normalization, pricing';
    const { administration, daemon, ...console } = await startConsole(t, { processors, projects: ['shop'] });
    const { text: key } = await administration.createKey('shop', null, null);
    const spans = Array.from({ length: TRACES }, (_, at) => callOf(' \n\u2003', 0.000_012_6, at));
    const [chain, other] = [chainOf(TRACES), chainOf(TRACES)];
    const newest = callOf(LONG_NAME, 0.01, -1);
    const answer = await fetch(`${daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [...spans, ...chain, ...other, newest] }] }] }),
    });
    t.equal(answer.status, 200);

    const page = await (await openBrowser(t, chromium, { bypassCSP: true })).newPage();
    await logIn(console, page);
    await page.goto(`${console.origin}/p/shop/traces`);
    await page.getByRole('button', { name: 'continue' }).waitFor();
    t.match(await page.locator('.grid-row').nth(1).textContent(), '(no name)', 'a name of white space is named');
    const title = await page.locator('.grid-row .c-cost').nth(1).getAttribute('title');
    t.equal(title, '$0.00001260', 'the cost has all its digits');
    await page.evaluate(AXE);
    t.same(await page.evaluate(VIOLATIONS), [], 'the line below the rows is a part of the list');

    const [a, b] = spans.map(({ traceId }) => traceId);
    for (const path of [`traces/${a}`, `compare?a=${a}&b=${b}`]) {
      await page.goto(`${console.origin}/p/shop/${path}`);
      await page.getByText('$0.0000126').first().waitFor();
      t.same(await page.evaluate(CUT), [], `a small cost has all its digits: ${path.slice(0, 7)}`);
    }

    await page.goto(`${console.origin}/p/shop/traces/${a}`);
    await page.locator('.grid-row').first().click();
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    t.same(await page.evaluate(TAB_LISTS), [], 'a list of tabs has only tabs');

    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${console.origin}/p/shop/traces?q=name:none`);
    await page.getByRole('link', { name: LONG_NAME }).waitFor();
    t.same(await page.evaluate(WIDE), [], 'a long name does not widen an empty list');
    await page.goto(`${console.origin}/p/shop/traces/${a}`);
    const facts = page.locator('.facts');
    await facts.waitFor();
    t.ok(await facts.evaluate((each) => each.scrollHeight <= each.clientHeight), 'the facts of a trace are all seen');
    await page.setViewportSize({ width: 1280, height: 720 });

    await page.goto(`${console.origin}/p/shop/compare`);
    await page.locator('p > a').first().waitFor();
    t.equal(await page.evaluate(LINK), 'underline', 'a link within a text');

    const [deep, beside] = [chain, other].map(([root]) => root?.traceId);
    for (const path of [`traces/${deep}`, `compare?a=${deep}&b=${beside}`]) {
      await page.goto(`${console.origin}/p/shop/${path}`);
      await page.locator('.grid-row').first().waitFor();
      await page.keyboard.press('End');
      await page.getByRole('row', { name: `step ${DEPTH - 1}` }).waitFor();
      t.same(await page.evaluate(HIDDEN), [], `deep spans have names: ${path.slice(0, 7)}`);
    }
  });
}
