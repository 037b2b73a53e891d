/**
 * Bodies with a high cost in index, processors and encoders. Each is a small piece repeated, with a number in it where
 * every repetition must be new. Pieces that were slow once are kept here.
 */
import { DIALECTS } from '../../src/dialects/families.ts';
import type { Encoding, Signal } from '../../src/pdata/context.ts';
import { attribute, double, fixed64, message, span, text, varint } from '../pdata/wasm/protobuf-writer.ts';
import type { PassMode } from './measured-pass.ts';
import { REDACTION_UNITS } from './redaction-units.ts';

export interface HostileBody {
  readonly name: string;
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly mode: PassMode;
  /** A body of about this size. */
  make(size: number): Buffer;
}

type Value = string | number | bigint;
type Attributes = readonly (readonly [key: string, value: Value])[];
interface Event {
  readonly name: string;
  readonly attributes: Attributes;
}
interface Span {
  readonly name?: string;
  readonly attributes: Attributes;
  readonly events?: readonly Event[];
}

const list = (key: number, attributes: Attributes): Buffer[] =>
  attributes.map(([name, value]) => attribute(key, name, protobufValue(value)));

function protobufValue(value: Value): Buffer {
  if (typeof value === 'string') return text(1, value);
  return typeof value === 'bigint' ? varint(3, value) : double(4, value);
}

function spanBytes({ name = 'chat', attributes, events = [] }: Span): Buffer {
  return message(
    2,
    span(
      text(5, name),
      ...list(9, attributes),
      ...events.map((event) => message(11, fixed64(1, 5n), text(2, event.name), ...list(3, event.attributes))),
    ),
  );
}

/** Repeats pieces up to about this size. */
function repeated(size: number, piece: (index: number) => Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let bytes = 0, index = 0; ; index++) {
    const next = piece(index);
    bytes += next.length;
    if (bytes > size - 64 && pieces.length > 0) break;
    pieces.push(next);
  }
  return Buffer.concat(pieces);
}

/** Spans in protobuf, under one resource and one scope. */
function spans(name: string, piece: (index: number, size: number) => Span, mode: PassMode = 'plain'): HostileBody {
  const make = (size: number): Buffer =>
    message(
      1,
      message(
        2,
        repeated(size, (index) => spanBytes(piece(index, size))),
      ),
    );
  return { name, signal: 'traces', encoding: 'protobuf', mode, make };
}

/** One span with as many attributes as fit. */
function wideSpan(
  name: string,
  first: Attributes,
  each: (index: number, size: number) => readonly [string, Value],
): HostileBody {
  const make = (size: number): Buffer =>
    message(
      1,
      message(
        2,
        message(
          2,
          span(
            ...list(9, first),
            repeated(size, (index) => Buffer.concat(list(9, [each(index, size)]))),
          ),
        ),
      ),
    );
  return { name, signal: 'traces', encoding: 'protobuf', mode: 'plain', make };
}

/** JSON text with a repeated part in the middle. */
function json(
  name: string,
  signal: Signal,
  [before, each, after]: readonly [string, (index: number) => string, string],
  mode: PassMode = 'plain',
): HostileBody {
  const make = (size: number): Buffer => {
    const parts = repeated(size, (index) => Buffer.from(index === 0 ? each(index) : `,${each(index)}`));
    return Buffer.concat([Buffer.from(before), parts, Buffer.from(after)]);
  };
  return { name, signal, encoding: 'json', mode, make };
}

/** The bounds of a histogram, in protobuf. */
function bounds(name: string, boundAt: (index: number) => number): HostileBody {
  const make = (size: number): Buffer => {
    const count = Math.min(Math.floor(size / 8), 2_000_000);
    const doubles = Buffer.alloc(count * 8);
    for (let index = 0; index < count; index++) doubles.writeDoubleLE(boundAt(index), index * 8);
    const point = message(1, fixed64(3, 5n), message(7, doubles));
    return message(1, message(2, message(2, text(1, 'm'), message(9, point, varint(2, 2)))));
  };
  return { name, signal: 'metrics', encoding: 'protobuf', mode: 'plain', make };
}

/** One long text as the body of a log record. */
function longText(unit: string, mode: PassMode = 'redacting'): HostileBody {
  const make = (size: number): Buffer => {
    const body = unit.repeat(Math.ceil((size - 64) / Buffer.byteLength(unit)));
    return message(1, message(2, message(2, fixed64(1, 1n), message(5, text(1, body)))));
  };
  return {
    name: `${mode} one text ${JSON.stringify(unit).slice(0, 48)}`,
    signal: 'logs',
    encoding: 'protobuf',
    mode,
    make,
  };
}

