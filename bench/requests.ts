/**
 * Request bodies of which no two are the same, made cheaply out of a few: a server that recognises what it has stored must have
 * work to do each time.
 */
import { randomBytes, randomFillSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { SIGNAL_TRACES } from '../src/model/layout.ts';
import { loadProtos } from '../test/support/protos.ts';

export interface Requests {
  readonly contentEncoding: 'gzip' | 'identity';
  next(): Buffer;
}

/** Field 1000 of the request, which no message has: receivers skip it. */
const UNKNOWN_FIELD = Buffer.from([0xc2, 0x3e]);
const STAMP_BYTES = 8;
const TRACE_ID_BYTES = 16;

/** The same spans in ever new bytes: a second gzip member holds a field that nobody knows. */
export class StampedRequests implements Requests {
  readonly contentEncoding = 'gzip';
  readonly #bodies: readonly Buffer[];
  #count = 0;

  constructor(gzipBodies: readonly Buffer[]) {
    this.#bodies = gzipBodies;
  }

  next(): Buffer {
    const stamp = Buffer.concat([UNKNOWN_FIELD, Buffer.of(STAMP_BYTES), randomBytes(STAMP_BYTES)]);
    const body = this.#bodies[this.#count++ % this.#bodies.length] as Buffer;
    // A gzip body may have several members, and a protobuf message may be put together from pieces.
    return Buffer.concat([gzipSync(stamp, { level: 1 }), body]);
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
  #count = 0;

  constructor(bodies: readonly Buffer[]) {
    this.#bodies = bodies.map((bytes) => ({ bytes, ids: placesOfIds(bytes) }));
  }

  next(): Buffer {
    const { bytes, ids } = this.#bodies[this.#count++ % this.#bodies.length] as Patchable;
    const body = Buffer.from(bytes);
    for (const places of ids) {
      const [first = 0, ...rest] = places;
      randomFillSync(body, first, TRACE_ID_BYTES);
      for (const place of rest) body.copy(body, place, first, first + TRACE_ID_BYTES);
    }
    return body;
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
