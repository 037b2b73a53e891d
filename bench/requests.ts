/**
 * Distinct request bodies for the benchmarks, see `src/cli/bench/requests.ts`. Each has an unknown field with a stamp,
 * which servers that keep no spans by id process like new spans; or the ids of its traces are new.
 */
import { randomFillSync } from 'node:crypto';
import { crc32, gzipSync } from 'node:zlib';
import { type IdentifiedBody, identify } from '../src/cli/bench/identified-body.ts';
import { Copies, type Requests } from '../src/cli/bench/requests.ts';
import { SIGNAL_TRACES } from '../src/pdata/layout.ts';
import { loadProtos } from '../test/support/protos.ts';

const STAMP_BYTES = 8;
/** Field 1000 of the request is unknown, so receivers skip it. */
const UNKNOWN_FIELD = Buffer.from([0xc2, 0x3e, STAMP_BYTES, ...Buffer.alloc(STAMP_BYTES)]);
/** Level 0 stores the field uncompressed, so that its stamp can be overwritten in place. Its checksum follows it. */
const STAMP_MEMBER = gzipSync(UNKNOWN_FIELD, { level: 0 });
const FIELD_AT = STAMP_MEMBER.indexOf(UNKNOWN_FIELD);
const FIELD_END = FIELD_AT + UNKNOWN_FIELD.length;
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

interface Decoded {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: Uint8Array }[] }[];
  }[];
}

/** Finds the ids of the traces in a protobuf body. */
export function identified(body: Buffer): IdentifiedBody {
  const message = loadProtos().requests[SIGNAL_TRACES].decode(body) as unknown as Decoded;
  const spans = message.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  const ids = new Set(spans.map(({ traceId }) => Buffer.from(traceId).toString('hex')));
  return identify(
    body,
    [...ids].map((hex) => Buffer.from(hex, 'hex')),
  );
}
