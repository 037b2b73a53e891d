/** Rows of closed days with every column: filled with values that are easily damaged, or null. */
import { type Column, COLUMN_TYPES, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from '../../src/pdata/columns.ts';
import { CLOSED_MS, type Scene } from './archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';

const TEXTS = ['', 'NULL', 'a,b\t"c"\r\nd\\N', "it's ünïcode 🙂 \u0001\u007f", '{"a": [1, null]}', '0x00', ' '];
const JSONS = [
  'null',
  '{}',
  '[]',
  '{"b": 1.10, "a": [1e3, "\\"x\\"\\n", null, true]}',
  '"text"',
  '123456789012345678901234567890',
];
const INTEGERS = ['0', '1', '-1', '9223372036854775807', '-9223372036854775808'];
const DOUBLES = ['0', '0.1', '-1.5e-300', '1.7976931348623157e308', 'NaN', 'Infinity', '-Infinity', '3'];
const MONEY = ['0', '0.00000001', '9999999999.99999999', '-1.5'];
const COLUMNS = { spans: SPAN_COLUMNS, logs: LOG_COLUMNS, metric_points: METRIC_COLUMNS } as const;
/** Not null in the tables, or chosen below. */
const KEPT = ['project', 'environment', 'name', 'type', 'resource', 'attributes'];

export type Signal = keyof typeof COLUMNS;

let made = 0;

/** Inserts `count` rows of a closed day: `day` is an offset from the middle of the closed days. */
export async function storeRows(scene: Pick<Scene, 'query'>, signal: Signal, count: number, day = 0): Promise<void> {
  for (let index = 0; index < count; index++) await storeRow(scene, signal, rowOf(signal, day));
}

export async function storeRow(
  { query }: Pick<Scene, 'query'>,
  signal: Signal,
  row: Readonly<Record<string, string | null>>,
): Promise<void> {
  const names = Object.keys(row);
  const values = Object.values(row);
  const list = names.map((_, index) => `$${index + 1}`).join(', ');
  await query(`INSERT INTO sluice.${signal} (${names.join(', ')}) VALUES (${list})`, values);
}

/** The first row of a signal has every column filled, the second has null where that is possible; then mixed. */
export function rowOf(signal: Signal, day: number): Record<string, string | null> {
  const number = made++;
  const ms = CLOSED_MS + day * DAY_MS + (number % 1000) * 7;
  const row: Record<string, string | null> = {};
  for (const [index, column] of COLUMNS[signal].entries()) {
    const isNull = number % 4 === 1 || (number % 4 > 1 && (number * 31 + index * 7) % 3 === 0);
    row[column.name] = isNull && !KEPT.includes(column.name) ? null : filledWith(column, number + index);
  }
  row['project'] = `project-${number % 3}`;
  row['environment'] = 'default';
  row['resource'] ??= '{}';
  row['received_at'] = `${new Date(ms).toISOString().slice(0, -1)}${String(number % 1000).padStart(3, '0')}Z`;
  if (signal === 'spans') {
    row['trace_id'] = `\\x${(number % 5).toString(16).padStart(32, 'a')}`;
    row['span_id'] = `\\x${number.toString(16).padStart(16, '0')}`;
    row['start_time_unix_nano'] = String(BigInt(ms) * 1_000_000n + BigInt(number));
  }
  // The value of a point is an integer or a double.
  if (signal === 'metric_points' && row['value_int'] !== null) row['value_double'] = null;
  return row;
}

function filledWith({ name, type }: Column, number: number): string {
  const pick = (values: readonly string[]): string => values[number % values.length] ?? '';
  if (type === 'json') return name === 'resource' || name === 'attributes' ? '{"a": "ä"}' : pick(JSONS);
  if (type === 'trace_id') return `\\x${number.toString(16).padStart(32, '0')}`;
  if (type === 'span_id') return `\\x${number.toString(16).padStart(16, '0')}`;
  if (type === 'money') return pick(MONEY);
  if (type === 'double') return pick(DOUBLES);
  if (type === 'boolean') return pick(['true', 'false']);
  if (type === 'int4') return pick(['0', '24', '-2147483648']);
  return COLUMN_TYPES[type].table === 'int8' ? pick(INTEGERS) : pick(TEXTS);
}