/** Short texts as the bodies of many log records. */
function shortTexts(unit: string, mode: PassMode = 'redacting'): HostileBody {
  const make = (size: number): Buffer =>
    message(
      1,
      message(
        2,
        repeated(size, () => message(2, fixed64(1, 1n), message(5, text(1, unit)))),
      ),
    );
  return {
    name: `${mode} many texts ${JSON.stringify(unit).slice(0, 48)}`,
    signal: 'logs',
    encoding: 'protobuf',
    mode,
    make,
  };
}

const CALL: Attributes = [
  ['gen_ai.operation.name', 'chat'],
  ['gen_ai.provider.name', 'openai'],
];
const USAGE: Attributes = [
  ['gen_ai.usage.input_tokens', 1000n],
  ['gen_ai.usage.output_tokens', 100n],
];

/** A key that the pattern of a dialect matches. */
const keyOf = (pattern: string): string =>
  pattern.replaceAll('*', 'x').replaceAll('{i}', '0').replaceAll('{j}', '0').replaceAll('{k}', 'k');
/** A marker of every dialect, and every attribute name of their tables that is not a pattern. */
const MARKERS: Attributes = DIALECTS.flatMap(({ markers, hints }) => [...(markers ?? []), ...(hints ?? [])]).map(
  (sign) => {
    const [key = '', value = 'x'] = sign.split('=');
    return [keyOf(key), value];
  },
);
const NAMES: readonly string[] = [
  ...new Set(
    DIALECTS.flatMap(({ fields }) => Object.values(fields ?? {}).flat()).map((row) =>
      keyOf(typeof row === 'string' ? row : row.attribute),
    ),
  ),
];

const SPAN_BEFORE =
  '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"1112131415161718","name":"n","startTimeUnixNano":"5","attributes":[';
const SPAN_AFTER = ']}]}]}]}';
const POINTS = (type: string): readonly [string, string] => [
  `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","${type}":{"aggregationTemporality":2,"dataPoints":[`,
  ']}}]}]}]}',
];
const [GAUGE, GAUGE_END] = POINTS('gauge');
const [HISTOGRAM, HISTOGRAM_END] = POINTS('histogram');
const digits = (count: number, seed: number): string => {
  let state = (seed * 2654435761 + 12345) >>> 0;
  let out = '';
  while (out.length < count) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out += String(state).padStart(10, '7');
  }
  return out.slice(0, count);
};
const unit = (index: number): number => (((index + 1) * 0.6180339887498949) % 1) + 0.1;

