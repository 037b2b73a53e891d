/** The requests whose records are in objects only: in no file of the lake yet, and not in the tables. */
import { WAITING_PARTS } from '../../component/archived-day.ts';
import type { Query } from '../../component/capabilities/postgres.ts';
import { withinStorable } from '../../component/moment.ts';
import { type Part, partOfRow } from '../compaction/compactions.ts';
import type { LakeSignal } from '../lake-table.ts';
import type { TraceRange } from './partial-file.ts';

/** The most parts that one command reads. */
const MAX_PARTS = 100_000;

/** Which records are wanted. */
export interface PartScope {
  readonly signals: readonly LakeSignal[];
  readonly project: string | null;
  /** Times of records, in Unix nanoseconds, inclusive; null: no limit. */
  readonly fromNs: bigint | null;
  readonly untilNs: bigint | null;
  /** Only records of traces in these ranges; null: all records. */
  readonly traces: readonly TraceRange[] | null;
  /** Arrivals from this time on, in Unix nanoseconds; null: all. */
  readonly arrivedNs: bigint | null;
}

export interface WaitingPart extends Part {
  readonly signal: LakeSignal;
  /** When its request arrived, by the clock of the database. */
  readonly arrivedNs: bigint;
}

/** A part without times is of an earlier version, or has records without a time. */
const FOUND = `
  SELECT encode(object_id, 'hex') AS object, first_byte, bytes, codec, project, records, signal,
    ((extract(epoch FROM received_at) * 1000000)::int8 * 1000)::text AS arrived_ns
  FROM ${WAITING_PARTS} p
  WHERE signal = ANY ($1::text[]) AND ($2::text IS NULL OR project = $2::text)
    AND ($3::int8 IS NULL OR last_ns IS NULL OR last_ns >= $3) AND ($4::int8 IS NULL OR first_ns IS NULL OR first_ns <= $4)
    AND ($5::int8 IS NULL OR received_at >= 'epoch'::timestamptz + $5::int8 / 1000 * interval '1 microsecond')
  ORDER BY received_at DESC, object_id DESC, first_byte DESC LIMIT ${MAX_PARTS}`;

/** The newest first. Each part is returned once. */
export class WaitingParts {
  readonly scope: PartScope;
  #parts: readonly WaitingPart[];
  readonly #last: WaitingPart | null;

  private constructor(scope: PartScope, parts: readonly WaitingPart[]) {
    this.scope = scope;
    this.#parts = parts;
    this.#last = parts.length < MAX_PARTS ? null : (parts.at(-1) ?? null);
  }

  static async find(query: Query, scope: PartScope): Promise<WaitingParts> {
    const { signals, project, fromNs, untilNs, arrivedNs } = scope;
    const bounds = [fromNs, untilNs, arrivedNs].map((ns) => (ns === null ? null : String(withinStorable(ns))));
    const { rows } = await query(FOUND, [signals, project, ...bounds]);
    const parts = rows.map((row) => ({
      ...partOfRow(row),
      signal: row['signal'] as LakeSignal,
      arrivedNs: BigInt(String(row['arrived_ns'])),
    }));
    return new WaitingParts(scope, parts);
  }

  /** The next parts: at most so many compressed bytes, but at least one part. */
  take(mostBytes: number): readonly WaitingPart[] {
    let [count, bytes] = [0, 0];
    for (const part of this.#parts) {
      bytes += part.bytes;
      if (count > 0 && bytes > mostBytes) break;
      count++;
    }
    const taken = this.#parts.slice(0, count);
    this.#parts = this.#parts.slice(count);
    return taken;
  }

  /** The arrival of the newest request that was not taken; null: all were. */
  get leftNs(): bigint | null {
    return (this.#parts[0] ?? this.#last)?.arrivedNs ?? null;
  }
}
