/** Two interleaved passes in two arenas make the same rows as one after the other. */
import fc from 'fast-check';
import t from 'tap';
import { Capabilities } from '../../src/component/capabilities/capability.ts';
import type { Processor } from '../../src/component/processor.ts';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';
import { Context, type Encoding, type Signal } from '../../src/pdata/context.ts';
import type { Steps } from '../../src/pdata/steps.ts';
import { encodeInSteps, type RowFormat } from '../../src/pdata/encode-rows.ts';
import { Intake } from '../../src/pdata/index-body.ts';
import { environment } from '../../src/processors/environment/environment.ts';
import { normalization } from '../../src/processors/normalization/normalization.ts';
import { pricing } from '../../src/processors/pricing/pricing.ts';
import { PRESET_NAMES } from '../../src/processors/privacy/redaction/presets.ts';
import { privacy } from '../../src/processors/privacy/privacy.ts';
import { makeClaim } from '../../src/service/settle/claim.ts';
import type { Host } from '../../src/component/component.ts';
import { isLong } from '../support/long.ts';
import { encodeProtobuf, loadProtos, type Message } from '../support/protos.ts';

interface Request {
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly body: Buffer;
  readonly format: RowFormat;
}

const meter = {
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ record: () => undefined }),
  gauge: () => undefined,
};
const host = { id: 'test', meter, capabilities: new Capabilities(), now: () => 0, process } as unknown as Host;
const protos = loadProtos();
const redact = PRESET_NAMES.map((preset) => ({ preset }));
const processors: readonly Processor[] = [
  environment.create({ default: 'default' }, host),
  privacy.create({ capture_content: true, environments: { silent: { capture_content: false } }, redact }, host),
  normalization.create({}, host),
  pricing.create({ overrides: [] }, host),
];
for (const processor of processors) await processor.start?.();
const pool = new ChunkPool();

function* pass(intake: Intake, { signal, encoding, body, format }: Request): Steps<string> {
  const context = new Context({ signal, transport: 'http', authorization: undefined });
  const project = { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() } as const;
  context.credential = { project, environment: null, keyId: 'static:1' };
  const batch = yield* intake.indexInSteps(signal, encoding, body, context, 32);
  for (const processor of processors) {
    const steps = processor.process?.(batch);
    if (steps !== undefined) yield* steps;
  }
  const claim = yield* makeClaim(batch, Buffer.alloc(32));
  const rows = yield* encodeInSteps(batch, format, pool);
  const text = Buffer.concat(rows.chunks).toString('hex');
  rows.release();
  return `${JSON.stringify(claim, (_, value) => (typeof value === 'bigint' ? String(value) : value))} ${text}`;
}

/** Runs a step of a pass for each of its letters, then the rest. */
function interleaved(passes: readonly Steps<string>[], order: readonly number[]): readonly string[] {
  const results: (string | null)[] = passes.map(() => null);
  const step = (index: number): void => {
    if (results[index] !== null) return;
    const next = passes[index]?.next();
    if (next?.done === true) results[index] = next.value;
  };
  for (const index of order) step(index);
  while (results.includes(null)) for (const index of passes.keys()) step(index);
  return results.map(String);
}

/** Protobuf has ids as bytes. */
function withBytes(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withBytes(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, name)]));
  if (field === 'bytesValue') return Buffer.from(String(value), 'base64');
  return field === 'traceId' || field === 'spanId' ? Buffer.from(String(value), 'hex') : value;
}

const text = fc.constantFrom(
  'anna@example.org',
  'gpt-4o',
  'chat',
  'sk-ant-api03-x',
  '4111 1111 1111 1111',
  'a "quoted" text',
  '語',
);
const key = fc.oneof(
  fc.constantFrom('gen_ai.request.model', 'gen_ai.operation.name', 'input.value', 'llm.model_name', 'authorization'),
  fc.string({ minLength: 1, maxLength: 8 }),
);
const long = fc.nat({ max: 3000 }).map((count) => ({
  arrayValue: { values: Array.from({ length: count }, (_, index) => ({ intValue: String(index) })) },
}));
/** Some are larger than the piece after which the module asks whether to pause. */
const longText = fc.tuple(fc.constantFrom('x', '\n', '"', '\u0001', '\0', '语', ' '), fc.nat({ max: 40_000 }));
const longValue = longText.chain(([character, count]) =>
  fc.constantFrom(
    { stringValue: character.repeat(count) },
    { bytesValue: Buffer.from(character.repeat(count)).toString('base64') },
    { bytesValue: Buffer.from(character.repeat(count)).toString('base64url') },
  ),
);
const value = fc.oneof(
  { arbitrary: text.map((stringValue) => ({ stringValue })), weight: 8 },
  { arbitrary: fc.integer().map((number) => ({ intValue: String(number) })), weight: 4 },
  { arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((doubleValue) => ({ doubleValue })), weight: 4 },
  { arbitrary: long, weight: 1 },
  { arbitrary: longValue, weight: 1 },
);
const attributes = fc.array(fc.record({ key, value }), { maxLength: 12 });
const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => Buffer.from(bytes.fill(1, 0, 1)).toString('hex'));
const span = fc.record({
  traceId: hex(16),
  spanId: hex(8),
  startTimeUnixNano: fc.constant('1790000000000000000'),
  name: text,
  attributes,
  events: fc.array(fc.record({ name: text, attributes }), { maxLength: 3 }),
});
const resource = fc.record({
  attributes: fc.constantFrom([], [{ key: 'deployment.environment', value: { stringValue: 'Silent' } }]),
});
const traces = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource,
      scopeSpans: fc.array(fc.record({ spans: fc.array(span, { minLength: 1, maxLength: 6 }) }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
});
const request: fc.Arbitrary<Request> = fc
  .record({
    message: traces,
    encoding: fc.constantFrom<Encoding>('json', 'protobuf'),
    format: fc.constantFrom<RowFormat>('copy', 'ndjson', 'otlp'),
  })
  .map(({ message, encoding, format }) => ({
    signal: 'traces',
    encoding,
    format,
    body:
      encoding === 'json'
        ? Buffer.from(JSON.stringify(message))
        : encodeProtobuf(protos.requests[0], withBytes(message) as Message),
  }));

t.test('two passes make the same rows in any order of their steps', async (t) => {
  // The pass pauses wherever it can.
  const arenas = [new Intake({ pauses: true, stepMs: 0 }), new Intake()] as const;
  const alone = new Intake();
  for (const intake of [...arenas, alone]) for (const processor of processors) processor.prepare?.(intake.tables);
  let steps = 0;
  const property = fc.property(
    request,
    request,
    fc.array(fc.nat({ max: 1 }), { maxLength: 200 }),
    (one, other, order) => {
      const expected = [one, other].map((each) => interleaved([pass(alone, each)], [])[0]);
      const found = interleaved([pass(arenas[0], one), pass(arenas[1], other)], order);
      for (
        const pausing = arenas[0].indexInSteps(
          'traces',
          one.encoding,
          one.body,
          new Context({ signal: 'traces', transport: 'http', authorization: undefined }),
          32,
        );
        ;
        steps++
      )
        if (pausing.next().done === true) break;
      return found.join() === expected.join();
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: isLong ? 15 : 6 }));
  t.ok(steps > 15, `the module paused: ${steps}`);
});
