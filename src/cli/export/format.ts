/** The forms of `sluice export`: texts of rows, to be written one after the other. */
import type { Column } from '../../pdata/columns.ts';
import type { Signal } from '../../pdata/context.ts';
import { otlpJson } from '../../pdata/otlp-json.ts';
import {
  jsonField,
  jsonLine,
  lengthOf,
  lineNames,
  SIGNAL_WORDS,
  STORED_COLUMNS,
  type StoredText,
} from '../../pdata/stored-text.ts';
import { SIGNALS, type Subject, TRACE_COLUMNS } from './query.ts';
import { isFormula } from '../../pdata/untrusted-text.ts';

export const FORMS = ['ndjson', 'csv', 'otlp'] as const;
export type Form = (typeof FORMS)[number];

/** Records of one OTLP request, and bytes of their rows. */
const MOST_RECORDS = 500;
const MOST_ROW_BYTES = 1024 * 1024;
/** Receivers refuse bodies above 4 MiB or less. A list of small numbers takes ten times the bytes of its row. */
const MOST_REQUEST_BYTES = 3 * 1024 * 1024;

export interface Format {
  /** The first line, if the form has one. */
  readonly head: string;
  write(rows: readonly StoredText[]): string;
}

export function formatOf(subject: Subject, form: Form): Format {
  const columns = subject === 'traces' ? TRACE_COLUMNS : null;
  const signal = SIGNALS[subject];
  if (form === 'otlp')
    return {
      head: '',
      write: (rows) =>
        groupsOf(rows)
          .flatMap((some) => requestsOf(signal, some))
          .join(''),
    };
  if (form === 'csv') {
    const names = columns === null ? lineNames(signal) : columns.map(({ name }) => name);
    const cells =
      columns === null
        ? (row: StoredText) => recordCells(subject, row)
        : (row: StoredText) => columns.map((column) => cellOf(column, row));
    return {
      head: `${names.join(',')}\r\n`,
      write: (rows) => rows.map((row) => `${cells(row).join(',')}\r\n`).join(''),
    };
  }
  const line =
    columns === null
      ? (row: StoredText) => jsonLine(signal, row)
      : (row: StoredText) => `{${columns.map((column) => jsonField(column, row)).join(',')}}`;
  return { head: '', write: (rows) => rows.map((row) => `${line(row)}\n`).join('') };
}

/** Lines with a request each that receivers accept. A record alone may still be too large for some. */
function requestsOf(signal: Signal, rows: readonly StoredText[]): readonly string[] {
  const text = `${otlpJson(signal, rows)}\n`;
  if (rows.length === 1 || Buffer.byteLength(text) <= MOST_REQUEST_BYTES) return [text];
  const half = Math.ceil(rows.length / 2);
  return [rows.slice(0, half), rows.slice(half)].flatMap((some) => requestsOf(signal, some));
}

function groupsOf(rows: readonly StoredText[]): readonly (readonly StoredText[])[] {
  const groups: StoredText[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = lengthOf([row]);
    const last = groups.at(-1);
    if (last === undefined || bytes + size > MOST_ROW_BYTES || last.length === MOST_RECORDS) {
      groups.push([row]);
      bytes = size;
    } else {
      last.push(row);
      bytes += size;
    }
  }
  return groups;
}

function recordCells(subject: Subject, row: StoredText): readonly string[] {
  const signal = SIGNALS[subject];
  const cells = STORED_COLUMNS[signal].flatMap((column) => {
    if (column.name === 'value_double') return [];
    if (column.name === 'value_int') return [row['value_int'] ?? row['value_double'] ?? ''];
    return [cellOf(column, row)];
  });
  return [SIGNAL_WORDS[signal], ...cells];
}

/** Null is nothing; an empty text is a pair of quotes. */
function cellOf({ name, type }: Pick<Column, 'name' | 'type'>, row: StoredText): string {
  const text = row[name] ?? null;
  if (text === null) return '';
  if (type !== 'text') return /[",\r\n]/u.test(text) ? quoted(text) : text;
  return quoted(isFormula(text) ? `'${text}` : text);
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
