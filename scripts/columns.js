// Makes what follows from the column catalogue (src/pdata/columns.ts): the labels and the derived columns of the
// WASM encoders, the derived row in layout.ts, the tables in docs/storage.md and the columns of an answer in
// docs/openapi-console.yaml. The catalogue is compiled here by itself, because the build compiles what this script
// writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { answeredColumns, documentedColumns } from './column-lists.js';
import { derivedColumns, derivedRow, labels } from './column-encoders.js';

const root = new URL('../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');
/** Postgres cuts longer names, and the encoders have room for labels of this length. */
const COLUMN_NAME = /^[a-z][a-z0-9_]{0,62}$/;

/** What each file that depends on the catalogue has to contain. */
export async function columnFiles() {
  const catalogue = await load('src/pdata/columns.ts');
  const { CONTENT_COLUMNS } = await load('src/pdata/content-columns.ts');
  check(catalogue);
  const layout = 'src/pdata/layout.ts';
  const storage = 'docs/storage.md';
  const api = 'docs/openapi-console.yaml';
  return {
    'src/pdata/wasm/encode/labels.ts': labels(catalogue),
    'src/pdata/wasm/encode/derived-columns.ts': derivedColumns(catalogue),
    [layout]: withBlocks(read(layout), ['// ', ''], derivedRow(catalogue)),
    [api]: withBlocks(read(api), ['# ', ''], answeredColumns(catalogue, CONTENT_COLUMNS)),
    [storage]: withBlocks(read(storage), ['<!-- ', ' -->'], documentedColumns(catalogue)),
  };
}

async function load(path) {
  const { outputText } = ts.transpileModule(read(path), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
  });
  return import(`data:text/javascript,${encodeURIComponent(outputText)}`);
}

function check({ SPAN_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS, DERIVED_COLUMNS }) {
  for (const columns of [SPAN_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS]) {
    const names = columns.map(({ name }) => name);
    for (const [index, name] of names.entries()) {
      if (!COLUMN_NAME.test(name)) throw new Error(`"${name}" cannot be the name of a column`);
      if (names.indexOf(name) !== index) throw new Error(`two columns have the name "${name}"`);
    }
  }
  for (const { name, type, filled } of DERIVED_COLUMNS) {
    if (filled === 'attribute' && !['text', 'count', 'double'].includes(type))
      throw new Error(`"${name}": an attribute fills columns of type text, count and double only`);
  }
}

/** Replaces the lines between `columns: name` and `end of columns`, which are comments of the file's language. */
function withBlocks(text, [open, close], blocks) {
  return Object.entries(blocks).reduce((result, [name, lines]) => {
    const begin = `${open}columns: ${name}${close}\n`;
    const end = `${open}end of columns${close}\n`;
    const from = result.indexOf(begin);
    const to = result.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`there is no block "${begin.trim()}" … "${end.trim()}"`);
    const indent = /[ ]*$/.exec(result.slice(0, from))[0];
    const body = lines.map((line) => `${line === '' ? '' : indent}${line}\n`).join('');
    return `${result.slice(0, from)}${begin}${body}${indent}${result.slice(to)}`;
  }, text);
}

/** Writes the files that differ and prints their names. The others keep their time, on which the WASM build depends. */
export function writeChanged(files, folder) {
  for (const [path, text] of Object.entries(files)) {
    const url = new URL(path, folder);
    if (readFileSync(url, 'utf8') === text) continue;
    writeFileSync(url, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeChanged(await columnFiles(), root);
}
