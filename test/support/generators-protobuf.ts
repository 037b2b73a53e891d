/**
 * Writes a neutral message as protobuf in one of many equivalent forms: fields in any order, lists packed, unpacked or
 * in pieces, varints longer than needed, unknown fields and groups in between.
 */
import protobuf from 'protobufjs';
import type { Random } from './generators-random.ts';
import { isEnum, type Message, submessageOf, type Value } from './protos.ts';

const RARELY = 12;
const VARINT_TYPES: ReadonlySet<string> = new Set(['uint32', 'sint32', 'int64', 'uint64', 'bool', 'int32']);
const FIXED64_TYPES: ReadonlySet<string> = new Set(['fixed64', 'sfixed64', 'double']);

export class ProtobufWriter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  write(type: protobuf.Type, message: Message): Buffer {
    const lists: Buffer[][] = [];
    for (const [name, value] of Object.entries(message)) {
      const field = type.fields[name];
      if (field === undefined || value === undefined) continue;
      lists.push(
        field.repeated ? this.#list(field.resolve(), value as readonly Value[]) : [this.#one(field.resolve(), value)],
      );
    }
    if (this.#random.once(RARELY)) lists.push([this.#unknown(0)]);
    return Buffer.concat(this.#interleave(lists));
  }

  /** Mixes the fields, keeping the order within each list. */
  #interleave(lists: Buffer[][]): Buffer[] {
    const turns = this.#random.shuffle(lists.flatMap((list, index) => list.map(() => index)));
    const next = lists.map(() => 0);
    return turns.map((index) => {
      const place = next[index] ?? 0;
      next[index] = place + 1;
      return lists[index]?.[place] ?? Buffer.alloc(0);
    });
  }

  #list(field: protobuf.Field, values: readonly Value[]): Buffer[] {
    const packable = submessageOf(field) === null && field.type !== 'string' && field.type !== 'bytes';
    if (!packable) return values.map((value) => this.#one(field, value));
    const pieces: Buffer[] = [];
    for (let index = 0; index < values.length; ) {
      const length = this.#random.once(4) ? 1 + this.#random.below(3) : values.length;
      const piece = values.slice(index, index + length);
      if (this.#random.once(4)) pieces.push(...piece.map((value) => this.#one(field, value)));
      else pieces.push(this.#delimited(field.id, Buffer.concat(piece.map((value) => this.#payload(field, value)))));
      index += length;
    }
    return pieces;
  }

  #one(field: protobuf.Field, value: Value): Buffer {
    const submessage = submessageOf(field);
    if (submessage !== null) return this.#delimited(field.id, this.write(submessage, value as Message));
    if (typeof value === 'string') return this.#delimited(field.id, Buffer.from(value));
    if (value instanceof Uint8Array) return this.#delimited(field.id, Buffer.from(value));
    const wire = isEnum(field) || VARINT_TYPES.has(field.type) ? 0 : FIXED64_TYPES.has(field.type) ? 1 : 5;
    return Buffer.concat([this.#varint(BigInt(field.id * 8 + wire)), this.#payload(field, value)]);
  }

  #payload(field: protobuf.Field, value: Value): Buffer {
    const fixed = Buffer.alloc(8);
    switch (field.type) {
      case 'double':
        fixed.writeDoubleLE(value as number);
        return fixed;
      case 'fixed64':
      case 'sfixed64':
        fixed.writeBigUInt64LE(BigInt.asUintN(64, value as bigint));
        return fixed;
      case 'fixed32':
        fixed.writeUInt32LE(value as number);
        return fixed.subarray(0, 4);
      case 'sint32': {
        const number = value as number;
        return this.#varint(BigInt(((number << 1) ^ (number >> 31)) >>> 0));
      }
      default:
        return this.#varint(BigInt.asUintN(64, BigInt(value as number | bigint | boolean)));
    }
  }

  #varint(value: bigint): Buffer {
    const bytes: number[] = [];
    let rest = value;
    while (rest > 127n) {
      bytes.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    // At most five bytes, because protobufjs misreads 32-bit varints of six to nine bytes.
    if (bytes.length < 4 && this.#random.once(RARELY * 10)) bytes.push((bytes.pop() ?? 0) | 128, 128, 0);
    return Buffer.from(bytes);
  }

  #delimited(number: number, content: Buffer): Buffer {
    return Buffer.concat([this.#varint(BigInt(number * 8 + 2)), this.#varint(BigInt(content.length)), content]);
  }

  #unknown(depth: number): Buffer {
    const number = this.#random.pick([99, 500, 18_999, 536_870_911] as const);
    const tag = (wire: number) => this.#varint(BigInt(number) * 8n + BigInt(wire));
    switch (this.#random.below(depth > 5 ? 4 : 5)) {
      case 0:
        return Buffer.concat([tag(0), this.#varint(BigInt(this.#random.next()))]);
      case 1:
        return Buffer.concat([tag(1), Buffer.alloc(8, 0xff)]);
      case 2:
        return Buffer.concat([tag(2), Buffer.from([3, 0xff, 0x0a, 0x80])]);
      case 3:
        return Buffer.concat([tag(5), Buffer.alloc(4, 0xff)]);
      default:
        return Buffer.concat([tag(3), this.#unknown(depth + 1), tag(4)]);
    }
  }
}
