/** The arithmetic by which card numbers and account numbers can be told from other long numbers. */

/** Beginnings and lengths that card networks hand out. Timestamps in any unit of our time begin with 1, so they never do. */
const CARD =
  /^(?:4\d{12}|4\d{15}|4\d{18}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|35\d{14,17}|6\d{15,18}|5[06-8]\d{10,17})$/;

export const isCardForm = (digits: string): boolean => CARD.test(digits);

/** No card has fewer digits than this, or more. */
const SMALLEST_CARD = 10 ** 11;
const LARGEST_CARD = 10 ** 19;

/** What can be said of a number before it is written out: how long it is, and that its first digit is from 2 to 6. */
export function mayBeCard(value: number): boolean {
  if (!(value >= SMALLEST_CARD && value < LARGEST_CARD)) return false;
  let power = SMALLEST_CARD;
  while (value >= power * 10) power *= 10;
  return value >= power * 2 && value < power * 7;
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

/** How long an account number of this country is; 0 for letters that are no country's. */
export const ibanLength = (country: string): number => IBAN_LENGTHS.get(country) ?? 0;

/** ISO 7064: the number with its first four characters moved to the end leaves 1 when divided by 97. */
export function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
