/** Expands the same bytes with the inflater of both WASM modules and with zlib, and reports differences. */
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

const LIMIT_BYTES = 1024 * 1024;

/** The result of an expansion: the bytes, or the kind of refusal. */
export interface Expansion {
  readonly bytes: Buffer | null;
  /** The number of consumed compressed bytes. */
  readonly used: number;
  readonly refusal: string;
}

const refused = (refusal: string): Expansion => ({ bytes: null, used: 0, refusal });

export class InflateJudge {
  readonly #wire = loadWire(1n);
  /** Pauses wherever it can. */
  readonly #pausing = loadWire(1n, { pauses: true, stepMs: 0 });

  /** Expands raw DEFLATE. A trap is a bug of the module and is thrown. */
  raw(stream: Buffer, limitBytes = LIMIT_BYTES): Expansion {
    return this.#byBoth((wire) => expandRaw(wire, stream, limitBytes));
  }

  gzip(body: Buffer, limitBytes = LIMIT_BYTES): Expansion {
    return this.#byBoth((wire) => expandGzip(wire, body, limitBytes));
  }

  /** The difference for a raw stream; empty when there is none. */
  rawDifference(stream: Buffer): string {
    return differenceOf(this.raw(stream), rawByZlib(stream));
  }

  gzipDifference(body: Buffer): string {
    return differenceOf(this.gzip(body), gzipByZlib(body));
  }

  #byBoth(expand: (wire: Wire) => Expansion): Expansion {
    const expansion = expand(this.#wire);
    const inSteps = expand(this.#pausing);
    const isSame = inSteps.bytes === null ? expansion.bytes === null : expansion.bytes?.equals(inSteps.bytes) === true;
    if (!isSame || inSteps.used !== expansion.used || inSteps.refusal !== expansion.refusal)
      throw new Error(`in steps ${inSteps.refusal}, at once ${expansion.refusal}`);
    return expansion;
  }
}

function expandRaw({ bytes, exports, inSteps }: Wire, stream: Buffer, limitBytes: number): Expansion {
  const end = COMPRESSED_BASE + stream.length;
  bytes.set(stream, COMPRESSED_BASE);
  bytes.fill(0, end, end + COMPRESSED_PADDING);
  try {
    finish(inSteps(() => exports.inflate(COMPRESSED_BASE, end, INPUT_BASE, INPUT_BASE + limitBytes)));
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

function expandGzip(wire: Wire, body: Buffer, limitBytes: number): Expansion {
  try {
    const bytes = Buffer.from(finish(gunzip(wire, body, limitBytes)));
    return { bytes, used: body.length, refusal: '' };
  } catch (error) {
    if (error instanceof Rejection) return refused(error.code);
    throw error;
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

/** zlib ignores everything behind a zero after a member. Here only zeros may follow: nothing of a body is dropped. */
export function gzipByZlib(body: Buffer, limitBytes = LIMIT_BYTES): Expansion {
  try {
    // The types do not have `info`.
    const { buffer, engine } = gunzipSync(body, { maxOutputLength: limitBytes, info: true } as object) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (body.subarray(engine.bytesWritten).some((byte) => byte !== 0)) return refused('bytes behind the padding');
    return { bytes: buffer, used: body.length, refusal: '' };
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