const SPAN_BODIES: readonly HostileBody[] = [
  spans('ordinary calls', () => ({
    attributes: [...CALL, ['gen_ai.request.model', 'gpt-4o'], ...USAGE],
  })),
  spans('new models', (index) => ({ attributes: [...CALL, ['gen_ai.request.model', `m${index}`], ...USAGE] })),
  spans('new models, both', (index) => ({
    attributes: [...CALL, ['gen_ai.request.model', `m${index}`], ['gen_ai.response.model', `n${index}`], ...USAGE],
  })),
  spans('new models, dated and separated', (index) => ({
    attributes: [
      ...CALL,
      ['gen_ai.request.model', `openai/models/us.m1-2-${index}.3-v1:0@20250101-latest:nitro`],
      ...USAGE,
    ],
  })),
  spans('new models of known families', (index) => ({
    attributes: [...CALL, ['gen_ai.request.model', `gpt-4o-${index}`], ...USAGE],
  })),
  spans('new models without a provider', (index) => ({
    attributes: [['gen_ai.operation.name', 'chat'], ['gen_ai.request.model', `m${index}`], ...USAGE],
  })),
  spans('new models of Bedrock', (index) => ({
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.provider.name', 'aws.bedrock'],
      ['gen_ai.request.model', `us.anthropic.claude-3-${index}-v1:0`],
      ...USAGE,
    ],
  })),
  spans('long new models', (index) => ({
    attributes: [...CALL, ['gen_ai.request.model', `${'m-1.2-'.repeat(40)}${index}`], ...USAGE],
  })),
  spans('long new models, escaped form of fine-tunes', (index) => ({
    attributes: [...CALL, ['gen_ai.request.model', `ft:${'a:'.repeat(100)}${index}`], ...USAGE],
  })),
  spans('new providers', (index) => ({
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.provider.name', `p${index}`],
      ['gen_ai.request.model', 'gpt-4o'],
      ...USAGE,
    ],
  })),
  spans('new dotted providers', (index) => ({
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.provider.name', `${'a.'.repeat(100)}${index}`],
      ['gen_ai.request.model', 'gpt-4o'],
      ...USAGE,
    ],
  })),
  spans('one provider of dots', (_, size) => ({
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.provider.name', 'a.'.repeat(Math.ceil(size / 2))],
      ['gen_ai.request.model', 'gpt-4o'],
      ...USAGE,
    ],
  })),
  spans('new operations', (index) => ({
    attributes: [['gen_ai.operation.name', `op${index}`], ['gen_ai.request.model', 'gpt-4o'], ...USAGE],
  })),
  spans('new conversations and tools', (index) => ({
    attributes: [
      ['gen_ai.operation.name', 'execute_tool'],
      ['gen_ai.conversation.id', `c${index}`],
      ['gen_ai.tool.name', `t${index}`],
      ['gen_ai.tool.call.id', `i${index}`],
      ['user.id', `u${index}`],
    ],
  })),
  spans('long names', (index) => ({
    attributes: [
      ['gen_ai.operation.name', 'execute_tool'],
      ['gen_ai.conversation.id', `${'c'.repeat(1100)}${index}`],
      ['gen_ai.tool.name', `${'é'.repeat(600)}${index}`],
    ],
  })),
  spans('new span names', (index) => ({ name: `span ${index}`, attributes: [['gen_ai.system', 'openai']] })),
  spans('new span names of CrewAI', (index) => ({
    name: `span ${index}`,
    attributes: [
      ['crewai.version', '1'],
      ['crew_key', 'x'],
    ],
  })),
  spans('markers of all dialects', () => ({ attributes: MARKERS })),
  spans('markers of all dialects, in a new order', (index) => {
    const from = index % MARKERS.length;
    return { attributes: [...MARKERS.slice(from), ...MARKERS.slice(0, from)] };
  }),
  spans('all names', () => ({ attributes: NAMES.map((name) => [name, 'x'] as const) })),
  spans('all names, in a new order', (index) => {
    const at = index % NAMES.length;
    return { attributes: [...NAMES.slice(at), ...NAMES.slice(0, at)].map((name) => [name, '{"a":1}'] as const) };
  }),
  spans('all names, few each', (index) => ({
    attributes: [0, 7, 31, 64].map(
      (step) => [NAMES[(index * 13 + step * index) % NAMES.length] as string, '5'] as const,
    ),
  })),
  spans('new finish reasons', (index) => ({
    attributes: [...CALL, ['gen_ai.response.finish_reasons', `["r${index}"]`]],
  })),
  spans('finish reasons, many', () => ({
    attributes: [...CALL, ['gen_ai.response.finish_reasons', 'a,'.repeat(500)]],
  })),
  spans('costs that are none', (index) => ({
    attributes: [...CALL, ['gen_ai.usage.cost', `${index}x`], ['llm.cost.total', 'a'], ...USAGE],
  })),
  spans('stated costs', (index) => ({
    attributes: [...CALL, ['gen_ai.usage.cost', index / 1000 + 0.1], ['llm.cost.total', 0.5], ...USAGE],
  })),
  spans('token counts as text', (index) => ({
    attributes: [
      ...CALL,
      ['gen_ai.request.model', 'gpt-4o'],
      ['gen_ai.usage.input_tokens', `${index}`],
      ['gen_ai.usage.output_tokens', `${index}e2`],
      ['llm.token_count.prompt', ' 12 '],
    ],
  })),
  ...[
    '{"usage":{"a":[1,2',
    '{"a":',
    '[[[[',
    "{'a': 'b', 'c': None}",
    `{"input":${'['.repeat(300)}`,
    '{"type":"x"}',
  ].flatMap((document) => [
    spans(`documents ${document.slice(0, 12)}`, () => ({
      attributes: [
        ['langfuse.observation.type', 'generation'],
        ['langfuse.observation.usage_details', document],
        ['langfuse.observation.cost_details', document],
        ['langfuse.observation.input', document],
        ['llm.invocation_parameters', document],
        ['gen_ai.output.messages', document],
        ['gcp.vertex.agent.llm_response', document],
        ['ai.response.providerMetadata', document],
      ],
    })),
  ]),
  spans('documents nested by the thousand', () => {
    const nested = `{"input":${'['.repeat(20_000)}${']'.repeat(20_000)},"usage":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`;
    return {
      attributes: [
        ['langfuse.observation.type', 'generation'],
        ...NAMES.slice(0, 400)
          .filter((_, index) => index % 9 === 0)
          .map((name) => [name, nested] as const),
      ],
      events: [0, 1].map(() => ({ name: 'gen_ai.user.message', attributes: [['content', nested] as const] })),
    };
  }),
  spans('a large document', () => ({
    attributes: [
      ['langfuse.observation.type', 'generation'],
      [
        'langfuse.observation.usage_details',
        `{${Array.from({ length: 8000 }, (_, key) => `"k${key}":${key}`).join(',')}}`,
      ],
      ['gcp.vertex.agent.llm_response', `[${'[],'.repeat(60_000)}1]`],
      ['gen_ai.output.messages', `[${'{"role":"a","parts":[]},'.repeat(8_000)}{}]`],
    ],
  })),
  spans('a large document cut', () => ({
    attributes: [
      ['langfuse.observation.type', 'generation'],
      ['langfuse.observation.usage_details', `{"a":[${'1,'.repeat(100_000)}`],
      ['gcp.vertex.agent.llm_response', `[${'[],'.repeat(60_000)}`],
      ['gen_ai.output.messages', `[${'{"role":"a","parts":[]},'.repeat(8_000)}`],
    ],
  })),
  spans('message events', () => ({
    attributes: CALL,
    events: Array.from({ length: 4096 }, () => ({
      name: 'gen_ai.user.message',
      attributes: [['content', 'hello'] as const],
    })),
  })),
  spans('message events, few each', () => ({
    attributes: CALL,
    events: Array.from({ length: 4 }, () => ({
      name: 'gen_ai.user.message',
      attributes: [['content', 'hello'] as const],
    })),
  })),
  spans('message events, documents', () => ({
    attributes: CALL,
    events: Array.from({ length: 40 }, () => ({
      name: 'gen_ai.choice',
      attributes: [
        ['gen_ai.completion', '{"a":[1,2,{"b":"c"}]}'] as const,
        ['content', '{"a":1'] as const,
        ['finish_reason', 'stop'] as const,
      ],
    })),
  })),
  spans('exception events', () => ({
    attributes: CALL,
    events: Array.from({ length: 40 }, (_, index) => ({
      name: 'exception',
      attributes: [['exception.type', `E${index}`] as const],
    })),
  })),
  ...(['ascending', 'descending', 'sparse', 'huge', 'equal'] as const).flatMap((order) => {
    const place = (index: number): string => {
      if (order === 'ascending') return String(index);
      if (order === 'descending') return String(4095 - (index % 4096));
      if (order === 'sparse') return String(index * 1_000_003);
      return order === 'huge' ? `${index}${'9'.repeat(30)}` : '7';
    };
    const message = (index: number, at: number): readonly [string, Value] =>
      [
        [`llm.input_messages.${place(at)}.message.content`, 'x'],
        [`gen_ai.prompt.${place(at)}.content`, 'x'],
        [`llm.output_messages.${place(at)}.message.role`, 'x'],
      ][(index + at) % 3] as unknown as readonly [string, Value];
    return [
      wideSpan(`indexed attributes, ${order}, one span`, CALL, (index) => message(0, index)),
      spans(`indexed attributes, ${order}, 4000 a span`, (index) => ({
        attributes: [...CALL, ...Array.from({ length: 4000 }, (_, at) => message(index, at))],
      })),
      spans(`indexed attributes, ${order}, 100 a span`, (index) => ({
        attributes: [...CALL, ...Array.from({ length: 100 }, (_, at) => message(index, at))],
      })),
    ];
  }),
  wideSpan('one attribute over and over', CALL, () => ['gen_ai.request.model', 'x']),
  wideSpan('new attributes', CALL, (index) => [`attribute${index}`, 'x']),
  wideSpan('new attributes of known heads', CALL, (index) => [`llm.a${index}.b.c`, 'x']),
  spans('new attributes of known heads, one each', (index) => ({ attributes: [[`gen_ai.${index}`, 'x']] })),
  spans(
    'new attributes of known heads, uncaptured',
    (index) => ({ attributes: [[`gen_ai.${index}`, 'x']] }),
    'uncaptured',
  ),
  spans('markers of all dialects, uncaptured', () => ({ attributes: MARKERS }), 'uncaptured'),
  spans(
    'new span names, uncaptured',
    (index) => ({ name: `gen_ai.${index}`, attributes: [['gen_ai.system', 'x']] }),
    'uncaptured',
  ),
  spans(
    'events, uncaptured',
    (index) => ({
      attributes: CALL,
      events: Array.from({ length: 40 }, (_, at) => ({
        name: `gen_ai.${index}.${at}`,
        attributes: [['content', 'x'] as const],
      })),
    }),
    'uncaptured',
  ),
  spans('new secret keys', (index) => ({ attributes: [[`a@b${index}.example`, 'x']] }), 'redacting'),
];

