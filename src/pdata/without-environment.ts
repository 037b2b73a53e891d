/**
 * An OTLP request in protobuf without the resources of one environment. Everything else keeps its bytes. The
 * environment of a resource is found as the processor `environment` finds it.
 */
import { environmentNamed } from './environment.ts';
import { fieldsOf } from './protobuf-fields.ts';
import type { Shortened } from './without-trace.ts';

/** Fields of a request and of its resources: a resource with its scopes, their records. */
const RESOURCE_BLOCK = 1;
const RESOURCE = 1;
const SCOPES = 2;
const RECORDS = 2;
/** Fields of a metric that have points, in which they are the first field. */
const POINT_FIELDS: ReadonlySet<number> = new Set([5, 7, 9, 10, 11]);
const POINTS = 1;
/** Fields of a resource, an attribute and its value. */
const ATTRIBUTES = 1;
const [KEY, VALUE] = [1, 2];
const TEXT = 1;
/** The first one with a text decides. */
const NAMES = ['deployment.environment.name', 'deployment.environment'] as const;

export interface EnvironmentChoice {
  readonly environment: string;
  /** Whether resources without an environment are of this one. */
  readonly isDefault: boolean;
}

/** Throws for bytes that are no such message. */
export function withoutEnvironment(
  body: Buffer,
  signal: 'traces' | 'logs' | 'metrics',
  { environment, isDefault }: EnvironmentChoice,
): Shortened {
  const pieces: Buffer[] = [];
  let [records, removed] = [0, 0];
  for (const { number, content, whole } of fieldsOf(body)) {
    const isBlock = number === RESOURCE_BLOCK && content !== null;
    const count = isBlock ? recordsOf(content, signal) : 0;
    const found = isBlock ? environmentOf(content) : null;
    if (isBlock && (found === environment || (found === null && isDefault))) removed += count;
    else {
      records += count;
      pieces.push(whole);
    }
  }
  return { body: records === 0 && removed > 0 ? null : Buffer.concat(pieces), records, removed };
}

/** Null: it names none. */
function environmentOf(block: Buffer): string | null {
  const texts = new Map<string, string>();
  for (const resource of contentsOf(block, RESOURCE))
    for (const attribute of contentsOf(resource, ATTRIBUTES)) {
      const key = contentsOf(attribute, KEY).at(-1)?.toString() ?? '';
      const text = textOf(contentsOf(attribute, VALUE).at(-1));
      if (text !== null) texts.set(key, text);
    }
  for (const name of NAMES) {
    const text = environmentNamed(texts.get(name) ?? '');
    if (text !== '') return text;
  }
  return null;
}

/** The text of a value; null when it is no text. Of several the last one counts. */
function textOf(value: Buffer | undefined): string | null {
  const last = value === undefined ? undefined : [...fieldsOf(value)].at(-1);
  return last?.number === TEXT ? (last.content?.toString() ?? null) : null;
}

function recordsOf(block: Buffer, signal: 'traces' | 'logs' | 'metrics'): number {
  const records = contentsOf(block, SCOPES).flatMap((scope) => contentsOf(scope, RECORDS));
  return signal === 'metrics' ? records.reduce((sum, metric) => sum + pointsOf(metric), 0) : records.length;
}

const pointsOf = (metric: Buffer): number =>
  [...fieldsOf(metric)].reduce(
    (sum, { number, content }) =>
      sum + (POINT_FIELDS.has(number) && content !== null ? contentsOf(content, POINTS).length : 0),
    0,
  );

const contentsOf = (message: Buffer, wanted: number): readonly Buffer[] =>
  [...fieldsOf(message)].flatMap(({ number, content }) => (number === wanted && content !== null ? [content] : []));
