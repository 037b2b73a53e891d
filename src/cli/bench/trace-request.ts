/** Requests of benchmark spans, as OTLP protobuf. */
import { randomBytes } from 'node:crypto';
import { Dice } from '../demo/dice.ts';
import { type IdentifiedBody, identify, TRACE_ID_BYTES } from './identified-body.ts';
import { modelCallAttributes, smallSpanAttributes } from './span-content.ts';
import { bits64Field, lengthField, numberField } from '../../pdata/protobuf-fields.ts';
import { MS_NS } from '../../pdata/time-units.ts';

/** How many spans of each kind are model calls: one of so many; 0 for none. */
export const KINDS: ReadonlyMap<string, number> = new Map([
  ['mix', 4],
  ['model-calls', 1],
  ['small-spans', 0],
]);

export interface RequestShape {
  readonly spans: number;
  /** A key of `KINDS`. */
  readonly kind: string;
  readonly environment: string;
  readonly nowMs: number;
}

const SPANS_OF_A_TRACE = 8;
const SPAN_ID_BYTES = 8;
/** All spans of a request begin at the same time. The longest ends at the time of the run. */
const LONGEST_MS = 4000;
const CLIENT = 3;
const SERVICE = 'sluice-bench';
const SCOPE = { name: 'sluice.bench', version: '1' };

/** Different seeds make different content. */
export function makeTraceRequest({ spans, kind, environment, nowMs }: RequestShape, seed: string): IdentifiedBody {
  const dice = new Dice(seed);
  const every = KINDS.get(kind) ?? 0;
  const start = BigInt(nowMs - LONGEST_MS) * MS_NS;
  const ids = Array.from({ length: Math.ceil(spans / SPANS_OF_A_TRACE) }, () => randomBytes(TRACE_ID_BYTES));
  const written = Array.from({ length: spans }, (_, index) => {
    const isCall = every > 0 && index % every === 0;
    const end = start + BigInt(dice.between(1, LONGEST_MS)) * MS_NS;
    return delimited(
      2,
      delimited(1, ids[Math.floor(index / SPANS_OF_A_TRACE)] as Buffer),
      delimited(2, Buffer.from(dice.id(SPAN_ID_BYTES), 'hex')),
      delimited(5, isCall ? 'chat gpt-5-mini' : 'GET /v1/items'),
      numberField(6, CLIENT),
      fixed64(7, start),
      fixed64(8, end),
      ...attributes(9, isCall ? modelCallAttributes(dice) : smallSpanAttributes(dice)),
    );
  });
  const resource = attributes(1, { 'service.name': SERVICE, 'deployment.environment.name': environment });
  const scope = delimited(1, delimited(1, SCOPE.name), delimited(2, SCOPE.version));
  return identify(delimited(1, delimited(1, ...resource), delimited(2, scope, ...written)), ids);
}

type Scalar = string | number | boolean | readonly string[];

function attributes(field: number, record: Readonly<Record<string, Scalar>>): readonly Buffer[] {
  return Object.entries(record).map(([key, value]) => delimited(field, delimited(1, key), delimited(2, any(value))));
}

function any(value: Scalar): Buffer {
  if (typeof value === 'string') return delimited(1, value);
  if (typeof value === 'boolean') return numberField(2, Number(value));
  if (typeof value === 'number') return Number.isInteger(value) ? numberField(3, value) : double(4, value);
  return delimited(5, ...value.map((each) => delimited(1, any(each))));
}

function delimited(field: number, ...content: readonly (Buffer | string)[]): Buffer {
  const parts = content.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  return Buffer.concat(lengthField(field, Buffer.concat(parts)));
}

function fixed64(field: number, value: bigint): Buffer {
  const bits = Buffer.alloc(8);
  bits.writeBigUInt64LE(value);
  return bits64Field(field, bits);
}

function double(field: number, value: number): Buffer {
  const bits = Buffer.alloc(8);
  bits.writeDoubleLE(value);
  return bits64Field(field, bits);
}
