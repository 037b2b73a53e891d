/**
 * Damaged gzip bodies from a seed: streams with every option of zlib and every kind of header, damaged mostly in
 * headers and code lengths. The body and its raw stream, which no checksum protects, must have the same result as with
 * zlib.
 */
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { Random } from '../../support/generators-random.ts';
import { InflateJudge } from '../../support/inflate-judge.ts';

const STRATEGIES = [
  constants.Z_DEFAULT_STRATEGY,
  constants.Z_FILTERED,
  constants.Z_HUFFMAN_ONLY,
  constants.Z_RLE,
  constants.Z_FIXED,
] as const;
const WORDS = [
  '"gen_ai.',
  'usage',
  'input_tokens',
  'user',
  ' the ',
  'aaaa',
  '\u00e9',
  '{}',
  '0123456789abcdef',
  '\n',
] as const;
const MAX_WORDS = 400;
const HEADER_BYTES = 10;
/** Half of the damage is in these first bytes: headers and code lengths. */
const HEAD_BYTES = 96;
const MAX_DAMAGE = 3;
const MAX_KEPT = 20;

export interface GzipCampaignOptions {
  readonly count: number;
  readonly seed: number;
  readonly specimens?: number;
}

export interface GzipCampaignReport {
  readonly count: number;
  readonly accepted: number;
  readonly refused: number;
  readonly differences: number;
  /** The first differences, with their bytes as base64. */
  readonly kept: readonly string[];
}

export class GzipCampaign {
  readonly #random: Random;
  readonly #judge = new InflateJudge();
  readonly #count: number;
  readonly #specimens: readonly Buffer[];

  constructor({ count, seed, specimens = 200 }: GzipCampaignOptions) {
    this.#random = new Random(seed);
    this.#count = count;
    this.#specimens = Array.from({ length: specimens }, () => this.#specimen());
  }

  run(): GzipCampaignReport {
    let accepted = 0;
    let differences = 0;
    const kept: string[] = [];
    for (let done = 0; done < this.#count; done++) {
      const body = this.#damaged();
      const stream = body.subarray(HEADER_BYTES);
      if (this.#judge.raw(stream).bytes !== null) accepted++;
      for (const [form, difference] of [
        ['gzip', this.#judge.gzipDifference(body)],
        ['raw', this.#judge.rawDifference(stream)],
      ]) {
        if (difference === '') continue;
        differences++;
        if (kept.length < MAX_KEPT) kept.push(`${form}: ${difference} (${body.toString('base64')})`);
      }
    }
    return { count: this.#count, accepted, refused: this.#count - accepted, differences, kept };
  }

  #specimen(): Buffer {
    const body = this.#member();
    if (this.#random.once(8)) return Buffer.concat([body, this.#member()]);
    if (this.#random.once(8)) return Buffer.concat([body, Buffer.alloc(this.#random.below(20))]);
    return body;
  }

  #member(): Buffer {
    const content = this.#content();
    const cut = this.#random.once(2) ? this.#random.below(content.length + 1) : 0;
    const flush = this.#random.once(2) ? constants.Z_SYNC_FLUSH : constants.Z_FULL_FLUSH;
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(content));
    trailer.writeUInt32LE(content.length, 4);
    return Buffer.concat([
      this.#header(),
      cut === 0
        ? Buffer.alloc(0)
        : deflateRawSync(content.subarray(0, cut), { ...this.#options(), finishFlush: flush }),
      deflateRawSync(content.subarray(cut), this.#options()),
      trailer,
    ]);
  }

  #options(): { level: number; strategy: number; memLevel: number; windowBits: number } {
    return {
      level: this.#random.below(10),
      strategy: this.#random.pick(STRATEGIES),
      memLevel: 1 + this.#random.below(9),
      windowBits: 9 + this.#random.below(7),
    };
  }

  #header(): Buffer {
    const flags = this.#random.once(3) ? this.#random.below(32) : 0;
    const parts = [Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3])];
    if ((flags & 4) !== 0) parts.push(Buffer.from([3, 0, 1, 2, 3]));
    if ((flags & 8) !== 0) parts.push(Buffer.from('name\0'));
    if ((flags & 16) !== 0) parts.push(Buffer.from('\0'));
    if ((flags & 2) !== 0) {
      const sum = crc32(Buffer.concat(parts)) & 0xffff;
      parts.push(Buffer.from([sum & 255, sum >> 8]));
    }
    return Buffer.concat(parts);
  }

  /** Words, noise, or one repeated byte, for long codes, stored blocks and short distances. */
  #content(): Buffer {
    const length = this.#random.below(MAX_WORDS);
    const kind = this.#random.below(6);
    if (kind === 0) return Buffer.from(Array.from({ length }, () => this.#random.below(256)));
    if (kind === 1) return Buffer.alloc(length * 40, this.#random.below(256));
    const skewed = kind === 2;
    const parts = Array.from({ length }, () =>
      skewed
        ? Buffer.from([(2 ** this.#random.below(8) % 256) ^ this.#random.below(3)])
        : Buffer.from(this.#random.pick(WORDS)),
    );
    return Buffer.concat(parts);
  }

  #damaged(): Buffer {
    let body: Buffer = Buffer.from(this.#random.pick(this.#specimens));
    for (let rounds = this.#random.below(MAX_DAMAGE + 1); rounds > 0; rounds--) body = this.#damage(body);
    return body;
  }

  #damage(body: Buffer): Buffer {
    const reach = this.#random.once(2) ? Math.min(body.length, HEAD_BYTES) : body.length;
    const at = this.#random.below(reach + 1);
    const target = Math.min(at, Math.max(0, body.length - 1));
    switch (this.#random.below(6)) {
      case 0:
        return body.subarray(0, at);
      case 1:
        return Buffer.concat([body.subarray(0, at), body.subarray(at + 1 + this.#random.below(4))]);
      case 2: {
        const other = this.#random.pick(this.#specimens);
        return Buffer.concat([body.subarray(0, at), other.subarray(this.#random.below(other.length))]);
      }
      case 3:
        if (body.length > 0) body[target] = this.#random.below(256);
        return body;
      default:
        if (body.length > 0) body[target] = (body[target] ?? 0) ^ (1 << this.#random.below(8));
        return body;
    }
  }
}
