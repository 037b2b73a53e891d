/** The content of every captured sender is read into roles and parts: prompts, instructions, answers and tool calls. */
import t, { type Test } from 'tap';
import { isObject, parseJson } from '../../src/pdata/exact-json.ts';
import { type ContentRow, readRecord } from '../../src/messages/read-record.ts';
import type { Part } from '../../src/messages/message.ts';
import { rowsOf, type Sender, senders } from '../processors/normalization/captures.ts';
import { Normalized, type Row } from '../processors/normalization/normalized.ts';

type Scenario = Sender['scenarios'][string];

const normalized = new Normalized();
const ROLES: ReadonlySet<string | null> = new Set(['system', 'user', 'assistant', 'tool', null]);
/** Senders that print an object of their language instead of the prompt or of the answer. */
const PRINTED: ReadonlySet<string> = new Set(['openinference-llama-index', 'mlflow-anthropic']);

const OUTPUTS: ReadonlySet<string> = new Set(['output_content', 'tool_result', 'retrieval_documents']);

interface Found extends Part {
  readonly source: string;
  readonly role: string | null;
  readonly category: unknown;
}

const partsOfRow = (row: Row): readonly Found[] =>
  readRecord(row as ContentRow).flatMap(({ source, messages }) =>
    messages.flatMap(({ role, parts }) => parts.map((part) => ({ ...part, source, role, category: row['category'] }))),
  );

for (const sender of senders()) {
  t.test(`content of ${sender.what} (${sender.sender})`, async (t) => {
    for (const [name, scenario] of Object.entries(sender.scenarios)) {
      const rows = rowsOf(normalized, sender, scenario);
      const found = rows.flatMap(partsOfRow);
      const roles = found.map(({ role }) => role).filter((role) => !ROLES.has(role));
      t.same(roles, [], `${name}: roles`);
      checkCalls(t, sender, name, scenario, rows, found);
      checkNothingLost(t, name, rows);
    }
  });
}

function checkCalls(
  t: Test,
  sender: Sender,
  name: string,
  scenario: Scenario,
  rows: readonly Row[],
  found: readonly Found[],
): void {
  const inCalls = found.filter(({ category }) => category === 'model_call' || category === null);
  const stored = rows.map((row) => JSON.stringify([row['input_content'], row['output_content']])).join('\n');
  for (const call of scenario.calls) {
    if (call.operation === 'embeddings') continue;
    const { prompt_canary: prompt } = call;
    const completion = typeof call['completion'] === 'string' ? call['completion'] : null;
    if (prompt !== null && inCalls.some(({ text }) => text.includes(prompt)) && !PRINTED.has(sender.sender))
      t.ok(
        inCalls.some(({ role, type, text }) => role === 'user' && type === 'text' && text.includes(prompt)),
        `${name}: the prompt is a text of the user`,
      );
    if (completion !== null && completion !== '' && stored.includes(completion) && !PRINTED.has(sender.sender)) {
      const answers = found.filter(({ role, type }) => role === 'assistant' && type === 'text');
      t.ok(
        answers.some(({ text }) => text.includes(completion)),
        `${name}: the answer is a text of the assistant`,
      );
    }
    const tool = call['tool_call'] as { name: string; arguments?: unknown } | undefined;
    if (tool && stored.includes(tool.name) && found.some(({ source }) => source === 'output_content'))
      checkTool(t, name, tool, found);
  }
}

function checkTool(t: Test, name: string, tool: { name: string }, found: readonly Found[]): void {
  const calls = found.filter(({ type }) => type === 'tool_call');
  if (calls.length === 0) return;
  // Models know the tools of MCP servers as `mcp__server__tool`.
  const isCalled = (called: string | null): boolean =>
    called !== null && (called.endsWith(tool.name) || tool.name.endsWith(`__${called}`));
  t.ok(
    calls.some((part) => part.role === 'assistant' && isCalled(part.name)),
    `${name}: the assistant calls ${tool.name}`,
  );
}

/** Every mark of the recording is in a part. Some answers repeat their request, which is not read. */
function checkNothingLost(t: Test, name: string, rows: readonly Row[]): void {
  for (const row of rows) {
    for (const { source } of readRecord(row as ContentRow)) {
      const marks = OUTPUTS.has(source)
        ? /CANARY-(?:COMPLETION|DOCUMENT|REASONING)[\w-]*/gu
        : /CANARY-(?:PROMPT|SYSTEM|DOCUMENT|CITY|REASONING)[\w-]*/gu;
      const stored = new Set(withoutRequest(String(row[source])).match(marks));
      const read = partsOfRow(row)
        .filter((part) => part.source === source)
        .map(({ text }) => text)
        .join('\n');
      const lost = [...stored].filter((mark) => !read.includes(mark));
      if (lost.length > 0) t.fail(`${name}: ${source} of ${String(row['name'])} lost ${lost.join(', ')}`);
    }
  }
}

/** Content without the request that an answer of Genkit repeats. */
function withoutRequest(text: string): string {
  const value = parseJson(text);
  return isObject(value) && 'message' in value ? JSON.stringify({ ...value, request: undefined }) : text;
}
