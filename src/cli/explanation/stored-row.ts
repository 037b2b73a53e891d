/** A row of the file exporter as an OTLP body, so that it can be explained. */
import { otlpJson } from '../../pdata/otlp-json.ts';
import { STORED_COLUMNS, type StoredText } from '../../pdata/stored-text.ts';
import type { Row } from '../reader.ts';
import type { Body } from './stages.ts';

export function bodyOfRow(row: Row): Body {
  const signal = row['signal'] === 'span' ? 'traces' : 'logs';
  return { signal, encoding: 'json', bytes: Buffer.from(otlpJson(signal, [storedText(signal, row)])) };
}

/** The stored cost is no attribute of the record. */
const COSTS = new Set(['total_cost', 'cost_source']);

function storedText(signal: Body['signal'], row: Row): StoredText {
  return Object.fromEntries(
    STORED_COLUMNS[signal].map(({ name, type }) => {
      const value = row[name] ?? null;
      if (value === null || COSTS.has(name)) return [name, null];
      return [name, type === 'json' ? JSON.stringify(value) : String(value)];
    }),
  );
}
