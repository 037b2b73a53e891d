/** Arithmetic that distinguishes card and account numbers from other long numbers. */

/**
 * The possible lengths of a card number that begins with these four digits, one bit each, as networks issue them.
 * Present timestamps begin with 1 in every unit, and no card number does.
 */
export function cardLengths(first: number): number {
  const two = Math.floor(first / 100);
  const three = Math.floor(first / 10);
  if (two >= 40 && two <= 49) return bits(13, 13) | bits(16, 16) | bits(19, 19);
  if ((two >= 51 && two <= 55) || (first >= 2221 && first <= 2720)) return bits(16, 16);
  if (two === 34 || two === 37) return bits(15, 15);
  if (two === 35) return bits(16, 19);
  if ((three >= 300 && three <= 305) || two === 36 || two === 38 || two === 39) return bits(14, 19);
  if (two >= 60 && two <= 69) return bits(16, 19);
  return two === 50 || (two >= 56 && two <= 58) ? bits(12, 19) : 0;
}

/** The bits of the lengths from `least` to `most`. */
const bits = (least: number, most: number): number => (2 << most) - (1 << least);

/** No card has fewer digits than this, or more. */
const SMALLEST_CARD = 10 ** 11;
const LARGEST_CARD = 10 ** 19;

/** A check before a number is converted to digits, of either sign: its length, and a first digit from 2 to 6. */
export function mayBeCard(value: number): boolean {
  const size = Math.abs(value);
  if (!(size >= SMALLEST_CARD && size < LARGEST_CARD)) return false;
  let power = SMALLEST_CARD;
  while (size >= power * 10) power *= 10;
  return size >= power * 2 && size < power * 7;
}

/** Lengths of account numbers by country, as registered. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The length of an account number of a country, given by the codes of its two capital letters; 0: no country. */
export function ibanLength(first: number, second: number): number {
  return LENGTH_BY_COUNTRY[(first - CAPITAL_A) * LETTERS + second - CAPITAL_A] as number;
}

const CAPITAL_A = 0x41;
const LETTERS = 26;
const LENGTH_BY_COUNTRY = Uint8Array.from({ length: LETTERS * LETTERS }, (_, place) => {
  const first = String.fromCharCode(CAPITAL_A + Math.floor(place / LETTERS));
  return IBAN_LENGTHS.get(first + String.fromCharCode(CAPITAL_A + (place % LETTERS))) ?? 0;
});
