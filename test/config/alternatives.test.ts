/** Where the schema of a shipped component has alternatives, a mistake is told as one in the form that was meant. */
import t from 'tap';
import { mistakesOf } from '../support/config-error.ts';

/** The messages and hints, and the text that the carets mark, without the file and the excerpt. */
async function mistakesIn(processors: string): Promise<readonly string[]> {
  const text = `receivers: { otlp: {} }
exporters: { file: { path: ./x.ndjson } }
processors:
  ${processors}
service:
  ledger: memory
  pipelines: { traces: { receivers: [otlp], exporters: [file] } }
`;
  const parts = (await mistakesOf(text)).split(/^config\.yaml:/mu).filter((part) => part.startsWith('4:'));
  return parts.map((part) => {
    const [, column, message] = /^4:(\d+): error: (.*)/u.exec(part) ?? [];
    const marked = (/\| +(\^+)/u.exec(part)?.[1] ?? '').length;
    const start = Number(column) - 1;
    const hint = /hint: (.*)/u.exec(part)?.[1];
    const place = (text.split('\n')[3] ?? '').slice(start, start + marked);
    return `${place} | ${message}${hint === undefined ? '' : ` | ${hint}`}`;
  });
}

const match = (model: string): string =>
  `pricing: { overrides: [{ id: a, match: { model: ${model} }, prices: [{ rates: { input: 1 } }] }] }`;
const MATCH = 'processors.pricing.overrides[0].match.model';
const MODELS =
  'Which model names the entry prices: one name, a list of names, a prefix, or an expression that must match the whole name. Case does not matter.';
const fields = (sources: string): string =>
  `normalization: { mappings: [{ name: a, fields: { request_model: ${sources} } }] }`;
const FIELD = 'processors.normalization.mappings[0].fields.request_model';
const redact = (rule: string): string => `privacy: { redact: [${rule}] }`;
const RULE = 'processors.privacy.redact[0]';
const PATTERN =
  'pattern: An RE2 expression, without look-around and back-references. All of what it matches is replaced.';

const CASES: readonly (readonly [processors: string, expected: readonly string[]])[] = [
  [
    redact('{ name: a, pattern: "x*" }'),
    [
      `"x*" | ${RULE}.pattern must be an expression that does not match the empty text | write + instead of *, for example`,
    ],
  ],
  [
    redact('{ name: a, pattern: "(b" }'),
    [`"(b" | ${RULE}.pattern must be an RE2 expression: missing closing ): \`(b\``],
  ],
  [
    redact('{ name: a, pattern: "a(?=b)" }'),
    [
      `"a(?=b)" | ${RULE}.pattern must be an RE2 expression: invalid or unsupported Perl syntax: \`(?=\` | look-around and back-references are not known to RE2`,
    ],
  ],
  [match('{ prefx: gpt }'), [`prefx | unknown option "prefx" in ${MATCH} | did you mean "prefix"?`]],
  [match('{ regexp: "a.*" }'), [`regexp | unknown option "regexp" in ${MATCH} | did you mean "regex"?`]],
  [match('{ prefix: 5 }'), [`5 | ${MATCH}.prefix must be text, not 5 | put it in quotes: "5"`]],
  [match('{ prefix: a, case: b }'), [`case | unknown option "case" in ${MATCH} | known options: prefix`]],
  [
    match('{ prefix: a, regex: b }'),
    [`{ prefix: a, regex: b } | ${MATCH} takes only one of these: prefix, or regex | ${MODELS}`],
  ],
  [match('{}'), [`{} | ${MATCH} needs prefix, or regex | ${MODELS}`]],
  [match('5'), [`5 | ${MATCH} must be text or a list or a map of options, not 5 | ${MODELS}`]],
  [match('[]'), [`[] | ${MATCH} needs at least 1 item | Any of these names.`]],
  [match('""'), [`"" | ${MATCH} must be at least 1 character long`]],
  [
    match('[5, {}]'),
    [`5 | ${MATCH}[0] must be text, not 5 | put it in quotes: "5"`, `{} | ${MATCH}[1] must be text, not a map`],
  ],
  [
    fields('[{ atribute: x }, 5, { attribute: y, unit: kg }]'),
    [
      `atribute | unknown option "atribute" in ${FIELD}[0] | did you mean "attribute"?`,
      `5 | ${FIELD}[1] must be text or a map of options, not 5`,
      `kg | ${FIELD}[2].unit must be one of s, ms, ns, timestamp, micro_usd, not "kg"`,
    ],
  ],
  [fields('{ atribute: x }'), [`atribute | unknown option "atribute" in ${FIELD} | did you mean "attribute"?`]],
  [redact('{ prset: email }'), [`prset | unknown option "prset" in ${RULE} | did you mean "preset"?`]],
  [redact('{ name: a }'), [`{ name: a } | ${RULE} lacks the option "pattern" | ${PATTERN}`]],
  [redact('{ name: a, patern: x }'), [`patern | unknown option "patern" in ${RULE} | did you mean "pattern"?`]],
  [
    redact('{ preset: email, name: a }'),
    [`name | ${RULE} may not have the option "name" beside "preset" | it has either preset, or name with pattern`],
  ],
  [
    redact('{ replacement: x, pattern: a, preset: email }'),
    [
      `pattern | ${RULE} may not have the option "pattern" beside "preset" | it has either preset, or name with pattern`,
    ],
  ],
  [redact('{ preset: email, nmae: a }'), [`nmae | unknown option "nmae" in ${RULE} | did you mean "name"?`]],
  [
    redact('{ preset: email, name: a, pattern: x }'),
    [`{ preset: email, name: a, pattern: x } | ${RULE} takes only one of these: preset, or name with pattern`],
  ],
  [redact('{}'), [`{} | ${RULE} needs preset, or name with pattern`]],
  [
    redact('email'),
    [`email | ${RULE} must be a map of options, not "email" | known options: preset, name, pattern, replacement`],
  ],
  [
    'auth: { keys: [{ kye: a-key-of-sixteen-characters, project: demo }] }',
    ['kye | unknown option "kye" in processors.auth.keys[0] | did you mean "key"?'],
  ],
  [
    'normalization: { mappings: [{ name: a, span_names: { "a*b*": chat } }] }',
    [
      '"a*b*" | the key "a*b*" of processors.normalization.mappings[0].span_names must be of the form ^[^*]*\\*?[^*]*$, not "a*b*"',
    ],
  ],
];

for (const [processors, expected] of CASES)
  t.test(processors, async (t) => t.same(await mistakesIn(processors), expected));
