/**
 * The presets: common kinds of secrets and personal data. They are scanners instead of patterns, because some need
 * arithmetic and all run on every text: each reads a text once, and only texts near its hint.
 */
import { scanAddresses } from './addresses.ts';
import { scanIbans, scanSocialSecurity } from './account-numbers.ts';
import { KEY_PREFIXES, scanApiKeys, SHORTEST_KEY } from './api-keys.ts';
import { mayBeginCard, scanCards } from './cards.ts';
import { scanEmails } from './emails.ts';
import { mayBeCard } from './number-checks.ts';
import { scanPhones } from './phones.ts';
import type { Hint } from './rule.ts';
import type { Scan } from './scan.ts';
import { HAS_AT, HAS_COLON, HAS_DASH, HAS_DIGIT, HAS_DOT, HAS_LETTER, HAS_SLASH } from './signs.ts';
import { mayBeginLogin, scanBearerTokens, scanJwts, scanPrivateKeys, scanUrlPasswords } from './tokens.ts';
import { PARAMETER_ENDS, scanUrlParameters } from './url-parameters.ts';

export interface Preset {
  readonly hint: Hint;
  /** Left out: the preset does not apply to numbers. */
  readonly numbers?: (value: number) => boolean;
  /** The character classes (see `signsOf`) that a text with a find has, and the length of the shortest one. */
  readonly signs: number;
  readonly shortest: number;
  readonly scan: Scan;
}

/** Between a plus and the first digit of a phone number. */
const SEPARATOR = '[ .()/\\\\-]';

/** Spaces and dashes of three bytes: those that begin with `e2 80`, the minus sign, the ideographic space. */
const TYPOGRAPHIC = ['\\xe2\\x80[\\x80-\\x8a\\x90-\\x95\\xaf]', '\\xe2\\x88\\x92', '\\xe3\\x80\\x80'];

export const PRESETS = {
  api_keys: { hint: { prefixes: KEY_PREFIXES }, signs: HAS_LETTER, shortest: SHORTEST_KEY, scan: scanApiKeys },
  bearer_tokens: {
    hint: { prefixes: ['[Bb][Ee][Aa][Rr][Ee][Rr]', '[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz]'] },
    signs: HAS_LETTER,
    shortest: 15,
    scan: scanBearerTokens,
  },
  email: { hint: { prefixes: ['@'] }, signs: HAS_AT | HAS_DOT, shortest: 6, scan: scanEmails },
  phone: {
    hint: {
      prefixes: [
        ...['', SEPARATOR, SEPARATOR.repeat(2), SEPARATOR.repeat(3)].map((between) => `\\+${between}\\d`),
        '\\d[ .)-]\\d\\d\\d[ .-]\\d\\d\\d\\d',
        '\\d[ .)-][ .)-]\\d\\d\\d[ .-]\\d\\d\\d\\d',
        // With spaces and dashes of typographers.
        '\\+\\xc2\\xa0\\d',
        ...TYPOGRAPHIC.map((between) => `\\+${between}\\d`),
        '[\\x80-\\xbf]\\d\\d\\d[ .-]\\d\\d\\d\\d',
        '\\d\\d\\d\\xc2\\xa0\\d\\d\\d\\d',
        ...TYPOGRAPHIC.map((between) => `\\d\\d\\d${between}\\d\\d\\d\\d`),
      ],
    },
    signs: HAS_DIGIT,
    shortest: 9,
    scan: scanPhones,
  },
  credit_cards: {
    hint: {
      // No network issues numbers that begin with another digit.
      prefixes: [`[2-6]${'[ .\\x80-\\xff\\d-]'.repeat(11)}`],
      rest: mayBeginCard,
    },
    numbers: mayBeCard,
    signs: HAS_DIGIT,
    shortest: 12,
    scan: scanCards,
  },
  iban: {
    hint: { prefixes: ['[A-Za-z][A-Za-z]\\d\\d'] },
    signs: HAS_DIGIT | HAS_LETTER,
    shortest: 15,
    scan: scanIbans,
  },
  private_keys: {
    hint: { prefixes: ['-----BEGIN'] },
    signs: HAS_DASH | HAS_LETTER,
    shortest: 27,
    scan: scanPrivateKeys,
  },
  jwt: { hint: { prefixes: ['eyJ'] }, signs: HAS_LETTER | HAS_DOT, shortest: 15, scan: scanJwts },
  ip_address: {
    // The last one is for an address of one group, such as fe80::, which ends with its colons.
    hint: { prefixes: ['\\d\\.\\d', ':[0-9A-Fa-f]', '[0-9A-Fa-f]::'] },
    signs: HAS_DIGIT,
    shortest: 6,
    scan: scanAddresses,
  },
  us_ssn: {
    hint: {
      prefixes: ['\\d-\\d\\d-\\d', '\\d\\d\\xe2\\x80[\\x90-\\x95]\\d\\d\\d\\d', '\\d\\d\\xe2\\x88\\x92\\d\\d\\d\\d'],
    },
    signs: HAS_DIGIT,
    shortest: 11,
    scan: scanSocialSecurity,
  },
  url_passwords: {
    hint: { prefixes: [':[/\\\\][/\\\\]'], rest: mayBeginLogin },
    signs: HAS_COLON | HAS_SLASH | HAS_AT,
    shortest: 6,
    scan: scanUrlPasswords,
  },
  url_parameters: { hint: { prefixes: PARAMETER_ENDS }, signs: HAS_LETTER, shortest: 6, scan: scanUrlParameters },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];
