/** Renders `docs/dialects.md` from the findings of the captures. `npm run docs` writes it. */
import { DIALECTS } from '../../../src/dialects/families.ts';
import {
  CALL_FIELDS,
  type ComparedField,
  type Finding,
  findingsOf,
  SCENARIO_FIELDS,
  type Sender,
  senders,
} from './captures.ts';
import { Normalized } from './normalized.ts';
import { faultOf, SENDER_FAULTS } from './sender-faults.ts';

const FIELDS: readonly ComparedField[] = [...CALL_FIELDS, ...SCENARIO_FIELDS];

/** The whole page. */
export function dialectsPage(): string {
  const all = senders();
  return documentOf(all, findingsOf(all, new Normalized()));
}

export function documentOf(senders: readonly Sender[], findings: readonly Finding[]): string {
  return `${[INTRODUCTION, tableOf(senders, findings), faults(), dialects()].join('\n\n')}\n`;
}

const INTRODUCTION = `# Dialects

Instrumentations use different names for the same facts. The \`normalization\` processor reads them into the same columns; the facts about
each sender are in \`src/dialects\`. \`npm run docs\` generates this page from recorded bodies of real instrumentations.

How columns are filled:

- The dialect is recognized by attributes that only it uses, then by the scope, then by attributes that suggest it, then by the
  service. Its own names are read first, then the names of all other dialects. The first valid value is used; values are not added.
- Token counts must be whole, not negative and below 2^53; other values are ignored and the rest of the record is stored. A string of
  digits counts as a number.
- \`input_tokens\` includes tokens read from and written to a cache, and \`output_tokens\` includes reasoning, for every sender. Attributes
  that prove how the sender counts decide, then arithmetic with the total, then the facts about the sender.
- \`total_tokens\` is the sum of both, or the sender's total if that is larger.
- \`usage_scope\` is \`rollup\` on agents, workflows and other frames: their usage repeats that of the calls below them.
- \`finish_reasons\` keeps the sender's own words. \`provider\` is one canonical name; a framework's name is no provider.
- If a sender has one name for the requested model and the model that answered, a dated name is \`response_model\`, any other name
  \`request_model\`.
- Content columns refer to their attributes; these are then not repeated in \`attributes\`.`;

function tableOf(senders: readonly Sender[], findings: readonly Finding[]): string {
  const head = `| Sender | ${FIELDS.map((field) => `\`${field}\``).join(' | ')} |`;
  const rule = `|---|${FIELDS.map(() => '---').join('|')}|`;
  const rows = senders.map(({ sender, what }) => {
    const own = findings.filter((finding) => finding.sender === sender);
    return `| ${what} (\`${sender}\`) | ${FIELDS.map((field) => cell(own.filter((one) => one.field === field))).join(' | ')} |`;
  });
  return [
    '## Recorded senders',
    '',
    'Each cell compares the column with the real answer of the model: exact / all. `–`: the sender does not report it. `†`: the sender',
    'reports another value, see below. Every value is read as it was sent.',
    '',
    head,
    rule,
    ...rows,
  ].join('\n');
}

function cell(findings: readonly Finding[]): string {
  if (findings.length === 0) return ' ';
  const exact = findings.filter(({ outcome }) => outcome === 'exact').length;
  const faulty = findings.some((finding) => finding.outcome === 'wrong' && faultOf(finding) !== null);
  const wrong = findings.some((finding) => finding.outcome === 'wrong' && faultOf(finding) === null);
  if (exact === 0 && !faulty && !wrong) return '–';
  return `${exact}/${findings.length}${faulty ? ' †' : ''}${wrong ? ' **wrong**' : ''}`;
}

function faults(): string {
  const rows = SENDER_FAULTS.map(
    ({ sender, scenarios, fields, reason }) =>
      `| \`${sender}\` | ${fields.map((field) => `\`${field}\``).join(', ')} | ${scenarios?.join(', ') ?? 'all'} | ${reason} |`,
  );
  return [
    '## † Values that senders report differently',
    '',
    '| Sender | Columns | Scenarios | The sender |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function dialects(): string {
  const rows = DIALECTS.map(({ id, sources }) => `| \`${id}\` | ${(sources ?? []).join('; ')} |`);
  return [
    '## Known dialects',
    '',
    'Dialects without a row above are read according to their documentation.',
    '',
    '| `dialect` | Sources |',
    '|---|---|',
    ...rows,
  ].join('\n');
}
