/** Explains a row of the file exporter: as an OTLP body, and without the attributes that only this body has. */
import type { Derivation, FilledColumn } from '../../component/capabilities/derivations.ts';
import { otlpJson } from '../../pdata/otlp-json.ts';
import { assumedKeys } from '../../pdata/restored-attributes.ts';
import { STORED_COLUMNS, type StoredText } from '../../pdata/stored-text.ts';
import type { Row } from '../reader.ts';
import type { Body } from './stages.ts';

export function bodyOfRow(row: Row): Body {
  const signal = signalOf(row);
  return { signal, encoding: 'json', bytes: Buffer.from(otlpJson(signal, [storedText(signal, row)])) };
}

const signalOf = (row: Row): Body['signal'] => (row['signal'] === 'span' ? 'traces' : 'logs');

/** The derivation of such a body, which has attributes that the sender may not have sent. */
export function derivationOfRow(derivation: Derivation, row: Row): Derivation {
  const assumed = assumedKeys(storedText(signalOf(row), row));
  const isAssumed = (source: string): boolean => assumed.has(source.replace(/ and others$/u, ''));
  const told = (each: FilledColumn): FilledColumn =>
    each.isAttribute && isAssumed(each.source) ? { ...each, ...NOT_KEPT, note: null } : each;
  return {
    ...derivation,
    filled: derivation.filled.map(told),
    lost: derivation.lost.filter(({ source }) => !isAssumed(source)),
    leftOver: derivation.leftOver.filter(({ attribute }) => !isAssumed(attribute)),
  };
}

const NOT_KEPT = {
  source: 'the stored column; its attribute is not kept',
  isAttribute: false,
  path: null,
  dialect: null,
} as const;

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
