/**
 * The forms of API keys: their beginnings and what must follow. The scanner and the literal prefixes of the search come
 * from one table.
 */
import {
  ALPHANUMERIC,
  BASE64_URL,
  classOf,
  DASH,
  DIGIT,
  DOT,
  endOfMixedRun,
  endOfRun,
  HEX,
  HEX_LOWER,
  LETTER,
  LONGEST_RUN,
  type Run,
  type Scan,
  UPPER,
  WORD,
} from './scan.ts';

/** A run of characters of some classes. The next part follows a separator that is in none of them. */
interface Part {
  readonly classes: number;
  /** Characters besides those of the classes. */
  readonly also?: string;
  readonly least: number;
  /** Left out: any number. Only the last part of a form may leave it out. */
  readonly most?: number;
  /** The separator before this part. */
  readonly after?: string;
}

interface KeyForm {
  readonly begins: readonly string[];
  readonly parts: readonly Part[];
  /** The first characters of the key include a digit; without this condition ordinary words would match. */
  readonly needsDigit?: boolean;
}

/** A required digit is searched for in this many characters and the next one. */
const DIGIT_WITHIN = 40;
const LOWER_HEX = DIGIT | HEX_LOWER;

const form = (begins: string, classes: number, least: number, more: Omit<Part, 'classes' | 'least'> = {}): KeyForm => ({
  begins: begins.split(' '),
  parts: [{ classes, least, ...more }],
});

/** The first form that matches is used. */
export const KEY_FORMS: readonly KeyForm[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse and many others
  { ...form('sk-', BASE64_URL, 16), needsDigit: true },
  form('pk-lf-', ALPHANUMERIC | DASH, 16),
  form('sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_', ALPHANUMERIC, 10), // Stripe, Clerk
  form('whsec_', BASE64_URL, 16, { also: '+/=' }),
  form('AKIA ASIA AROA AIDA ABIA ACCA', UPPER | DIGIT, 16, { most: 16 }), // AWS
  form('AIza', BASE64_URL, 30), // Google
  form('ya29.', BASE64_URL, 16),
  form('GOCSPX-', BASE64_URL, 16),
  form('ghp_ gho_ ghu_ ghs_ ghr_', ALPHANUMERIC, 20), // GitHub
  form('github_pat_', WORD, 20),
  ...['glpat-', 'glptt-', 'glrt-', 'gldt-', 'glft-', 'glsoat-', 'glcbt-'].map((begin) =>
    form(begin, BASE64_URL | DOT, 16),
  ), // GitLab
  form('xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-', ALPHANUMERIC | DASH, 10), // Slack
  form('xapp-', ALPHANUMERIC | DASH, 10),
  form('hooks.slack.com/services/', ALPHANUMERIC, 16, { also: '/' }),
  form('hf_', ALPHANUMERIC, 20), // Hugging Face
  form('gsk_', ALPHANUMERIC, 20), // Groq
  form('xai-', ALPHANUMERIC, 20),
  form('pplx-', ALPHANUMERIC, 20),
  form('nvapi-', BASE64_URL, 20),
  form('r8_', ALPHANUMERIC, 20), // Replicate
  form('tgp_v1_', BASE64_URL, 20), // Together
  form('lsv2_pt_ lsv2_sk_', WORD, 20), // LangSmith
  form('pcsk_', WORD, 20), // Pinecone
  {
    begins: ['SG.'], // SendGrid
    parts: [
      { classes: BASE64_URL, least: 16, most: 64 },
      { classes: BASE64_URL, least: 16, after: '.' },
    ],
  },
  form('npm_', ALPHANUMERIC, 20),
  form('pypi-', BASE64_URL, 20),
  form('dop_v1_', LOWER_HEX, 32), // DigitalOcean
  form('dapi', LOWER_HEX, 32, { most: 32 }), // Databricks
  form('hvs.', BASE64_URL, 20), // Vault
  form('shpat_ shpca_ shppa_ shpss_', HEX, 32, { most: 32 }), // Shopify
  form('sq0atp- sq0csp-', BASE64_URL, 20), // Square
  form('AGE-SECRET-KEY-1', UPPER | DIGIT, 20),
  {
    begins: ['slc_', 'slr_'], // Sluice
    parts: [
      { classes: ALPHANUMERIC, least: 8, most: 8 },
      { classes: BASE64_URL, least: 20, after: '_' },
    ],
  },
];

