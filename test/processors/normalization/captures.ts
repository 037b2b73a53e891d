/**
 * Captured bodies of real instrumentations, compared with the actual answers of the models. Each expected field is
 * exact, absent (null, because the sender does not send it) or wrong; a wrong field is a defect.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Signal } from '../../../src/pdata/context.ts';
import type { Normalized, Row } from './normalized.ts';

const FOLDER = new URL('../../../../test/fixtures/genai/', import.meta.url);

export const CALL_FIELDS = [
  'operation',
  'provider',
  'request_model',
  'response_model',
  'response_id',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'finish_reasons',
  'is_error',
  'input_content',
  'output_content',
] as const;
export const SCENARIO_FIELDS = [
  'conversation_id',
  'user_id',
  'agent_name',
  'tool_name',
  'tool_arguments',
  'tool_result',
  'retrieval_query',
  'retrieval_documents',
] as const;
export type ComparedField = (typeof CALL_FIELDS)[number] | (typeof SCENARIO_FIELDS)[number];
export type Outcome = 'exact' | 'absent' | 'wrong';

export interface Finding {
  readonly sender: string;
  readonly scenario: string;
  readonly field: ComparedField;
  readonly outcome: Outcome;
  readonly expected: unknown;
  readonly actual: unknown;
  /** Where the sender sends it, according to the capture. */
  readonly seenAt: readonly string[];
}

interface ExpectedCall {
  readonly [field: string]: unknown;
  readonly operation: string;
  readonly error: boolean;
  readonly prompt_canary: string | null;
  readonly seen_at: Readonly<Record<string, readonly string[]>>;
}
interface Scenario {
  readonly files: readonly { readonly file: string; readonly path: string; readonly content_type: string }[];
  readonly calls: readonly ExpectedCall[];
  readonly user_id?: string;
  readonly conversation_id?: string;
  readonly agent_name?: string;
  readonly query?: string;
  readonly documents?: readonly string[];
  readonly tool_executions?: readonly { readonly name: string; readonly arguments: unknown; readonly result: string }[];
}
export interface Sender {
  readonly sender: string;
  readonly what: string;
  readonly language: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

/** Every sender that has captures, by name. */
export function senders(): Sender[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'capture')
    .flatMap(({ name }) => {
      try {
        return [JSON.parse(readFileSync(new URL(`${name}/expected.json`, FOLDER), 'utf8')) as Sender];
      } catch {
        return [];
      }
    })
    .filter(({ scenarios }) => Object.keys(scenarios).length > 0);
}

export function captureFolder(): string {
  return fileURLToPath(FOLDER);
}

/** The rows of one scenario: of spans and of log records. */
export function rowsOf(normalized: Normalized, sender: Sender, scenario: Scenario): Row[] {
  return scenario.files.flatMap(({ file, path, content_type }) => {
    const signal = path.slice(path.lastIndexOf('/') + 1) as Signal;
    if (signal === 'metrics') return [];
    const body = readFileSync(new URL(`${sender.sender}/${file}`, FOLDER));
    return normalized.rows(signal, content_type.includes('json') ? 'json' : 'protobuf', body);
  });
}

/** Compares all expected fields of a scenario. */
function compare(sender: Sender, name: string, scenario: Scenario, rows: readonly Row[]): Finding[] {
  const findings: Finding[] = [];
  const note = (
    field: ComparedField,
    expected: unknown,
    actual: unknown,
    outcome: Outcome,
    seenAt: readonly string[] = [],
  ): void => {
    findings.push({ sender: sender.sender, scenario: name, field, outcome, expected, actual, seenAt });
  };
  const matches = matchAll(scenario.calls, rows.filter(isModelCall));
  for (const call of scenario.calls) {
    const row = matches.get(call);
    for (const field of CALL_FIELDS) {
      const expected = expectedOf(call, field);
      if (expected === undefined) continue;
      const actual = row?.[field] ?? (field.endsWith('_content') ? otherContent(rows, field, expected) : undefined);
      note(field, expected, actual, judge(field, expected, actual), call.seen_at[seenName(field)] ?? []);
    }
  }
  for (const field of ['conversation_id', 'user_id', 'agent_name'] as const) {
    const expected = scenario[field];
    if (expected !== undefined) note(field, expected, ...anyOf(rows, field, expected));
  }
  for (const tool of scenario.tool_executions ?? []) {
    const steps = rows.filter((row) => row['category'] === 'tool_step');
    note('tool_name', tool.name, ...anyOf(steps, 'tool_name', tool.name));
    note('tool_arguments', tool.arguments, ...containing(steps, 'tool_arguments', canaryOf(tool.arguments)));
    note('tool_result', tool.result, ...containing(steps, 'tool_result', tool.result));
  }
  const retrievals = rows.filter((row) => row['category'] === 'retrieval');
  if (scenario.query !== undefined) {
    note('retrieval_query', scenario.query, ...containing(retrievals, 'retrieval_query', scenario.query));
  }
  for (const document of scenario.documents ?? []) {
    note('retrieval_documents', document, ...containing(retrievals, 'retrieval_documents', document));
  }
  return findings;
}

/** Rows that count as calls of their own. */
function isModelCall(row: Row): boolean {
  return row['duration_ns'] !== undefined && (row['category'] === 'model_call' || row['category'] === 'embedding');
}

