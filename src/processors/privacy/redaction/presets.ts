/**
 * The kinds of secrets and personal data everybody has. They are scanners rather than configured patterns: some need
 * arithmetic, and all run over everything, so each looks only where its hint is found, and never back over what it has seen.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { findCards, mayBeginCard } from './cards.ts';
import { ibanLength, mayBeCard, passesMod97 } from './number-checks.ts';
import { type Hint, NOTHING, type Stretches } from './rule.ts';

interface Preset {
  readonly hint: Hint;
  readonly numbers: ((value: number) => boolean) | null;
  find(text: string): Stretches;
}

/**
 * Beginnings that providers give their keys, and what must follow. No part that repeats without bound is followed by another,
 * so a place is left after as many steps as the shortest key has.
 */
const API_KEYS = [
  'sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{16,}', // OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse and many others
  'pk-lf-[A-Za-z0-9-]{16,}',
  '[srp]k_(?:live|test)_[A-Za-z0-9]{10,}', // Stripe, Clerk
  'whsec_[A-Za-z0-9+/=_-]{16,}',
  '(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}', // AWS
  'AIza[A-Za-z0-9_-]{30,}', // Google
  'ya29\\.[A-Za-z0-9_-]{16,}',
  'GOCSPX-[A-Za-z0-9_-]{16,}',
  'gh[pousr]_[A-Za-z0-9]{20,}', // GitHub
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl(?:pat|ptt|rt|dt|ft|soat|cbt)-[A-Za-z0-9_.-]{16,}', // GitLab
  'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
  'xapp-[A-Za-z0-9-]{10,}',
  'hooks\\.slack\\.com/services/[A-Za-z0-9/]{16,}',
  'hf_[A-Za-z0-9]{20,}', // Hugging Face
  'gsk_[A-Za-z0-9]{20,}', // Groq
  'xai-[A-Za-z0-9]{20,}',
  'pplx-[A-Za-z0-9]{20,}',
  'nvapi-[A-Za-z0-9_-]{20,}',
  'r8_[A-Za-z0-9]{20,}', // Replicate
  'tgp_v1_[A-Za-z0-9_-]{20,}', // Together
  'lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}', // LangSmith
  'pcsk_[A-Za-z0-9_]{20,}', // Pinecone
  'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,}', // SendGrid
  'npm_[A-Za-z0-9]{20,}',
  'pypi-[A-Za-z0-9_-]{20,}',
  'dop_v1_[a-f0-9]{32,}', // DigitalOcean
  'dapi[a-f0-9]{32}', // Databricks
  'hvs\\.[A-Za-z0-9_-]{20,}', // Vault
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}', // Shopify
  'sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}', // Square
  'AGE-SECRET-KEY-1[A-Z0-9]{20,}',
  'slc_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{20,}', // Sluice
];

/** The beginnings alone. */
const API_KEY_HINT: Hint = {
  openings: [
    'sk-',
    'pk-lf-',
    '[srp]k_[lt][ie][vs]',
    'whsec_',
    'A[KSRIBC][IODC]A[A-Z0-9]',
    'AIza',
    'ya29',
    'GOCSPX',
    'gh[pousr]_',
    'github_pat',
    'glpat-',
    'glptt-',
    'glrt-',
    'gldt-',
    'glft-',
    'glsoat-',
    'glcbt-',
    'xox[abeoprs]-',
    'xapp-',
    'hooks\\.slack',
    'hf_',
    'gsk_',
    'xai-',
    'pplx-',
    'nvapi-',
    'r8_',
    'tgp_v1_',
    'lsv2_',
    'pcsk_',
    'SG\\.',
    'npm_',
    'pypi-',
    'dop_v1_',
    'dapi[a-f0-9]',
    'hvs\\.',
    'shpat_',
    'shpca_',
    'shppa_',
    'shpss_',
    'sq0',
    'AGE-SEC',
    'slc_',
  ],
};

const API_KEY = new RegExp(`(?<![A-Za-z0-9])(?:${API_KEYS.join('|')})`, 'g');
const BEARER =
  /(?:bearer[ \t]{1,4}|authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:basic|bearer|token|negotiate|digest|apikey)[ \t]{1,4})?)(?=[^ ])/gi;
