/**
 * The traces of a day of `sluice demo --scale`, as protobuf, which all back ends take, and two traces of one span each
 * in its middle: one has a model of its own, the other a word of its own in its prompt.
 */
import { gzipSync } from 'node:zlib';
import { LARGE_TRACE_SPANS, makeDay } from '../../src/cli/demo/day.ts';
import { CLIENT, spanOf } from '../../src/cli/demo/otlp.ts';
import { SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { encodeProtobuf, loadProtos, type Message, type Value } from '../../test/support/protos.ts';
import { KEY } from '../daemon.ts';
import { DAY_MS, MS_NS } from '../../src/pdata/time-units.ts';

export const LARGE_TRACE = { root: 'invoke_agent nightly-evaluation', spans: LARGE_TRACE_SPANS };
/** Spans that a filter finds, by name. */
export const RARE_MODEL = { name: 'chat rare', model: 'rare-model', prompt: 'Which boat goes to the island?' };
export const RARE_WORD = { name: 'chat about stones', model: 'gpt-5-mini', word: 'quartz' };

export interface Day {
  /** Requests, gzip. */
  readonly bodies: readonly Buffer[];
  readonly spans: number;
  /** The id of the trace of 10,000 spans. */
  readonly large: string;
}

/** `url`: of the receiver. Throws when a request is not accepted. */
export async function sendDay(url: string, { bodies }: Day): Promise<void> {
  const headers = {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'gzip',
    authorization: `Bearer ${KEY}`,
  };
  for (const body of bodies) {
    const answer = await fetch(`${url}/v1/traces`, { method: 'POST', body, headers });
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  }
}

export function makeTraces(nowMs: number): Day {
  const type = loadProtos().requests[SIGNAL_TRACES];
  const encode = (body: object): Buffer => gzipSync(encodeProtobuf(type, neutral(body) as Message));
  const parts = [...makeDay({ nowMs, lengthMs: DAY_MS, environment: 'demo', seed: 'pages' })].filter(
    ({ request }) => request.path === '/v1/traces',
  );
  const large = parts.find(({ largeTrace }) => largeTrace !== null)?.largeTrace ?? '';
  const rare = [RARE_MODEL, { ...RARE_WORD, prompt: `Where is ${RARE_WORD.word} found?` }];
  const middle = nowMs - DAY_MS / 2;
  return {
    bodies: [...parts.map(({ request }) => encode(request.body)), encode(traceOfEach(rare, middle))],
    spans: parts.reduce((sum, { spans }) => sum + spans, rare.length),
    large,
  };
}

interface Call {
  readonly name: string;
  readonly model: string;
  readonly prompt: string;
}

function traceOfEach(calls: readonly Call[], atMs: number): object {
  const spans = calls.map(({ name, model, prompt }, index) => {
    const id = String(index + 1);
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model,
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: prompt }] }]),
    };
    const step = { id: id.padStart(16, '0'), parent: null, name, kind: CLIENT, from: 0, to: 1_000, attributes };
    return spanOf(step, id.padStart(32, '0'), (ms) => String(BigInt(atMs + ms) * MS_NS));
  });
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

/** From OTLP/JSON: ids as bytes, 64-bit integers as bigint. */
function neutral(value: unknown, name = ''): Value {
  if (Array.isArray(value)) return value.map((each) => neutral(each));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, neutral(inner, key)]));
  if (typeof value === 'string' && /Nano$|^intValue$/u.test(name)) return BigInt(value);
  if (typeof value === 'string' && /^(?:trace|span|parentSpan)Id$/u.test(name)) return Buffer.from(value, 'hex');
  return value as Value;
}
