/**
 * Request bodies of which no two are the same, made cheaply out of a few: a server that recognises what it has stored must have
 * work to do each time.
 */
import { randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SIGNAL_TRACES } from '../src/model/layout.ts';
import { loadProtos } from '../test/support/protos.ts';

export interface Requests {
  readonly contentEncoding: 'gzip' | 'identity';
  next(): Buffer;
  /** Takes a body of `next` back once it was answered: a client that makes garbage of them measures its own collector. */
  done(body: Buffer): void;
}

/** Field 1000 of the request, which no message has: receivers skip it. */
const STAMP_BYTES = 8;
const UNKNOWN_FIELD = Buffer.from([0xc2, 0x3e, STAMP_BYTES, ...Buffer.alloc(STAMP_BYTES)]);
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const STAMP_AT = GZIP_HEADER.length + 5 + UNKNOWN_FIELD.length - STAMP_BYTES;
const TRACE_ID_BYTES = 16;

/** A gzip member of one block that is stored as it is. */
function storedMember(data: Buffer): Buffer {
  const block = Buffer.alloc(5);
  block.writeUInt8(1); // the last block, stored
  block.writeUInt16LE(data.length, 1);
  block.writeUInt16LE(~data.length & 0xffff, 3);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(data));
  trailer.writeUInt32LE(data.length, 4);
  return Buffer.concat([GZIP_HEADER, block, data, trailer]);
}

/** Copies of a few bodies, used again and again; each knows which of them it is a copy of. */
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

/** The same spans in ever new bytes: a gzip member before them holds a field that nobody knows. */
export class StampedRequests implements Requests {
  readonly contentEncoding = 'gzip';
  readonly #bodies: readonly Buffer[];
  // A gzip body may have several members, and a protobuf message may be put together from pieces.
  readonly #copies = new Copies<Buffer>((body) => Buffer.concat([storedMember(UNKNOWN_FIELD), body]));
  #count = 0;

  constructor(gzipBodies: readonly Buffer[]) {
    this.#bodies = gzipBodies;
  }

  next(): Buffer {
    const body = this.#copies.take(this.#bodies[this.#count++ % this.#bodies.length] as Buffer);
    const stampEnd = STAMP_AT + STAMP_BYTES;
    randomFillSync(body, STAMP_AT, STAMP_BYTES);
    body.writeUInt32LE(crc32(body.subarray(stampEnd - UNKNOWN_FIELD.length, stampEnd)), stampEnd);
    return body;
  }

  done(body: Buffer): void {
    this.#copies.give(body);
  }
}

interface Patchable {
  readonly bytes: Buffer;
  /** For each trace, where its id stands. */
  readonly ids: readonly (readonly number[])[];
}

/** Other spans each time, for a store that keeps each span once: the trace ids are written over, so the bodies are not compressed. */
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

/** For each trace, where its id stands. */
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