const CREDENTIAL_CHARACTERS = /[A-Za-z0-9._~+/=:-]{8,}/y;
/** After `bearer` alone only what is no word of prose. */
const TOKEN_LIKE = /[0-9_.=~+/]|.{20}/;

const PHONE =
  /(?<![\w+])\+(?:[ .()/-]{0,2}\d){8,15}|(?<![\w.+-])(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?!\d)/g;
const IBAN_START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g;
const PEM_BEGIN = /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
const BASE64_RUN = /[A-Za-z0-9_-]*/y;
const IPV4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)/g;
const IPV6 = /(?<![\w:.])[0-9A-Fa-f:]{3,39}(?:\.\d{1,3}){0,3}(?![\w:])/g;
const SSN = /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/g;
const URL_PASSWORD = /:\/\/[^\s/:@"'<>]{0,256}:([^\s/@"'<>]{1,256})@/g;

/** The same over bytes, before anything is decoded, and how many of them it looks at. */
const URL_LOGIN = /^:[/\\]{2,6}[^/:@\s]{0,256}:[^/@\s]{1,256}@/;
const URL_LOGIN_BYTES = 521;

const LOCAL_PART = /[\p{L}\p{N}._%+-]/u;
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}[\p{L}][\p{L}\p{N}-]{1,62}/uy;
const MAX_LOCAL_PART = 64;

/** Between a plus and the first digit of a phone number. */
const SEPARATOR = '[ .()/\\\\-]';

