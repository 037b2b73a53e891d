/**
 * Bodies that need much memory compared with their size as sent. Each call makes a new body, so that none is a replay.
 */
import { randomBytes } from 'node:crypto';
import { attribute, logs, resourceOf, spanFields, spans } from './protobuf.ts';

const MIB = 1_048_576;
/** A little below the limit of 16 MiB expanded. */
const LARGEST = 16 * MIB - 4096;
const LARGEST_RAW = 4 * MIB - 4096;

export interface BodyKind {
  readonly name: string;
  readonly signal: 'traces' | 'logs';
  /** Sent without compression; otherwise as gzip. */
  readonly plain?: boolean;
  make(): Buffer;
}

const oneSpan = (value: Buffer): Buffer => resourceOf([], spans(1, spanFields('large', [attribute(9, 'k', value)])));

/** Half letters, half control characters, which are escaped to six bytes each: close to the largest rows. */
function halfControl(): Buffer {
  const value = Buffer.alloc(LARGEST, 'a');
  return value.fill(1, 0, LARGEST / 2);
}

/** As many equal spans as fit. */
function fill(bytes: number, fields: Buffer): Buffer {
  const length = fields.length + 30;
  return resourceOf([], spans(Math.floor((bytes - 1024) / (length + 4)), fields));
}

const call = [
  attribute(9, 'gen_ai.operation.name', 'chat'),
  attribute(9, 'gen_ai.request.model', 'gpt-4o'),
  attribute(9, 'gen_ai.input.messages', '[{"role":"user","parts":[{"type":"text","content":"hello"}]}]'),
];

/** One resource for each span. */
function manyResources(count: number): Buffer {
  const run = randomBytes(4).toString('hex');
  return Buffer.concat(
    Array.from({ length: count }, (_, at) =>
      resourceOf([attribute(1, 'service.name', `${run}-${at}`)], spans(1, spanFields('x'))),
    ),
  );
}

export const BODY_KINDS: readonly BodyKind[] = [
  {
    name: 'one string of 16 MiB, all control characters',
    signal: 'traces',
    make: () => oneSpan(Buffer.alloc(LARGEST, 1)),
  },
  { name: 'one string of 16 MiB, half control characters', signal: 'traces', make: () => oneSpan(halfControl()) },
  { name: 'one string of 16 MiB, quotes', signal: 'traces', make: () => oneSpan(Buffer.alloc(LARGEST, '"')) },
  { name: 'one string of 16 MiB, letters', signal: 'traces', make: () => oneSpan(Buffer.alloc(LARGEST, 'a')) },
  {
    name: 'a log body of 16 MiB',
    signal: 'logs',
    make: () => resourceOf([attribute(1, 'run', randomBytes(8).toString('hex'))], logs(1, Buffer.alloc(LARGEST, 'b'))),
  },
  {
    name: '4 MiB of random bytes as text',
    signal: 'traces',
    plain: true,
    make: () => oneSpan(randomText(LARGEST_RAW)),
  },
  { name: 'small spans, 16 MiB', signal: 'traces', make: () => fill(LARGEST, spanFields('x')) },
  { name: 'small spans, 4 MiB as sent', signal: 'traces', plain: true, make: () => fill(LARGEST_RAW, spanFields('x')) },
  { name: 'model calls, 16 MiB', signal: 'traces', make: () => fill(LARGEST, spanFields('chat', call)) },
  { name: 'many resources', signal: 'traces', make: () => manyResources(60_000) },
  {
    name: 'a resource of 1 MiB, 700 spans',
    signal: 'traces',
    make: () => resourceOf([attribute(1, 'blob', Buffer.alloc(MIB, 'a'))], spans(700, spanFields('x'))),
  },
];

/** Text that gzip hardly compresses. */
function randomText(bytes: number): Buffer {
  return Buffer.from(randomBytes(Math.floor((bytes * 3) / 4)).toString('base64'));
}
