// Replaces places in compiled files by places in their sources. The test processes run without source maps, because
// Node reads the map of each module that it loads: a tenth of the processor time of all tests.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';

/** A compiled file, relative to the root or with any prefix, with line and column. */
const PLACE = /\bdist\/((?:src|test|bench)\/[^\s:()'"]+)\.js:(\d+):(\d+)/gu;

/** The text, in which each such place is that of the `.ts` file. A place without an entry in the map is kept. */
export function withSourcePlaces(text, root) {
  return text.replace(PLACE, (compiled, path, line, column) => {
    const map = join(root, `dist/${path}.js.map`);
    if (!existsSync(map)) return compiled;
    const entry = new SourceMap(JSON.parse(readFileSync(map, 'utf8'))).findEntry(Number(line) - 1, Number(column) - 1);
    if (entry.originalLine === undefined) return compiled;
    return `${path}.ts:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}
