/** OTLP/JSON of the demonstrations: spans, attributes and requests from short descriptions. */

type Scalar = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, Scalar>>;

export interface DemoRequest {
  readonly path: '/v1/traces' | '/v1/logs' | '/v1/metrics';
  readonly body: object;
}

/** Returns the length of the body; null if it was not sent, because the daemon has no pipeline of this signal. */
export type Send = (request: DemoRequest) => Promise<number | null>;

const ERROR = 2;
export const INTERNAL = 1;
export const SERVER = 2;
export const CLIENT = 3;

export interface Step {
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly kind: number;
  /** Milliseconds since the begin of the run. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly failure?: string;
  readonly events?: readonly { readonly name: string; readonly at: number; readonly attributes: Attributes }[];
}

export function spanOf(step: Step, traceId: string, at: (ms: number) => string): object {
  const { id, parent, name, kind, from, to, attributes, failure, events = [] } = step;
  return {
    traceId,
    spanId: id,
    ...(parent === null ? {} : { parentSpanId: parent }),
    name,
    kind,
    startTimeUnixNano: at(from),
    endTimeUnixNano: at(to),
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      name: event.name,
      timeUnixNano: at(event.at),
      attributes: attributesOf(event.attributes),
    })),
    status: failure === undefined ? {} : { code: ERROR, message: failure },
  };
}

export function attributesOf(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: Scalar): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}
