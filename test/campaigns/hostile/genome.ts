/** The description of a body: one record that is repeated, and the values in it. A search changes it step by step. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../support/generators-random.ts';

/**
 * A text: `unit` repeated up to `bytes`, with `{r}` for the number of the record and `{i}` for the number of the
 * attribute.
 */
export interface TextSpec {
  readonly kind: 'text';
  readonly unit: string;
  readonly bytes: number;
}

/** A number as it is written in JSON. Protobuf carries its nearest double. */
export interface NumberSpec {
  readonly kind: 'number';
  readonly text: string;
}

export interface IntegerSpec {
  readonly kind: 'integer';
  readonly text: string;
}

/** Lists or maps, `depth` inside each other, each with `width` items. */
export interface NestedSpec {
  readonly kind: 'list' | 'map';
  readonly depth: number;
  readonly width: number;
  readonly item: ValueSpec;
}

/** A document: the value as JSON inside a text. */
export interface DocumentSpec {
  readonly kind: 'document';
  readonly value: NestedSpec;
}

export type ValueSpec = TextSpec | NumberSpec | IntegerSpec | NestedSpec | DocumentSpec;

export interface AttributeSpec {
  /** With `{r}` and `{i}` as in texts. */
  readonly key: string;
  readonly count: number;
  readonly value: ValueSpec;
}

export interface Genome {
  readonly name: TextSpec;
  readonly attributes: readonly AttributeSpec[];
  readonly resource: readonly AttributeSpec[];
  readonly scope: string;
  /** Events of a span, exemplars of a data point. */
  readonly events: number;
  readonly eventName: string;
  readonly eventAttributes: readonly AttributeSpec[];
  readonly links: number;
  /** The body of a log record; bounds and counts of a data point. */
  readonly body: ValueSpec;
  readonly bounds: number;
  /** Records of one resource. */
  readonly recordsPerResource: number;
  readonly traces: 'one' | 'each';
}

const DIALECTS = fileURLToPath(new URL('../../../../src/dialects/', import.meta.url));

/** Every attribute key that the tables of the dialects name, and a few that they do not. */
const KEYS: readonly string[] = [
  ...new Set(
    readdirSync(DIALECTS)
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(`${DIALECTS}${file}`, 'utf8').matchAll(/'([a-z][\w-]*(?:\.[\w{}*-]+)+)'/gi)])
      .map(([, key = '']) => key.replace(/\{\w+\}|\*/g, '{i}')),
  ),
  'k{i}',
  'new.key.{r}.{i}',
  'llm.input_messages.{i}.message.content',
  'gen_ai.prompt.{i}.content',
  '',
  '"\\{i}',
];

