/**
 * Assigns the literal prefixes to the eight buckets of the Teddy prefilter (src/pdata/wasm/prefixes.ts) and makes its
 * tables. A table knows the halves of bytes only, so a bucket also matches bytes that mix the halves of its members:
 * similar prefixes share one.
 */
import { PREFIX_BUCKETS_SIZE } from '../../../pdata/layout.ts';

/** A set of bytes, as one entry a byte. */
export type ByteSet = Uint8Array;

/** The fingerprint of a prefix: the three bytes by which it is found. */
export type Three = readonly [ByteSet, ByteSet, ByteSet];

/** A bit each in a byte. */
const BUCKETS = 8;
const HALVES = 16;
const BYTES = 256;

/** The bytes of prose and JSON, the most frequent first. A fingerprint is made of rare bytes. */
const COMMON = ' etaoin"srhldcumf0123456789pg:,wybvkxjqz';

const FREQUENCIES = Float64Array.from({ length: BYTES }, (_, byte) => {
  const rank = COMMON.indexOf(String.fromCharCode(byte));
  return rank < 0 ? 1 : 2 * (COMMON.length - rank);
});

/** The low and high halves that the bytes of each of three places have, a bit a half. */
class Halves {
  readonly low: [number, number, number] = [0, 0, 0];
  readonly high: [number, number, number] = [0, 0, 0];

  with(other: Halves): Halves {
    const both = new Halves();
    for (const place of PLACES) {
      both.low[place] = this.low[place] | other.low[place];
      both.high[place] = this.high[place] | other.high[place];
    }
    return both;
  }

  /** The expected frequency of three bytes that match. */
  get frequency(): number {
    return PLACES.reduce<number>((product, place) => product * this.#frequencyAt(place), 1);
  }

  #frequencyAt(place: Place): number {
    let sum = 0;
    for (let byte = 0; byte < BYTES; byte++)
      if (((this.low[place] >>> (byte & 15)) & (this.high[place] >>> (byte >>> 4)) & 1) !== 0)
        sum += FREQUENCIES[byte] as number;
    return sum;
  }
}

const PLACES = [0, 1, 2] as const;
type Place = (typeof PLACES)[number];

function halvesOf(three: Three): Halves {
  const halves = new Halves();
  for (const place of PLACES)
    for (let byte = 0; byte < BYTES; byte++) {
      if (three[place][byte] === 0) continue;
      halves.low[place] |= 1 << (byte & 15);
      halves.high[place] |= 1 << (byte >>> 4);
    }
  return halves;
}

/** The expected frequency of bytes that a bucket with these three would match. */
export function frequencyOf(three: Three): number {
  return halvesOf(three).frequency;
}

/** For each of the three bytes, a table by its low half and one by its high half: bits of buckets. */
export function bucketTables(prefixes: readonly Three[]): Uint8Array {
  const tables = new Uint8Array(PREFIX_BUCKETS_SIZE);
  bucketsOf(prefixes.map(halvesOf)).forEach((bucket, number) => {
    for (const place of PLACES)
      for (let half = 0; half < HALVES; half++) {
        const at = place * 2 * HALVES + half;
        if (((bucket.low[place] >>> half) & 1) !== 0) tables[at] = (tables[at] as number) | (1 << number);
        if (((bucket.high[place] >>> half) & 1) !== 0)
          tables[at + HALVES] = (tables[at + HALVES] as number) | (1 << number);
      }
  });
  return tables;
}

/** Each prefix joins the bucket whose expected frequency grows least; the most frequent prefixes are assigned first. */
function bucketsOf(prefixes: readonly Halves[]): readonly Halves[] {
  const buckets: Halves[] = Array.from({ length: BUCKETS }, () => new Halves());
  const choosing = prefixes.map((halves) => ({ halves, frequency: halves.frequency }));
  choosing.sort((one, other) => other.frequency - one.frequency);
  for (const { halves } of choosing) {
    const costs = buckets.map((bucket) => bucket.with(halves).frequency - bucket.frequency);
    const cheapest = costs.indexOf(Math.min(...costs));
    buckets[cheapest] = (buckets[cheapest] as Halves).with(halves);
  }
  return buckets;
}