const RESOURCE_BODIES: readonly HostileBody[] = (['plain', 'redacting', 'uncaptured'] as const).flatMap((mode) => [
  {
    name: `new environments, ${mode}`,
    signal: 'traces' as const,
    encoding: 'protobuf' as const,
    mode,
    make: (size: number) =>
      repeated(size, (index) =>
        message(
          1,
          message(1, ...list(1, [['deployment.environment.name', `a@e${index}.com`]])),
          message(2, spanBytes({ attributes: [] })),
        ),
      ),
  },
  {
    name: `new scopes, ${mode}`,
    signal: 'traces' as const,
    encoding: 'protobuf' as const,
    mode,
    make: (size: number) =>
      message(
        1,
        repeated(size, (index) => message(2, message(1, text(1, `scope${index}`)), spanBytes({ attributes: CALL }))),
      ),
  },
  {
    name: `new log names, ${mode}`,
    signal: 'logs' as const,
    encoding: 'protobuf' as const,
    mode,
    make: (size: number) =>
      message(
        1,
        message(
          2,
          repeated(size, (index) => message(2, fixed64(1, 1n), text(12, `gen_ai.${index}`), message(5, text(1, 'x')))),
        ),
      ),
  },
]);

const NUMBER_BODIES: readonly HostileBody[] = [
  ...[17, 25, 40, 41, 800].map((count) =>
    json(`doubles of ${count} digits`, 'metrics', [
      `${HISTOGRAM}{"explicitBounds":[`,
      (index) => `${1 + (index % 9)}.${digits(count - 1, index)}e${(index % 600) - 300}`,
      `]}${HISTOGRAM_END}`,
    ]),
  ),
  json('doubles of 800 digits as attributes', 'traces', [
    SPAN_BEFORE,
    (index) => `{"key":"k","value":{"doubleValue":0.${digits(800, index)}}}`,
    SPAN_AFTER,
  ]),
  json('doubles of 800 digits in a list', 'traces', [
    `${SPAN_BEFORE}{"key":"k","value":{"arrayValue":{"values":[`,
    (index) => `{"doubleValue":0.${digits(800, index)}}`,
    `]}}}${SPAN_AFTER}`,
  ]),
  json('a double of one digit and many zeros', 'metrics', [
    GAUGE,
    (index) => `{"asDouble":0.${'0'.repeat(400)}${index}}`,
    GAUGE_END,
  ]),
  json('long integers', 'metrics', [GAUGE, (index) => `{"asDouble":${index + 1}${digits(300, index)}}`, GAUGE_END]),
  json('bounds of 24 digits', 'metrics', [
    `${HISTOGRAM}{"explicitBounds":[`,
    (index) => `${unit(index)}e-${7 + (index % 250)}`,
    `]}${HISTOGRAM_END}`,
  ]),
  json('large bounds', 'metrics', [
    `${HISTOGRAM}{"explicitBounds":[`,
    (index) => `${unit(index)}e${16 + (index % 250)}`,
    `]}${HISTOGRAM_END}`,
  ]),
  json('subnormal bounds', 'metrics', [
    `${HISTOGRAM}{"explicitBounds":[`,
    (index) => `${unit(index)}e-3${10 + (index % 13)}`,
    `]}${HISTOGRAM_END}`,
  ]),
  json('short bounds', 'metrics', [
    `${HISTOGRAM}{"explicitBounds":[`,
    (index) => `${index % 10}e-${7 + (index % 300)}`,
    `]}${HISTOGRAM_END}`,
  ]),
  bounds('doubles in protobuf', (index) => unit(index) * 10 ** (((index * 7) % 600) - 300)),
  bounds('powers of two in protobuf', (index) => 2 ** ((index % 2098) - 1074)),
];

const REDACTION_BODIES: readonly HostileBody[] = [
  ...REDACTION_UNITS.map((unit) => longText(unit)),
  ...REDACTION_UNITS.map((unit) => shortTexts(unit)),
  ...['John Smith Jon ', 'Aa Aa ', 'alice smit ', '12345678 ', '1234567890 ', 'TCK-12345', 'a', 'A'].flatMap((unit) => [
    longText(unit, 'patterns'),
    shortTexts(unit, 'patterns'),
  ]),
];

export const HOSTILE_BODIES: readonly HostileBody[] = [
  ...SPAN_BODIES,
  ...RESOURCE_BODIES,
  ...NUMBER_BODIES,
  ...REDACTION_BODIES,
];
