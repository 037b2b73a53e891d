/** Why a record has a dialect: the sign that decided, in words. */
import type { Batch } from '../../pdata/batch.ts';
import { dialectOfRank, NO_RANK, RANK_SCOPE, RANK_SERVICE } from './key-classes.ts';
import type { LookupTables } from './lookup-tables.ts';
import type { Reader } from './reader.ts';

export class DialectEvidence {
  readonly #batch: Batch;
  readonly #lookups: LookupTables;
  readonly #reader: Reader;

  constructor(batch: Batch, lookups: LookupTables, reader: Reader) {
    this.#batch = batch;
    this.#lookups = lookups;
    this.#reader = reader;
  }

  /** The sign of the dialect that the record has: the first in the order of detection that means this dialect. */
  of(record: number, dialect: number, found: number): string {
    const { detection } = this.#lookups;
    const { scope, resource } = this.#batch.records.goto(record);
    const isOf = (rank: number): boolean => rank !== NO_RANK && dialectOfRank(rank) === dialect;
    if (found < RANK_SCOPE && isOf(found)) return `the attribute ${this.#keysOfRank(record, found)}`;
    for (const each of [detection.own, detection]) {
      if (each !== null && isOf(each.rankOfScope(this.#batch, scope))) return `the scope ${each.scopeName}`;
    }
    if (isOf(found)) return `the attribute ${this.#keysOfRank(record, found)}, which suggests it`;
    for (const each of [detection.own, detection]) {
      const rank = each?.rankOfService(this.#batch, resource) ?? NO_RANK;
      if (rank >= RANK_SERVICE && isOf(rank)) return 'the name of the service or SDK';
    }
    if (dialect === this.#lookups.relocating) return 'an event that is named like its scope';
    const keys = this.#keys(record).filter(({ symbol }) => this.#lookups.keys.of(this.#batch.tables, symbol)?.telling);
    if (keys.length > 0) return `${keys[0]?.attribute ?? ''}, and no sign of another dialect`;
    return 'the name of the event';
  }

  #keysOfRank(record: number, rank: number): string {
    const found = this.#keys(record).find(({ symbol, row }) => {
      const known = this.#lookups.keys.of(this.#batch.tables, symbol);
      if (known === null) return false;
      const word = known.signs.length === 0 ? 0 : this.#reader.word(this.#lookups.words, row);
      return known.rank === rank || known.signs.some((sign) => sign.rank === rank && sign.word === word);
    });
    if (found === undefined) return '(none)';
    const isValue = this.#lookups.keys.of(this.#batch.tables, found.symbol)?.rank !== rank;
    return isValue ? `${found.attribute}=${this.#reader.text(found.row) ?? ''}` : found.attribute;
  }

  #keys(record: number): { readonly attribute: string; readonly symbol: number; readonly row: number }[] {
    const rows = this.#batch.recordAttributes(record);
    const keys = [];
    while (rows.next()) keys.push({ symbol: rows.symbol, row: rows.row });
    return keys.map((key) => ({ ...key, attribute: this.#batch.tables.keyOf(key.symbol) }));
  }
}
