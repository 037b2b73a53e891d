/**
 * Distinct request bodies, made cheaply from a few: a server that recognizes replays must process each of them.
 */
import { randomFillSync } from 'node:crypto';
import { crc32, gzipSync } from 'node:zlib';
import { SIGNAL_TRACES } from '../src/pdata/layout.ts';
import { loadProtos } from '../test/support/protos.ts';

export interface Requests {
  readonly contentEncoding: 'gzip' | 'identity';
  next(): Buffer;
  /**
   * Returns a body of `next` for reuse after its answer, so that the client does not measure its own garbage
   * collection.
   */
  done(body: Buffer): void;
}

const STAMP_BYTES = 8;
/** Field 1000 of the request is unknown, so receivers skip it. */
const UNKNOWN_FIELD = Buffer.from([0xc2, 0x3e, STAMP_BYTES, ...Buffer.alloc(STAMP_BYTES)]);
/** Level 0 stores the field uncompressed, so that its stamp can be overwritten in place. Its checksum follows it. */
const STAMP_MEMBER = gzipSync(UNKNOWN_FIELD, { level: 0 });
const FIELD_AT = STAMP_MEMBER.indexOf(UNKNOWN_FIELD);
const FIELD_END = FIELD_AT + UNKNOWN_FIELD.length;
const TRACE_ID_BYTES = 16;

/** Reusable copies of a few bodies, each with the index of its original. */
class Copies<Origin> {
  readonly #spare = new Map<Origin, Buffer[]>();
  readonly #origins = new WeakMap<Buffer, Origin>();
  readonly #copy: (origin: Origin) => Buffer;

  constructor(copy: (origin: Origin) => Buffer) {
    this.#copy = copy;
  }

  take(origin: Origin): Buffer {
    const spare = this.#spare.get(origin)?.pop();
    if (spare !== undefined) return spare;
    const made = this.#copy(origin);
    this.#origins.set(made, origin);
    return made;
  }

  give(copy: Buffer): void {
    const origin = this.#origins.get(copy) as Origin;
    const spare = this.#spare.get(origin) ?? [];
    this.#spare.set(origin, spare);
    spare.push(copy);
  }
}

/** The same spans in new bytes: a gzip member before them has an unknown field. */
export class StampedRequests implements Requests {
  readonly contentEncoding = 'gzip';
  readonly #bodies: readonly Buffer[];
  // A gzip body may have several members, and concatenated protobuf messages are merged.
  readonly #copies = new Copies<Buffer>((body) => Buffer.concat([STAMP_MEMBER, body]));
  #count = 0;

  constructor(gzipBodies: readonly Buffer[]) {
    this.#bodies = gzipBodies;
  }

  next(): Buffer {
    const body = this.#copies.take(this.#bodies[this.#count++ % this.#bodies.length] as Buffer);
    randomFillSync(body, FIELD_END - STAMP_BYTES, STAMP_BYTES);
    body.writeUInt32LE(crc32(body.subarray(FIELD_AT, FIELD_END)), FIELD_END);
    return body;
  }

  done(body: Buffer): void {
    this.#copies.give(body);
  }
}

interface Patchable {
  readonly bytes: Buffer;
  /** The offsets of the id of each trace. */
  readonly ids: readonly (readonly number[])[];
}

/**
 * New spans each time, for a store that keeps each span once: the trace ids are overwritten, so the bodies are not
 * compressed.
 */
export class FreshRequests implements Requests {
  readonly contentEncoding = 'identity';
  readonly #bodies: readonly Patchable[];
  readonly #copies = new Copies<Patchable>(({ bytes }) => Buffer.from(bytes));
  #count = 0;

  constructor(bodies: readonly Buffer[]) {
    this.#bodies = bodies.map((bytes) => ({ bytes, ids: placesOfIds(bytes) }));
  }

  next(): Buffer {
    const patchable = this.#bodies[this.#count++ % this.#bodies.length] as Patchable;
    const body = this.#copies.take(patchable);
    for (const places of patchable.ids) {
      const [first = 0, ...rest] = places;
      randomFillSync(body, first, TRACE_ID_BYTES);
      for (const place of rest) body.copy(body, place, first, first + TRACE_ID_BYTES);
    }
    return body;
  }

  done(body: Buffer): void {
    this.#copies.give(body);
  }
}

interface Decoded {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: Uint8Array }[] }[];
  }[];
}

/** The offsets of the id of each trace. */
function placesOfIds(body: Buffer): readonly (readonly number[])[] {
  const message = loadProtos().requests[SIGNAL_TRACES].decode(body) as unknown as Decoded;
  const spans = message.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  const ids = new Set(spans.map(({ traceId }) => Buffer.from(traceId).toString('hex')));
  return [...ids].map((hex) => {
    const id = Buffer.from(hex, 'hex');
    const places: number[] = [];
    for (let at = body.indexOf(id); at >= 0; at = body.indexOf(id, at + TRACE_ID_BYTES)) places.push(at);
    return places;
  });
}
