// What the encoders have of the column catalogue: sources in AssemblyScript, and the derived row in layout.ts.
const LINE_WIDTH = 120;
/** The bits of DERIVED_MASK. */
const MAX_SLOTS = 32;
const MADE = 'Made from `src/pdata/columns.ts` by `npm run docs`. Do not edit.';
/** NDJSON has these two columns as one. */
const METRIC_VALUES = ['value_int', 'value_double'];

const upper = (name) => name.toUpperCase();
const wordsOf = (name) => `${upper(name)}_WORDS`;
const costOf = (name) => `COST_${upper(name.replace(/_cost$/, ''))}`;
const roundUp = (value, unit) => Math.ceil(value / unit) * unit;

/** What holds a derived column: a byte, a number, a cost or a slot. */
function partOf({ name, type, words }) {
  if (words !== undefined || type === 'boolean') return 'bytes';
  const part = { count: 'numbers', double: 'numbers', money: 'costs', text: 'slots', json: 'slots' }[type];
  if (part === undefined) throw new Error(`"${name}": a derived column cannot have the type ${type}`);
  return part;
}

function partsOf(columns) {
  const parts = { bytes: [], numbers: [], costs: [], slots: [] };
  for (const column of columns) parts[partOf(column)].push(column);
  if (parts.slots.length > MAX_SLOTS) throw new Error(`there are more than ${MAX_SLOTS} derived columns with a slot`);
  return parts;
}

/** The blocks of layout.ts. Counts are rounded up, so that few new columns move the parts of the row. */
export function derivedRow({ DERIVED_COLUMNS, PRICING_NUMBERS }) {
  const { bytes, numbers, costs, slots } = partsOf(DERIVED_COLUMNS);
  const firstByte = 4;
  const numbersAt = roundUp(firstByte + bytes.length, 8);
  const numberCount = roundUp(numbers.length + PRICING_NUMBERS.length, 8);
  const costsAt = numbersAt + numberCount * 8;
  const slotsAt = costsAt + costs.length * 8;
  const slotCount = roundUp(slots.length, 8);
  const made = [`// ${MADE}`];
  const numbered = (columns, nameOf, note) =>
    columns.map((column, index) => `export const ${nameOf(column)} = ${index};${note(column)}`);
  return {
    stride: [...made, `export const DERIVED_STRIDE = ${roundUp(slotsAt + slotCount * 16, 16)};`],
    'derived row': [
      ...made,
      'export const DERIVED_MASK = 0; // u32, bit = slot filled',
      ...bytes.map(({ name, words }, index) => {
        const note = words === undefined ? '0 null 1 false 2 true' : 'index into its words';
        return `export const DERIVED_${upper(name)} = ${firstByte + index}; // u8 ${note}`;
      }),
      `export const DERIVED_NUMBERS = ${numbersAt}; // f64 × DERIVED_NUMBER_COUNT, NaN = unavailable`,
      `export const DERIVED_COSTS = ${costsAt}; // i64 × DERIVED_COST_COUNT, whole 1e-8 USD, i64 minimum = unavailable`,
      `export const DERIVED_SLOTS = ${slotsAt}; // SLOT_STRIDE × DERIVED_SLOT_COUNT`,
      '',
      `export const DERIVED_NUMBER_COUNT = ${numberCount};`,
      ...numbered(
        [...numbers, ...PRICING_NUMBERS],
        ({ name }) => `NUMBER_${upper(name)}`,
        (column) => (PRICING_NUMBERS.includes(column) ? ' // for pricing only' : ''),
      ),
      '',
      `export const DERIVED_COST_COUNT = ${costs.length};`,
      ...numbered(
        costs,
        ({ name }) => costOf(name),
        () => '',
      ),
      '',
      `export const DERIVED_SLOT_COUNT = ${slotCount};`,
      ...numbered(
        slots,
        ({ name }) => `SLOT_${upper(name)}`,
        ({ type }) => (type === 'json' ? ' // JSON' : ''),
      ),
    ],
  };
}