/** No key is shorter. */
export const SHORTEST_KEY = Math.min(
  ...KEY_FORMS.flatMap(({ begins, parts }) =>
    begins.map((begin) => begin.length + parts.reduce((sum, { least, after = '' }) => sum + after.length + least, 0)),
  ),
);

/** The fewest characters of a prefix: the search over a body compares three bytes first. */
const MIN_PREFIX = 3;
const PREFIX_CHARACTERS = /^[!-~]*$/;

/**
 * The literal prefixes of key forms, in the notation of `Hint.prefixes`: for each position the characters of all
 * beginnings of a form, as long as the shortest one. Throws for a form without a prefix, because its keys would never
 * be found in a body.
 */
export function prefixesOf(forms: readonly KeyForm[]): readonly string[] {
  return forms.map(({ begins }) => {
    // A slash may be escaped in JSON, so a prefix ends before it.
    const prefixes = begins.map((begin) => begin.replace(/\/.*/, ''));
    const length = Math.min(...prefixes.map((prefix) => prefix.length));
    if (begins.length === 0 || length < MIN_PREFIX || !prefixes.every((prefix) => PREFIX_CHARACTERS.test(prefix)))
      throw new Error(`an API key needs a literal prefix of ${MIN_PREFIX} ASCII characters, not "${begins.join(' ')}"`);
    return Array.from({ length }, (_, place) => {
      const characters = [...new Set(prefixes.map((prefix) => prefix.charAt(place)))];
      return characters.length === 1 ? literal(characters[0] ?? '') : `[${characters.map(literal).join('')}]`;
    }).join('');
  });
}

export const KEY_PREFIXES: readonly string[] = prefixesOf(KEY_FORMS);

function literal(character: string): string {
  return /[A-Za-z0-9_]/.test(character) ? character : `\\${character}`;
}

interface Beginning {
  readonly text: string;
  readonly form: KeyForm;
}

/** By the code of the first character. */
const BY_FIRST: readonly (readonly Beginning[] | undefined)[] = beginningsByFirst();

function beginningsByFirst(): (readonly Beginning[] | undefined)[] {
  const table: Beginning[][] = [];
  for (const keyForm of KEY_FORMS)
    for (const text of keyForm.begins) (table[text.charCodeAt(0)] ??= []).push({ text, form: keyForm });
  return Array.from({ length: 128 }, (_, code) => table[code]);
}

/** A key starts at the beginning of a word. */
export const scanApiKeys: Scan = (text, from, end, found, cut) => {
  let at = from;
  let before = at === 0 ? 0 : classOf(text.charCodeAt(at - 1));
  while (at < end) {
    const code = text.charCodeAt(at);
    const beginnings = (before & ALPHANUMERIC) === 0 && code < 128 ? BY_FIRST[code] : undefined;
    const to = beginnings === undefined ? -1 : keyAt(text, at, beginnings, cut);
    if (to < 0) {
      before = classOf(code);
      at++;
    } else {
      found.push(at, to);
      if (cut.length > 0) return to;
      before = classOf(text.charCodeAt(to - 1));
      at = to;
    }
  }
  return at;
};

function keyAt(text: string, at: number, beginnings: readonly Beginning[], cut: Run[]): number {
  for (const { text: begin, form: keyForm } of beginnings) {
    if (!text.startsWith(begin, at)) continue;
    const to = endOfParts(text, at + begin.length, keyForm, cut);
    if (to >= 0) return to;
  }
  return -1;
}

function endOfParts(text: string, from: number, { parts, needsDigit }: KeyForm, cut: Run[]): number {
  if (needsDigit === true && !hasDigit(text, from)) return -1;
  let at = from;
  for (const { classes, also = '', least, most = LONGEST_RUN, after = '' } of parts) {
    if (!text.startsWith(after, at)) return -1;
    at += after.length;
    const to = also === '' ? endOfRun(text, at, classes, most) : endOfMixedRun(text, at, { classes, also });
    if (to - at < least) return -1;
    if (to - at === LONGEST_RUN) cut.push({ classes, also });
    at = to;
  }
  return at;
}

function hasDigit(text: string, from: number): boolean {
  const at = endOfRun(text, from, LETTER | (BASE64_URL & ~ALPHANUMERIC), DIGIT_WITHIN);
  return (classOf(text.charCodeAt(at)) & DIGIT) !== 0;
}
