/**
 * Openings in eight groups, and the tables by which `findOpenings` (src/pdata/wasm/openings.ts) finds a group. A table knows halves of bytes
 * only, so a group is also found by what mixes the halves of its members: those that look alike belong together.
 */
import { OPENING_GROUPS_SIZE } from '../../../pdata/layout.ts';

/** A set of bytes, as one entry a byte. */
export type ByteSet = Uint8Array;

/** The three bytes by which an opening is found. */
export type Three = readonly [ByteSet, ByteSet, ByteSet];

/** A bit each in a byte. */
const GROUPS = 8;
const HALVES = 16;
const BYTES = 256;

/** What prose and JSON are full of, the commonest first: openings are looked for by those of their bytes that are rare. */
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

  /** How often such three bytes are to be expected. */
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

/** How often three bytes are to be expected that are found like these. */
export function frequencyOf(three: Three): number {
  return halvesOf(three).frequency;
}

/** For each of the three bytes, a table by its low half and one by its high half: bits of groups. */
export function groupTables(openings: readonly Three[]): Uint8Array {
  const tables = new Uint8Array(OPENING_GROUPS_SIZE);
  groupsOf(openings.map(halvesOf)).forEach((group, number) => {
    for (const place of PLACES)
      for (let half = 0; half < HALVES; half++) {
        const at = place * 2 * HALVES + half;
        if (((group.low[place] >>> half) & 1) !== 0) tables[at] = (tables[at] as number) | (1 << number);
        if (((group.high[place] >>> half) & 1) !== 0)
          tables[at + HALVES] = (tables[at + HALVES] as number) | (1 << number);
      }
  });
  return tables;
}

/** Each opening joins the group that becomes the least commoner by it; the commonest openings choose first. */
function groupsOf(openings: readonly Halves[]): readonly Halves[] {
  const groups: Halves[] = Array.from({ length: GROUPS }, () => new Halves());
  const choosing = openings.map((halves) => ({ halves, frequency: halves.frequency }));
  choosing.sort((one, other) => other.frequency - one.frequency);
  for (const { halves } of choosing) {
    const costs = groups.map((group) => group.with(halves).frequency - group.frequency);
    const cheapest = costs.indexOf(Math.min(...costs));
    groups[cheapest] = (groups[cheapest] as Halves).with(halves);
  }
  return groups;
}