export const PRESETS = {
  api_keys: { hint: API_KEY_HINT, numbers: null, find: (text) => matches(API_KEY, text) },
  bearer_tokens: {
    hint: {
      openings: ['[Bb][Ee][Aa][Rr][Ee][Rr]', '[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz]'],
    },
    numbers: null,
    find: findBearerTokens,
  },
  email: { hint: { openings: ['@'] }, numbers: null, find: findEmails },
  phone: {
    hint: {
      openings: [
        ...['', SEPARATOR, SEPARATOR.repeat(2), SEPARATOR.repeat(3)].map((between) => `\\+${between}\\d`),
        '\\d[ .)-]\\d\\d\\d[ .-]\\d\\d\\d\\d',
        '\\d[ .)-][ .)-]\\d\\d\\d[ .-]\\d\\d\\d\\d',
      ],
    },
    numbers: null,
    find: (text) => matches(PHONE, text),
  },
  credit_cards: {
    hint: {
      // No network hands out numbers that begin with another digit.
      openings: [`[2-6]${'[ .\\x80-\\xff\\d-]'.repeat(11)}`],
      rest: mayBeginCard,
    },
    numbers: mayBeCard,
    find: findCards,
  },
  iban: {
    hint: { openings: ['[A-Za-z][A-Za-z]\\d\\d'] },
    numbers: null,
    find: findIbans,
  },
  private_keys: { hint: { openings: ['-----BEGIN'] }, numbers: null, find: findPrivateKeys },
  jwt: { hint: { openings: ['eyJ'] }, numbers: null, find: findJwts },
  ip_address: {
    hint: { openings: ['\\d\\.\\d', ':[0-9A-Fa-f]'] },
    numbers: null,
    find: findAddresses,
  },
  us_ssn: {
    hint: { openings: ['\\d-\\d\\d-\\d'] },
    numbers: null,
    find: (text) => matches(SSN, text),
  },
  url_passwords: {
    hint: {
      openings: [':[/\\\\][/\\\\]'],
      rest: (bytes, from, end) => URL_LOGIN.test(bytes.toString('latin1', from, Math.min(from + URL_LOGIN_BYTES, end))),
    },
    numbers: null,
    find: findUrlPasswords,
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

function matches(expression: RegExp, text: string): Stretches {
  const found: number[] = [];
  for (const match of text.matchAll(expression)) found.push(match.index, match.index + match[0].length);
  return found;
}

/** The token alone is replaced, the word before it stays. */
function findBearerTokens(text: string): Stretches {
  const found: number[] = [];
  for (const match of text.matchAll(BEARER)) {
    const from = match.index + match[0].length;
    CREDENTIAL_CHARACTERS.lastIndex = from;
    const token = CREDENTIAL_CHARACTERS.exec(text)?.[0];
    const isProse = /^bearer/i.test(match[0]) && token !== undefined && !TOKEN_LIKE.test(token);
    if (token !== undefined && !isProse && from >= (found.at(-1) ?? 0)) found.push(from, from + token.length);
  }
  return found;
}

function findEmails(text: string): Stretches {
  const found: number[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const floor = Math.max(found.at(-1) ?? 0, at - MAX_LOCAL_PART);
    let from = at;
    while (from > floor && LOCAL_PART.test(text.charAt(from - 1))) from--;
    if (from === at) continue;
    DOMAIN.lastIndex = at + 1;
    const domain = DOMAIN.exec(text)?.[0];
    if (domain !== undefined) found.push(from, at + 1 + domain.length);
  }
  return found;
}

function findIbans(text: string): Stretches {
  const found: number[] = [];
  for (const { index } of text.matchAll(IBAN_START)) {
    const length = ibanLength(text.slice(index, index + 2).toUpperCase());
    if (length === 0 || index < (found.at(-1) ?? 0)) continue;
    let iban = '';
    let at = index;
    while (iban.length < length && at < text.length) {
      const character = text.charAt(at++);
      if (/[A-Za-z0-9]/.test(character)) iban += character.toUpperCase();
      else if (!/[ \u00a0.-]/.test(character) || /[ \u00a0.-]/.test(text.charAt(at))) break;
    }
    if (iban.length === length && !/[A-Za-z0-9]/.test(text.charAt(at)) && passesMod97(iban)) found.push(index, at);
  }
  return found;
}

/** From the first line to the last, or to the end of the text when the last line is missing. */
function findPrivateKeys(text: string): Stretches {
  const found: number[] = [];
  for (const { index } of text.matchAll(PEM_BEGIN)) {
    if (index < (found.at(-1) ?? 0)) continue;
    const end = text.indexOf('-----END', index);
    const close = end < 0 ? -1 : text.indexOf('-----', end + 8);
    found.push(index, close < 0 || close > end + 80 ? text.length : close + 5);
  }
  return found;
}

/** Three parts in base64 with dots between them; the first begins a JSON object. */
function findJwts(text: string): Stretches {
  const found: number[] = [];
  for (let from = text.indexOf('eyJ'); from >= 0; ) {
    const header = endOfRun(text, from);
    const payload = text.charAt(header) === '.' ? endOfRun(text, header + 1) : header;
    let next = header;
    if (header - from >= 10 && payload - header > 4) {
      next = text.charAt(payload) === '.' ? endOfRun(text, payload + 1) : payload;
      found.push(from, next);
    }
    from = text.indexOf('eyJ', next);
  }
  return found;
}

function endOfRun(text: string, from: number): number {
  BASE64_RUN.lastIndex = from;
  return from + (BASE64_RUN.exec(text)?.[0].length ?? 0);
}

function findAddresses(text: string): Stretches {
  const found: number[] = [];
  for (const { index, 0: address } of text.matchAll(IPV4))
    if (isIPv4(address)) found.push(index, index + address.length);
  if (!text.includes(':')) return found;
  const wider: number[] = [];
  for (const { index, 0: address } of text.matchAll(IPV6))
    if (address.length >= 6 && /\d/.test(address) && isIPv6(address)) wider.push(index, index + address.length);
  return wider.length === 0 ? found : sorted([...found, ...wider]);
}

function findUrlPasswords(text: string): Stretches {
  if (!text.includes('://')) return NOTHING;
  const found: number[] = [];
  for (const match of text.matchAll(URL_PASSWORD)) {
    const to = match.index + match[0].length - 1;
    found.push(to - (match[1]?.length ?? 0), to);
  }
  return found;
}

/** In order, without those inside others. */
function sorted(stretches: number[]): Stretches {
  const pairs: [number, number][] = [];
  for (let index = 0; index < stretches.length; index += 2)
    pairs.push([stretches[index] as number, stretches[index + 1] as number]);
  pairs.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const result: number[] = [];
  for (const [from, to] of pairs) if (from >= (result.at(-1) ?? 0)) result.push(from, to);
  return result;
}
