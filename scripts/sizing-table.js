// The table of ratios in docs/sizing.md, generated from src/cli/sizing.ts.
import { RATIOS } from '../dist/src/cli/sizing.js';
import { markdownTable } from './markdown-table.js';

const TABLE = /<!-- ratios -->[\s\S]*?<!-- end -->/u;

export function withRatios(text) {
  const rows = Object.values(RATIOS).map(({ value, unit, what, source }) => [what, `${value} ${unit}`, source]);
  return text.replace(TABLE, `<!-- ratios -->\n${markdownTable(['What', 'Value', 'Source'], rows)}\n\n<!-- end -->`);
}
