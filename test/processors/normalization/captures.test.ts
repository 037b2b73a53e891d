/**
 * Every value of the captured senders is read correctly or not at all; `docs/dialects.md` is generated from the result.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DIALECTS } from '../../../src/dialects/families.ts';
import { captureFolder, findingsOf, rowsOf, senders } from './captures.ts';
import { Normalized, type Row } from './normalized.ts';
import { documentOf } from './sender-document.ts';
import { faultOf, SENDER_FAULTS } from './sender-faults.ts';

const DOCUMENT = new URL('../../../../docs/dialects.md', import.meta.url);

const CLIENTS: ReadonlySet<unknown> = new Set(
  DIALECTS.filter(({ repeatsCallAbove }) => repeatsCallAbove === true).map(({ id }) => id),
);
const normalized = new Normalized();
const all = senders();
const findings = findingsOf(all, normalized);

for (const { sender, what } of all) {
  t.test(`what ${what} (${sender}) sent is read correctly or not at all`, async (t) => {
    const own = findings.filter((finding) => finding.sender === sender);
    const wrong = own.filter((finding) => finding.outcome === 'wrong' && faultOf(finding) === null);
    t.strictSame(
      wrong.map(({ scenario, field, expected, actual }) => ({ scenario, field, expected, actual })),
      [],
    );
    t.ok(
      own.some(({ outcome }) => outcome === 'exact'),
      'the comparison found something',
    );
  });
}

t.test('no body contains a folder of the machine on which it was recorded', async (t) => {
  for (const { sender, scenarios } of all)
    for (const { file } of Object.values(scenarios).flatMap(({ files }) => files))
      if (readFileSync(join(captureFolder(), sender, file), 'latin1').includes('/tmp/')) t.fail(`${sender}/${file}`);
  t.pass();
});

t.test('every listed fault of a sender still occurs', async (t) => {
  for (const fault of SENDER_FAULTS) {
    const shows = findings.some((finding) => finding.outcome === 'wrong' && faultOf(finding) === fault.reason);
    t.ok(shows, `${fault.sender} ${fault.fields.join(', ')}`);
  }
});

t.test('usage of one call counts once: wrappers are roll-ups, and the leaves are the calls', async (t) => {
  for (const sender of all) {
    for (const [name, scenario] of Object.entries(sender.scenarios)) {
      const rows = rowsOf(normalized, sender, scenario);
      const sum = rows
        .filter((row) => row['duration_ns'] !== undefined && row['usage_scope'] === 'own' && !isClientsOwn(row, sender))
        .filter((row) => !isBelowItsCall(row, rows))
        .reduce((tokens, row) => tokens + Number(row['output_tokens'] ?? 0), 0);
      const called = scenario.calls.reduce((tokens, call) => tokens + Number(call['output_tokens'] ?? 0), 0);
      t.ok(sum <= called + scenario.calls.length, `${sender.sender} ${name}: ${sum} of ${called}`);
    }
  }
});

t.test('a run with tools counts all of its calls where spans of calls report the last one only', async (t) => {
  const voltagent = all.find(({ sender }) => sender === 'voltagent');
  for (const name of ['chat', 'stream', 'tool', 'agent']) {
    const scenario = voltagent?.scenarios[name];
    if (voltagent === undefined || scenario === undefined) return t.fail(name);
    const counted = rowsOf(normalized, voltagent, scenario).filter((row) => row['usage_scope'] === 'own');
    for (const column of ['input_tokens', 'output_tokens', 'total_tokens']) {
      const sum = (rows: readonly Row[]): number => rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
      t.equal(sum(counted), sum(scenario.calls), `${name}: ${column}`);
    }
  }
});

/**
 * The client library and the captured instrumentation each create a span: two records of one call.
 */
function isClientsOwn(row: Row, { sender }: { readonly sender: string }): boolean {
  return sender !== 'anthropic-native' && String(row['scope_name']).startsWith('com.anthropic.sdk.');
}

/** The client library reports the call of the span above it once more. */
function isBelowItsCall(row: Row, rows: readonly Row[]): boolean {
  const above = rows.find(({ span_id }) => span_id === row['parent_span_id']);
  if (above?.['usage_scope'] !== 'own' || above['category'] !== 'model_call') return false;
  const isClients = CLIENTS.has(row['dialect']) || (row['provider'] === 'aws.bedrock' && row['response_id'] == null);
  if (isClients && above['dialect'] !== row['dialect']) return true;
  const isSame = row['response_id'] != null && above['response_id'] === row['response_id'];
  return isSame || (row['dialect'] === 'openinference' && row['response_id'] != null && above['response_id'] == null);
}

t.test('docs/dialects.md is current; if not, run `npm run docs`', async (t) => {
  t.equal(readFileSync(DOCUMENT, 'utf8'), documentOf(all, findings));
});
