/** Expands the same bytes with the WASM module's inflater and with zlib, and reports differences. */
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { Rejection } from '../../src/errors.ts';
import {
  COMPRESSED_BASE,
  COMPRESSED_PADDING,
  HEADER_BASE,
  HEADER_INFLATE_END,
  HEADER_INFLATED,
  INPUT_BASE,
} from '../../src/pdata/layout.ts';
import { gunzip } from '../../src/pdata/gunzip.ts';
import { loadWire, type Wire, WireFault } from '../../src/pdata/load-wasm.ts';
import { finish } from '../../src/pdata/steps.ts';

export const LIMIT_BYTES = 1024 * 1024;

/** The result of an expansion: the bytes, or the kind of refusal. */
export interface Expansion {
  readonly bytes: Buffer | null;
  /** The number of consumed compressed bytes. */
  readonly used: number;
  readonly refusal: string;
}

const refused = (refusal: string): Expansion => ({ bytes: null, used: 0, refusal });

export class InflateJudge {
  readonly #wire: Wire;

  constructor(wire: Wire = loadWire(1n)) {
    this.#wire = wire;
  }

  /** Expands raw DEFLATE with the module. A trap is a bug of the module and is thrown. */
  raw(stream: Buffer, limitBytes = LIMIT_BYTES): Expansion {
    const { bytes, exports } = this.#wire;
    const end = COMPRESSED_BASE + stream.length;
    bytes.set(stream, COMPRESSED_BASE);
    bytes.fill(0, end, end + COMPRESSED_PADDING);
    try {
      exports.inflate(COMPRESSED_BASE, end, INPUT_BASE, INPUT_BASE + limitBytes);
    } catch (error) {
      if (error instanceof WireFault) return refused(`fault ${error.code}`);
      throw error;
    }
    return {
      bytes: bytes.subarray(INPUT_BASE, bytes.readUInt32LE(HEADER_BASE + HEADER_INFLATED)),
      used: bytes.readUInt32LE(HEADER_BASE + HEADER_INFLATE_END) - COMPRESSED_BASE,
      refusal: '',
    };
  }

  gzip(body: Buffer, limitBytes = LIMIT_BYTES): Expansion {
    try {
      const bytes = Buffer.from(finish(gunzip(this.#wire, body, limitBytes)));
      return { bytes, used: body.length, refusal: '' };
    } catch (error) {
      if (error instanceof Rejection) return refused(error.code);
      throw error;
    }
  }

  /** The difference for a raw stream; empty when there is none. */
  rawDifference(stream: Buffer): string {
    return differenceOf(this.raw(stream), rawByZlib(stream));
  }

  gzipDifference(body: Buffer): string {
    return differenceOf(this.gzip(body), gzipByZlib(body));
  }
}

export function rawByZlib(stream: Buffer, limitBytes = LIMIT_BYTES): Expansion {
  try {
    // The types do not have `info`.
    const answer = inflateRawSync(stream, { maxOutputLength: limitBytes, info: true } as object) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return { bytes: answer.buffer, used: answer.engine.bytesWritten, refusal: '' };
  } catch (error) {
    return refused(String((error as NodeJS.ErrnoException).code));
  }
}

export function gzipByZlib(body: Buffer, limitBytes = LIMIT_BYTES): Expansion {
  try {
    return { bytes: gunzipSync(body, { maxOutputLength: limitBytes }), used: body.length, refusal: '' };
  } catch (error) {
    return refused(String((error as NodeJS.ErrnoException).code));
  }
}

function differenceOf(module: Expansion, zlib: Expansion): string {
  if (module.bytes === null || zlib.bytes === null) {
    if (module.bytes === null && zlib.bytes === null) return '';
    return module.bytes === null ? `only the module refuses: ${module.refusal}` : `only zlib refuses: ${zlib.refusal}`;
  }
  if (!module.bytes.equals(zlib.bytes)) return `${module.bytes.length} bytes, zlib has ${zlib.bytes.length} others`;
  return module.used === zlib.used ? '' : `${module.used} bytes were used, zlib used ${zlib.used}`;
}