const UNITS = [
  'a',
  ' ',
  '"',
  '\\',
  '\u0001',
  '\u0000',
  '\n',
  'é',
  '日',
  '😀',
  '\ud83d',
  '{',
  '[',
  '[{"role":"user","content":"',
  '1',
  '-',
  '.',
  '@',
  'a@',
  'a@b.',
  'DE89 3704 ',
  '123-45-',
  '4111 1111 1111 111',
  '+1 555 ',
  '10.0.0.',
  'xoxb-',
  'sk-ant-api03-',
  'glpat-',
  'AIza',
  'ghp_',
  'AKIA',
  'eyJ',
  'eyJhbGciOi.',
  'Bearer ',
  'password=',
  'sk-',
  'https://u:p@',
  '-----BEGIN PRIVATE KEY-----',
  'gpt-4o',
  'gpt-4o-{r}',
  'model-{r}',
  'openai',
  'chat',
  'tool-{r}-{i}',
  'text_completion',
  'user',
  '{r}',
  '{i}',
  'http://',
  '2024-01-01T',
  '::',
  'fe80::',
];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '0.1',
  '1e308',
  '5e-324',
  '1.7976931348623157e308',
  '123456789012345678',
  '9007199254740993',
  '2.2250738585072011e-308',
  '4.35156e+21',
  '-0',
  '1e-7',
  '0.30000000000000004',
  `0.${'3'.repeat(800)}`,
  `1${'0'.repeat(300)}.5`,
  `9${'9'.repeat(400)}e-300`,
  '179769313486231570000',
  '2.8025969286496341418474591665798e-45',
  '8.41e21',
  '9.5367431640625e-7',
  `1.${'0'.repeat(700)}1`,
];
const INTEGERS = ['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '9007199254740993', '100', '{r}'];
const SCOPES = [
  '',
  'ai',
  'openinference.instrumentation.openai',
  '@traceloop/instrumentation-openai',
  'gcp.vertex.agent',
  'codex_cli_rs',
  'com.anthropic.claude_code',
  'langfuse-sdk',
  'litellm',
  'pydantic-ai',
  'strands',
  'scope-{r}',
];
const EVENTS = [
  'gen_ai.user.message',
  'gen_ai.choice',
  'gen_ai.content.prompt',
  'exception',
  'gen_ai.tool.message',
  'event-{r}-{i}',
  '',
];

const MAX_TEXT = 262144;

/** From 1 up to `limit`, small ones as often as large ones; 0 for a limit of 0. */
const randomSize = (random: Random, limit: number): number => Math.floor(limit ** (random.next() / 2 ** 32));

function randomValue(random: Random, depth = 0): ValueSpec {
  const kind = random.below(depth > 1 ? 3 : 6);
  if (kind === 0) return { kind: 'number', text: random.pick(NUMBERS) };
  if (kind === 1) return { kind: 'integer', text: random.pick(INTEGERS) };
  if (kind === 2) return randomText(random);
  if (kind === 5) return { kind: 'document', value: randomNested(random, depth) };
  return randomNested(random, depth);
}

function randomNested(random: Random, depth: number): NestedSpec {
  return {
    kind: random.pick(['list', 'map']),
    depth: 1 + random.below(12),
    width: 1 + random.below(3),
    item: randomValue(random, depth + 2),
  };
}

function randomText(random: Random): TextSpec {
  const mixed = random.below(3) === 0;
  const unit = mixed ? `${random.pick(UNITS)}${random.pick(UNITS)}` : random.pick(UNITS);
  return { kind: 'text', unit, bytes: randomSize(random, MAX_TEXT) };
}

function randomAttribute(random: Random): AttributeSpec {
  return {
    key: random.pick(KEYS),
    count: random.below(4) === 0 ? randomSize(random, 400) : 1,
    value: randomValue(random),
  };
}

const attributesOf = (random: Random, limit: number): AttributeSpec[] =>
  Array.from({ length: randomSize(random, limit) }, () => randomAttribute(random));

export function randomGenome(random: Random): Genome {
  return {
    name: { kind: 'text', unit: random.pick(UNITS), bytes: randomSize(random, 200) },
    attributes: attributesOf(random, 40),
    resource: attributesOf(random, 6),
    scope: random.pick(SCOPES),
    events: random.below(3) === 0 ? randomSize(random, 200) : 0,
    eventName: random.pick(EVENTS),
    eventAttributes: attributesOf(random, 4),
    links: random.below(4) === 0 ? randomSize(random, 200) : 0,
    body: randomValue(random),
    bounds: random.below(3) === 0 ? randomSize(random, 2000) : 0,
    recordsPerResource: random.below(3) === 0 ? 1 : randomSize(random, 100000),
    traces: random.pick(['one', 'each']),
  };
}

/** A genome that differs in one to three places. */
export function mutated(genome: Genome, random: Random): Genome {
  let changed = genome;
  for (let step = 1 + random.below(3); step > 0; step--) changed = mutatedOnce(changed, random);
  return changed;
}

function mutatedOnce(genome: Genome, random: Random): Genome {
  const fresh = randomGenome(random);
  const field = random.pick(Object.keys(genome) as (keyof Genome)[]);
  if (field === 'attributes' || field === 'resource' || field === 'eventAttributes' || random.below(2) === 0) {
    const list = field === 'resource' || field === 'eventAttributes' ? field : 'attributes';
    return { ...genome, [list]: mutatedList(genome[list], random) };
  }
  return { ...genome, [field]: fresh[field] };
}

function mutatedList(list: readonly AttributeSpec[], random: Random): readonly AttributeSpec[] {
  const at = random.below(list.length);
  const one = list[at];
  if (one === undefined || random.below(4) === 0) return [...list, randomAttribute(random)];
  if (random.below(5) === 0) return list.toSpliced(at, 1);
  return list.with(at, mutatedAttribute(one, random));
}

function mutatedAttribute(one: AttributeSpec, random: Random): AttributeSpec {
  const { value } = one;
  switch (random.below(4)) {
    case 0:
      return { ...one, key: random.pick(KEYS) };
    case 1:
      return { ...one, count: randomSize(random, 1000) };
    case 2:
      if (value.kind === 'text') return { ...one, value: { ...value, bytes: randomSize(random, MAX_TEXT) } };
      return { ...one, value: randomValue(random) };
    default:
      return { ...one, value: randomValue(random) };
  }
}