/** `wasm/encode/labels.ts`: what NDJSON writes before each value, the words, and the numbers of COPY fields. */
export function labels(catalogue) {
  const { SPAN_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS, DERIVED_COLUMNS, TABLE_COLUMNS, PLAIN_SPAN_COLUMNS } = catalogue;
  const columns = [...SPAN_COLUMNS, ...LOG_COLUMNS, ...METRIC_COLUMNS];
  const names = columns.map(({ name }) => (METRIC_VALUES.includes(name) ? 'value' : name));
  const words = new Map(columns.flatMap((column) => (column.words === undefined ? [] : [[column.name, column.words]])));
  const nothing = DERIVED_COLUMNS.map(({ name }) => `,"${name}":null`);
  return [
    `/** Labels, words and counts of the columns. ${MADE} */`,
    "import { put } from './output';",
    '',
    '/** Numbers of fields of a COPY tuple. */',
    `export const SPAN_FIELDS: u32 = ${TABLE_COLUMNS.traces.length};`,
    `export const PLAIN_SPAN_FIELDS: u32 = ${PLAIN_SPAN_COLUMNS.length};`,
    `export const LOG_FIELDS: u32 = ${TABLE_COLUMNS.logs.length};`,
    `export const POINT_FIELDS: u32 = ${TABLE_COLUMNS.metrics.length};`,
    `export const DERIVED_FIELDS: u32 = ${DERIVED_COLUMNS.length};`,
    '',
    '/** What NDJSON writes before the value of a column. */',
    ...[...new Set(names)].map((name) => `export const ${upper(name)}: string = ',"${name}":';`),
    '',
    '/** The words of a column by number; an empty one is null. */',
    ...[...words].flatMap(([name, list]) =>
      listed(
        `export const ${wordsOf(name)}: StaticArray<string> = [`,
        list.map((word) => `'${word ?? ''}'`),
        '];',
      ),
    ),
    '',
    '/** Bytes of the derived columns in NDJSON if all are null, and of a COPY tuple likewise, with slack for `put`. */',
    `export const NOTHING_DERIVED_ROOM: usize = ${nothing.reduce((sum, text) => sum + text.length, 0) + 16};`,
    '',
    '/** Puts the derived columns of an NDJSON line, all null. */',
    'export function putNothingDerived(): void {',
    ...joined(nothing).map((text) => `  put('${text}');`),
    '}',
    '',
  ].join('\n');
}

/** Texts joined into longer ones that fit a line. */
function joined(texts) {
  const lines = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length <= LINE_WIDTH - 10) lines[lines.length - 1] = last + text;
    else lines.push(text);
  }
  return lines;
}

/** `wasm/encode/derived-columns.ts`: writes each derived column from its part of the derived row. */
export function derivedColumns({ DERIVED_COLUMNS }) {
  const imports = { columns: new Set(), slots: new Set() };
  const use = (file, name) => {
    imports[file].add(name);
    return name;
  };
  const calls = DERIVED_COLUMNS.map((column) => {
    const name = upper(column.name);
    const label = `labels.${name}`;
    switch (partOf(column)) {
      case 'bytes': {
        const byte = `load<u8>(derived, layout.DERIVED_${name})`;
        if (column.words === undefined) return `${use('columns', 'booleanColumn')}(${label}, ${byte});`;
        const word = `${use('columns', 'wordOf')}(labels.${wordsOf(column.name)}, ${byte})`;
        return `${use('columns', 'wordColumn')}(${label}, ${word});`;
      }
      case 'numbers': {
        const writer = column.type === 'count' ? 'wholeNumberColumn' : 'numberColumn';
        return `${use('slots', writer)}(${label}, derived, layout.NUMBER_${name});`;
      }
      case 'costs':
        return `${use('slots', 'costColumn')}(${label}, derived, layout.${costOf(column.name)});`;
      default: {
        const writer = column.type === 'json' ? 'jsonSlotColumn' : 'slotColumn';
        return `${use('slots', writer)}(${label}, derived, layout.SLOT_${name});`;
      }
    }
  });
  const importOf = (names, from) => listed('import {', [...names].sort(), `} from '${from}';`, ' ');
  return [
    `/** The derived columns in their order. ${MADE} */`,
    "import * as layout from '../../layout';",
    ...importOf(imports.columns, './columns'),
    "import * as labels from './labels';",
    ...importOf(imports.slots, './slots'),
    '',
    '/** `derived` is the address of a derived row. */',
    'export function putDerivedRow(derived: usize): void {',
    ...calls.map((call) => `  ${call}`),
    '}',
    '',
  ].join('\n');
}

/** A list between its brackets: on one line, or else an item a line, as the formatter has it. */
function listed(open, items, close, space = '') {
  const line = `${open}${space}${items.join(', ')}${space}${close}`;
  return line.length <= LINE_WIDTH ? [line] : [open, ...items.map((item) => `  ${item},`), close];
}
