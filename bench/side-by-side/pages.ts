/** What a person does on the page of each back end. Each step resolves when its result is visible. */
import type { Locator, Page } from 'playwright-core';
import { LARGE_TRACE, RARE_MODEL, RARE_WORD } from './day.ts';

export interface PageSteps {
  /** Below the address of the project, with the same range on both sides: the last seven days. */
  readonly list: string;
  readonly traces: string;
  /** A row of the list. */
  row(page: Page): Locator;
  /** The root of the open trace, and its first rows. */
  rootOf(page: Page): readonly Locator[];
  filterBox(page: Page): Locator;
  readonly modelFilter: string;
  readonly textFilter: string;
}

export const SLUICE: PageSteps = {
  list: 'traces?from=-7d',
  traces: 'traces',
  row: (page) => page.locator('.grid-row'),
  rootOf: (page) => [page.locator('.grid-row').filter({ hasText: LARGE_TRACE.root }).first()],
  filterBox: (page) => page.getByRole('combobox', { name: 'Filter' }),
  modelFilter: `model:${RARE_MODEL.model}`,
  textFilter: `"${RARE_WORD.word}"`,
};

export const PHOENIX: PageSteps = {
  list: 'spans?timeRangeKey=7d',
  traces: 'traces',
  row: (page) => page.locator('tbody tr').filter({ has: page.locator('a') }),
  // The tree has 1,000 spans, with a notice that says so; the root is in the panel beside it.
  rootOf: (page) => [
    page.locator('.span-header__name').filter({ hasText: LARGE_TRACE.root }).first(),
    page.getByText(`of ${LARGE_TRACE.spans} spans`),
  ],
  filterBox: (page) => page.getByRole('textbox', { name: /^Filter/u }),
  modelFilter: `llm.model_name == '${RARE_MODEL.model}'`,
  textFilter: `'${RARE_WORD.word}' in llm.input_messages`,
};
