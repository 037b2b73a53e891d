/** Trace requests with a given number of spans and attributes, and a given size of content. */
import { SIGNAL_TRACES } from '../src/pdata/layout.ts';
import { encodeProtobuf, loadProtos } from '../test/support/protos.ts';

export interface Shape {
  readonly spans: number;
  /** Attributes of each span, in addition to the three of a model call. */
  readonly attributes: number;
  /** Bytes of content of each span. */
  readonly contentBytes: number;
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;
const SECOND = 1_000_000_000n;
const PIECE = 8;
const REPEATS = 4;

/** Spans with the current time, sixteen in a trace. Different seeds make different traces. */
export function traceBody(shape: Shape, seed: number): Buffer {
  const text = content(shape.contentBytes, seed);
  const start = BigInt(Date.now()) * NANOSECONDS_PER_MILLISECOND;
  const spans = Array.from({ length: shape.spans }, (_, index) => ({
    traceId: id(16, seed * 1_000_003 + (index >>> 4)),
    spanId: id(8, index + 1),
    name: 'chat',
    startTimeUnixNano: start,
    endTimeUnixNano: start + SECOND,
    attributes: [
      attribute('gen_ai.operation.name', 'chat'),
      attribute('gen_ai.request.model', 'gpt-4o'),
      attribute('gen_ai.provider.name', 'openai'),
      ...(text === '' ? [] : [attribute('gen_ai.input.messages', text)]),
      ...Array.from({ length: shape.attributes }, (_, key) => attribute(`app.key.${key}`, `value ${index} of ${seed}`)),
    ],
  }));
  const message = { resourceSpans: [{ scopeSpans: [{ scope: { name: 'bench' }, spans }] }] };
  return encodeProtobuf(loadProtos().requests[SIGNAL_TRACES], message);
}

/** Nearly unique pieces, each repeated four times: about as compressible as prose. */
function content(bytes: number, seed: number): string {
  return Array.from({ length: bytes / (PIECE * REPEATS) }, (_, index) =>
    (Math.imul(index + seed, 0x9e3779b1) >>> 0).toString(16).padStart(PIECE, '0').repeat(REPEATS),
  ).join('');
}

function attribute(key: string, value: string) {
  return { key, value: { stringValue: value } };
}

function id(bytes: number, value: number): Buffer {
  return Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex');
}