/** Pairs calls with rows, the most certain pairs first. A call without a row stays unpaired. */
function matchAll(calls: readonly ExpectedCall[], rows: readonly Row[]): Map<ExpectedCall, Row> {
  const pairs = calls
    .flatMap((call) => rows.map((row) => ({ call, row, score: scoreOf(call, row) })))
    .filter(({ score }) => score >= LIKELY)
    .sort((one, other) => other.score - one.score);
  const matches = new Map<ExpectedCall, Row>();
  const taken = new Set<Row>();
  for (const { call, row } of pairs) {
    if (matches.has(call) || taken.has(row)) continue;
    matches.set(call, row);
    taken.add(row);
  }
  return matches;
}
const LIKELY = 3;

function scoreOf(call: ExpectedCall, row: Row): number {
  const isSame = (field: string): boolean =>
    typeof call[field] !== 'undefined' && call[field] !== null && row[field] === call[field];
  if ((row['category'] === 'embedding') !== (call.operation === 'embeddings')) return 0;
  const reported = row['output_tokens'] !== null && call['output_tokens'] !== undefined;
  if (reported && !isSame('output_tokens') && !isSame('response_id') && call['usage_sent'] !== false) {
    return Math.abs(Number(row['output_tokens']) - Number(call['output_tokens'])) > 1 ? 0 : LIKELY;
  }
  return (
    (isSame('response_id') ? 8 : 0) +
    (isSame('output_tokens') ? 4 : 0) +
    (isSame('input_tokens') ? 4 : 0) +
    (call.prompt_canary !== null && text(row['input_content']).includes(call.prompt_canary) ? 2 : 0) +
    (row['is_error'] === call.error ? 2 : 0) +
    1
  );
}

function expectedOf(call: ExpectedCall, field: (typeof CALL_FIELDS)[number]): unknown {
  if (field === 'is_error') return call.error;
  if (field === 'input_content') return call.prompt_canary ?? undefined;
  if (field === 'output_content')
    return call['completion'] ?? (call['tool_call'] as { name: string } | undefined)?.name;
  const expected = call[field];
  return expected === null ? undefined : expected;
}

function seenName(field: string): string {
  if (field === 'input_content') return 'prompt_canary';
  return field === 'output_content' ? 'completion' : field;
}

function judge(field: string, expected: unknown, actual: unknown): Outcome {
  if (actual === null || actual === undefined) return isNothing(expected) ? 'exact' : 'absent';
  if (field.endsWith('_content')) return holds(text(actual), String(expected)) ? 'exact' : 'wrong';
  if (field === 'operation') return CHAT.has(String(actual)) === CHAT.has(String(expected)) ? 'exact' : 'wrong';
  if (field === 'finish_reasons') return meanings(actual) === meanings(expected) ? 'exact' : 'wrong';
  return JSON.stringify(actual) === JSON.stringify(expected) ? 'exact' : 'wrong';
}

/** The whole text, or the pieces in which a stream delivered it. */
function holds(content: string, expected: string): boolean {
  if (content.includes(expected)) return true;
  const pieces = [...content.matchAll(/"text":\s*("(?:[^"\\]|\\.)*")/g)].map(
    ([, piece]) => JSON.parse(piece ?? '""') as string,
  );
  return pieces.join('').includes(expected);
}
const CHAT: ReadonlySet<string> = new Set(['chat', 'generate_content', 'text_completion']);

/** Frameworks have their own words for finish reasons; equal meaning is enough. */
const MEANINGS: readonly (readonly string[])[] = [
  ['stop', 'end_turn', 'endturn', 'completed', 'stop_sequence', 'finish'],
  ['tool_calls', 'tool-calls', 'tool_use', 'tooluse', 'tool_call', 'tool_execution'],
  ['length', 'max_tokens', 'incomplete'],
];

function meanings(reasons: unknown): string {
  const words = Array.isArray(reasons) ? reasons.map((reason) => String(reason).toLowerCase()) : [];
  return JSON.stringify(words.map((word) => MEANINGS.findIndex((meaning) => meaning.includes(word))));
}

/** An empty value: senders leave out zeros and empty lists, so null is equal to them. */
function isNothing(expected: unknown): boolean {
  return expected === 0 || expected === false || (Array.isArray(expected) && expected.length === 0);
}

/** Content may arrive as log records of its own. */
function otherContent(rows: readonly Row[], field: string, expected: unknown): unknown {
  return rows.find((row) => row['duration_ns'] === undefined && text(row[field]).includes(String(expected)))?.[field];
}

function anyOf(rows: readonly Row[], field: string, expected: unknown): [actual: unknown, outcome: Outcome] {
  const values: unknown[] = [
    ...new Set(rows.map((row) => row[field]).filter((value) => value !== null && value !== undefined)),
  ];
  if (values.length === 0) return [null, 'absent'];
  return values.includes(expected) ? [expected, 'exact'] : [values, 'wrong'];
}

function containing(rows: readonly Row[], field: string, expected: string): [actual: unknown, outcome: Outcome] {
  const values = rows.map((row) => text(row[field])).filter((value) => value !== '');
  if (values.length === 0) return [null, 'absent'];
  return values.some((value) => value.includes(expected)) ? [expected, 'exact'] : [values, 'wrong'];
}

/** A text that occurs in the tool arguments in every notation. */
function canaryOf(value: unknown): string {
  return /CANARY[\w-]+/.exec(JSON.stringify(value))?.[0] ?? JSON.stringify(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What was read of every capture. */
export function findingsOf(all: readonly Sender[], normalized: Normalized): readonly Finding[] {
  return all.flatMap((sender) =>
    Object.entries(sender.scenarios).flatMap(([name, scenario]) =>
      compare(sender, name, scenario, rowsOf(normalized, sender, scenario)),
    ),
  );
}
