/** Renders `docs/dialects.md` out of what the captures show. */
import { DIALECTS } from '../../../src/dialects/families.ts';
import { CALL_FIELDS, type ComparedField, type Finding, SCENARIO_FIELDS, type Sender } from './captures.ts';
import { faultOf, SENDER_FAULTS } from './sender-faults.ts';

const FIELDS: readonly ComparedField[] = [...CALL_FIELDS, ...SCENARIO_FIELDS];

export function documentOf(senders: readonly Sender[], findings: readonly Finding[]): string {
  return `${[INTRODUCTION, tableOf(senders, findings), faults(), dialects()].join('\n\n')}\n`;
}

const INTRODUCTION = `# Dialects

Instrumentations say the same things under different names. The \`normalization\` processor reads them all into the same columns;
what it knows about each sender is in \`src/dialects\`. This page is written by a test from bodies that real instrumentations sent:
it can not claim more than what was read.

How columns are filled:

- The dialect is recognised by attributes that only it uses, then by the scope, then by attributes that suggest it, then by the
  service. Its own names are read first, the names of all others after that; the first usable value wins, nothing is added up.
- Token counts must be whole, not negative and below 2^53; anything else is left out and the rest of the record kept. Digits in
  a string count as a number.
- \`input_tokens\` includes tokens read from and written to a cache, \`output_tokens\` includes reasoning, whatever the sender does.
  Whether the sender counts that way is decided by attributes that prove it, by arithmetic with the total, then by what is known of it.
- \`total_tokens\` is the sum of both, or what the sender says where that is more.
- \`usage_scope\` is \`rollup\` on agents, workflows and other frames: their usage repeats that of the calls below them.
- \`finish_reasons\` keeps the sender's own words. \`provider\` is one canonical name; a framework's name is no provider.
- Where a sender has one name for the model asked for and the model that answered, a dated name is \`response_model\`, any other
  \`request_model\`.
- Content columns refer to the attributes they show, which are then not repeated among \`attributes\`.`;

function tableOf(senders: readonly Sender[], findings: readonly Finding[]): string {
  const head = `| Sender | ${FIELDS.map((field) => `\`${field}\``).join(' | ')} |`;
  const rule = `|---|${FIELDS.map(() => '---').join('|')}|`;
  const rows = senders.map(({ sender, what }) => {
    const own = findings.filter((finding) => finding.sender === sender);
    return `| ${what} (\`${sender}\`) | ${FIELDS.map((field) => cell(own.filter((one) => one.field === field))).join(' | ')} |`;
  });
  return [
    '## What was read from real senders',
    '',
    'Each cell compares the column with what the model behind the sender really answered: exact / all. `–`: the sender does not say',
    'it there. `†`: the sender itself says something else, see below. Nothing is read otherwise than it was sent.',
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
    '## † What senders report otherwise than it was',
    '',
    '| Sender | Columns | Scenarios | It |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function dialects(): string {
  const rows = DIALECTS.map(({ id, sources }) => `| \`${id}\` | ${(sources ?? []).join('; ')} |`);
  return [
    '## Dialects that are known',
    '',
    'Those without a row above are read as their makers document them.',
    '',
    '| `dialect` | Facts from |',
    '|---|---|',
    ...rows,
  ].join('\n');
}
