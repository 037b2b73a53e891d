/**
 * Searches a body for the places where any of many literal prefixes may begin: a Teddy prefilter. A prefix is
 * represented by its fingerprint, three bytes. Each of their nibbles is looked up in a table of 16 bucket masks (eight
 * buckets), and only a place where all six masks share a bucket is a candidate. So 16 places take as long as one.
 */
import * as layout from '../layout';

const TABLE: usize = 256 << 4;

function groupsOf(block: v128, low: v128, high: v128): v128 {
  return v128.and(i8x16.swizzle(low, v128.and(block, i8x16.splat(15))), i8x16.swizzle(high, i8x16.shr_u(block, 4)));
}

/** The prefixes that have the byte at `place + nth` there, as a set of 128. */
function kindsOf(place: usize, nth: usize): v128 {
  return v128.load(<usize>layout.PREFIX_BYTES_BASE + nth * TABLE + ((<usize>load<u8>(place + nth)) << 4));
}

/** The prefixes whose fingerprint may be at a place. */
function kindsAt(place: usize): v128 {
  const kinds = v128.and(v128.and(kindsOf(place, 0), kindsOf(place, 1)), kindsOf(place, 2));
  if (!v128.any_true(kinds)) return kinds;
  return v128.and(v128.and(kinds, kindsOf(place, 3)), v128.and(kindsOf(place, 4), kindsOf(place, 5)));
}

/**
 * Searches the places from `from` on, up to `end`, with the tables at PREFIX_BUCKETS_BASE and PREFIX_BYTES_BASE.
 * Writes the candidates in order to PREFIX_CANDIDATES_BASE and their number to HEADER_PREFIX_CANDIDATES; some may be up
 * to 15 bytes past `end`. Returns the address at which to continue.
 */
export function findPrefixes(from: usize, end: usize): usize {
  const firstLow = v128.load(layout.PREFIX_BUCKETS_BASE);
  const firstHigh = v128.load(layout.PREFIX_BUCKETS_BASE, 16);
  const secondLow = v128.load(layout.PREFIX_BUCKETS_BASE, 32);
  const secondHigh = v128.load(layout.PREFIX_BUCKETS_BASE, 48);
  const thirdLow = v128.load(layout.PREFIX_BUCKETS_BASE, 64);
  const thirdHigh = v128.load(layout.PREFIX_BUCKETS_BASE, 80);
  const nothing = i8x16.splat(0);
  const full: usize =
    layout.PREFIX_CANDIDATES_BASE + (layout.MAX_PREFIX_CANDIDATES - 16) * layout.PREFIX_CANDIDATE_STRIDE;
  let put: usize = layout.PREFIX_CANDIDATES_BASE;
  while (from < end && put <= full) {
    const groups = v128.and(
      v128.and(groupsOf(v128.load(from), firstLow, firstHigh), groupsOf(v128.load(from, 1), secondLow, secondHigh)),
      groupsOf(v128.load(from, 2), thirdLow, thirdHigh),
    );
    if (v128.any_true(groups)) {
      let places = i8x16.bitmask(i8x16.ne(groups, nothing));
      do {
        const place = from + ctz(places);
        const kinds = kindsAt(place);
        if (v128.any_true(kinds)) {
          store<u32>(put, <u32>place, layout.PREFIX_CANDIDATE_ADDRESS);
          v128.store(put, kinds, layout.PREFIX_CANDIDATE_MASK);
          put += layout.PREFIX_CANDIDATE_STRIDE;
        }
        places &= places - 1;
      } while (places);
    }
    from += 16;
  }
  store<u32>(
    layout.HEADER_BASE,
    <u32>((put - layout.PREFIX_CANDIDATES_BASE) / layout.PREFIX_CANDIDATE_STRIDE),
    layout.HEADER_PREFIX_CANDIDATES,
  );
  return from;
}
