/**
 * The client metrics of generative AI, recorded from spans: the duration of generation, agent, embedding and tool
 * operations, and the token usage of all but tools (the contract, "Recognized attributes"). Names, units, attributes
 * and buckets are those of OpenTelemetry's semantic conventions for generative AI metrics.
 */
import { type Attributes, type Histogram, type Meter, SpanStatusCode, ValueType } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';

const DURATION_BUCKETS_S = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKEN_BUCKETS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

type Kind = 'generation' | 'agent' | 'embedding' | 'tool';

/** The well-known values of `gen_ai.operation.name` that are recorded. */
const KIND_OF: ReadonlyMap<string, Kind> = new Map([
  ['chat', 'generation'],
  ['generate_content', 'generation'],
  ['text_completion', 'generation'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
  ['embeddings', 'embedding'],
  ['execute_tool', 'tool'],
]);
/**
 * The Vercel AI SDK up to version 6 names its operations in `ai.operationId`. Its outer spans repeat the usage of these
 * and are not recorded.
 */
const OPERATION_OF_AI_SDK: ReadonlyMap<string, string> = new Map([
  ['ai.generateText.doGenerate', 'chat'],
  ['ai.streamText.doStream', 'chat'],
  ['ai.generateObject.doGenerate', 'chat'],
  ['ai.streamObject.doStream', 'chat'],
  ['ai.embed.doEmbed', 'embeddings'],
  ['ai.embedMany.doEmbed', 'embeddings'],
  ['ai.toolCall', 'execute_tool'],
]);

/** The attributes of a measurement, each with the span attributes that state it, the best first. */
const DIMENSIONS: readonly (readonly [string, readonly string[]])[] = [
  ['gen_ai.provider.name', ['gen_ai.provider.name', 'gen_ai.system', 'ai.model.provider']],
  ['gen_ai.request.model', ['gen_ai.request.model', 'ai.model.id']],
  ['gen_ai.response.model', ['gen_ai.response.model', 'ai.response.model']],
  ['server.address', ['server.address']],
  ['server.port', ['server.port']],
];
const INPUT_TOKENS = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.prompt_tokens',
  'ai.usage.inputTokens',
  'ai.usage.promptTokens',
  'ai.usage.tokens',
];
const OUTPUT_TOKENS = [
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.completion_tokens',
  'ai.usage.outputTokens',
  'ai.usage.completionTokens',
];
const NANOSECONDS = 1e9;

export class SpanMetrics {
  readonly #duration: Histogram;
  readonly #tokens: Histogram;

  constructor(meter: Meter) {
    this.#duration = meter.createHistogram('gen_ai.client.operation.duration', {
      description: 'GenAI operation duration.',
      unit: 's',
      advice: { explicitBucketBoundaries: DURATION_BUCKETS_S },
    });
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Number of input and output tokens used.',
      unit: '{token}',
      valueType: ValueType.INT,
      advice: { explicitBucketBoundaries: TOKEN_BUCKETS },
    });
  }

  /** Whether the span is of an operation that is recorded. */
  static measures({ attributes }: ReadableSpan): boolean {
    return kindOf(attributes) !== undefined;
  }

  record({ attributes, duration: [seconds, nanoseconds], status }: ReadableSpan): void {
    const kind = kindOf(attributes);
    if (kind === undefined) return;
    const dimensions = dimensionsOf(attributes);
    const failed = status.code === SpanStatusCode.ERROR;
    this.#duration.record(seconds + nanoseconds / NANOSECONDS, {
      ...dimensions,
      ...(failed ? { 'error.type': textOf(attributes['error.type']) ?? '_OTHER' } : {}),
    });
    if (kind === 'tool') return;
    this.#recordTokens(attributes, INPUT_TOKENS, { ...dimensions, 'gen_ai.token.type': 'input' });
    this.#recordTokens(attributes, OUTPUT_TOKENS, { ...dimensions, 'gen_ai.token.type': 'output' });
  }

  /** An unknown count is not recorded; a count is a safe integer of at least zero. */
  #recordTokens(attributes: Attributes, names: readonly string[], dimensions: Attributes): void {
    const count = names.map((name) => attributes[name]).find((value) => Number.isSafeInteger(value));
    if (typeof count === 'number' && count >= 0) this.#tokens.record(count, dimensions);
  }
}

function operationOf(attributes: Attributes): string | undefined {
  const name = textOf(attributes['gen_ai.operation.name']);
  return name ?? OPERATION_OF_AI_SDK.get(textOf(attributes['ai.operationId']) ?? '');
}

function kindOf(attributes: Attributes): Kind | undefined {
  return KIND_OF.get(operationOf(attributes) ?? '');
}

function dimensionsOf(attributes: Attributes): Attributes {
  const found: Attributes = { 'gen_ai.operation.name': operationOf(attributes) };
  for (const [dimension, names] of DIMENSIONS) {
    const value = names.map((name) => attributes[name]).find((each) => isDimension(each));
    if (value !== undefined) found[dimension] = value;
  }
  return found;
}

const isDimension = (value: unknown): boolean => typeof value === 'number' || textOf(value) !== undefined;

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
