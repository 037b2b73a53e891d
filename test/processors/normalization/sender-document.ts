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
  return `${[INTRODUCTION, OWN_SENDERS, tableOf(senders, findings), faults(), dialects()].join('\n\n')}\n`;
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

/** `mappings.test.ts` loads the configuration, sends the attributes and compares the columns. */
const OWN_SENDERS = `## Senders of your own

\`normalization\` takes mappings: tables for instrumentations of your own, in the same words as the built-in ones.

\`\`\`yaml
processors:
  normalization:
    mappings:
      - name: acme                       # the column dialect
        markers: [acme.step]             # attributes that only this sender has; also name=value
        scopes: [acme-agents*]           # scopes and services detect it together with one of its attributes or names
        fields:                          # column ← attribute, or a list of which the first usable one counts
          request_model: acme.model
          provider: { attribute: acme.model, before: / }
          input_tokens: { attribute: acme.usage, paths: [in, prompt] }
          output_tokens: { attribute: acme.usage, paths: [out.text, out.thought], sum: true }
          cache_read_tokens: acme.cached
          time_to_first_token_ms: { attribute: acme.first, unit: s }
          input_content: { attribute: acme.request, paths: [messages] }
          output_content: acme.answer
          tool_name: { attribute: acme.tool, when: [execute_tool] }
          conversation_id: [acme.thread, acme.session]
          total_cost: { attribute: acme.micros, unit: micro_usd }
        operations:                      # what the words of an attribute mean; the canonical names are known
          acme.step: { ask: chat, run*: execute_tool }
        span_names: { "plan *": plan }   # where no attribute tells the operation
        cached_tokens: outside           # input_tokens as sent leaves the cached tokens out
        content: [acme.note.*]           # further attributes that hold what people or models wrote
\`\`\`

A span with these attributes

\`\`\`json
{
  "acme.step": "ask",
  "acme.model": "openai/gpt-5-mini",
  "acme.request": "{\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"Hello\\"}]}",
  "acme.usage": "{\\"in\\":100,\\"out\\":{\\"text\\":7,\\"thought\\":5}}",
  "acme.cached": 40,
  "acme.first": 0.25,
  "acme.answer": "Hi!",
  "acme.thread": "thread-1",
  "acme.micros": 1234
}
\`\`\`

gets these columns

\`\`\`json
{
  "dialect": "acme",
  "category": "model_call",
  "operation": "chat",
  "provider": "openai",
  "request_model": "openai/gpt-5-mini",
  "input_tokens": 140,
  "output_tokens": 12,
  "total_tokens": 152,
  "cache_read_tokens": 40,
  "time_to_first_token_ms": 250,
  "input_content": "[{\\"role\\":\\"user\\",\\"content\\":\\"Hello\\"}]",
  "output_content": "Hi!",
  "conversation_id": "thread-1",
  "total_cost": "0.00123400",
  "cost_source": "explicit",
  "price_id": "explicit acme.micros"
}
\`\`\`

- A mapping precedes the built-in dialects on the records that it detects: its fields come first, the built-in names fill the rest. Other
  records are read as before. A mapping without \`markers\`, \`scopes\` and \`services\` is read on every record, after the names of the
  record's own dialect.
- Attributes that fill a column of content are content: \`capture_content\` drops the whole attribute, also where a path takes a part
  of it, and on every record of the pipeline. From a dropped attribute only counts, durations and costs are read, never text.
- \`latency_ms\` is read on log records; that of a span is its duration. \`(body)\` is the body of a log record.
- Numbers that contradict \`cached_tokens\` or \`reasoning_tokens\` have priority, as for every sender.
- Each \`normalization/<name>\` has its own mappings; \`privacy\` and \`pricing\` follow those of their pipeline. A reload applies changes.

\`sluice validate\` reports a mistake with its place. All options: [configuration.md](configuration.md#processor-normalization).

## Where a value comes from

\`sluice explain TRACE --span ID\`, or \`sluice explain FILE\` for a body that is not sent yet, shows for each record: the dialect and the sign
by which it was found, the attribute or path that filled each column, the candidates that lost and why, the attributes that no column
used, and how the cost came about. It runs the stages of the configured pipeline, so its columns are those that the daemon stores.`;

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
