/**
 * Converts an OTLP request from protobuf to OTLP/JSON, for remotes that accept only JSON: lowerCamelCase names, ids in
 * hexadecimal, 64-bit integers as strings, enums as numbers. It reads only the fields that our own encoder writes, and
 * skips others.
 */
import type { Signal } from '../../pdata/context.ts';
import { type Field, MESSAGES, type MessageName, type Scalar } from '../../pdata/otlp-messages.ts';

const REQUESTS = { traces: 'TracesRequest', logs: 'LogsRequest', metrics: 'MetricsRequest' } as const;

export function requestAsJson(signal: Signal, body: Buffer): Buffer {
  return Buffer.from(JSON.stringify(new MessageReader(body).message(REQUESTS[signal], body.length)));
}

class MessageReader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  message(name: MessageName, end: number): Record<string, unknown> {
    const fields = MESSAGES[name] as Readonly<Record<number, Field>>;
    const result: Record<string, unknown> = {};
    while (this.#at < end) {
      const tag = Number(this.#varint());
      const field = fields[tag >>> 3];
      const limit = (tag & 7) === 2 ? Number(this.#varint()) + this.#at : this.#at;
      if (field === undefined) this.#skip(tag & 7, limit);
      else this.#read(field, limit, result);
    }
    return result;
  }

  /** Lists of numbers are packed. */
  #read([name, type]: Field, end: number, into: Record<string, unknown>): void {
    if (!name.endsWith('[]')) {
      into[name] = this.#value(type, end);
      return;
    }
    const list = (into[name.slice(0, -2)] ??= []) as unknown[];
    if (type in MESSAGES) list.push(this.#value(type, end));
    else while (this.#at < end) list.push(this.#value(type, end));
  }

  #value(type: Scalar | MessageName, end: number): unknown {
    switch (type) {
      case 'text':
        return this.#bytes(end).toString('utf8');
      case 'bytes':
        return this.#bytes(end).toString('base64');
      case 'id':
        return this.#bytes(end).toString('hex');
      case 'flag':
        return this.#varint() !== 0n;
      case 'small':
        return Number(this.#varint());
      case 'zigzag': {
        const value = this.#varint();
        return Number((value >> 1n) ^ -(value & 1n));
      }
      case 'integer':
        return String(BigInt.asIntN(64, this.#varint()));
      case 'unsigned':
        return String(this.#varint());
      case 'fixed':
        return String(this.#body.readBigUInt64LE(this.#move(8)));
      case 'signed':
        return String(this.#body.readBigInt64LE(this.#move(8)));
      case 'double':
        return printable(this.#body.readDoubleLE(this.#move(8)));
      case 'word':
        return this.#body.readUInt32LE(this.#move(4));
      default:
        return this.message(type, end);
    }
  }

  #bytes(end: number): Buffer {
    return this.#body.subarray(this.#move(end - this.#at), end);
  }

  /** Returns the position before the move. */
  #move(bytes: number): number {
    const before = this.#at;
    this.#at += bytes;
    return before;
  }

  #skip(wire: number, end: number): void {
    if (wire === 0) this.#varint();
    else if (wire === 1) this.#move(8);
    else if (wire === 5) this.#move(4);
    else this.#at = end;
  }

  #varint(): bigint {
    let value = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      const byte = this.#body.readUInt8(this.#at++);
      value += (byte & 127) * scale;
      if (byte < 128) return BigInt(value);
    }
    return this.#longVarint(BigInt(value));
  }

  /** The digits from the eighth on. */
  #longVarint(value: bigint): bigint {
    for (let shift = 49n; ; shift += 7n) {
      const byte = this.#body.readUInt8(this.#at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  }
}

/** JSON has no numbers for NaN and the infinities, and JSON.stringify writes negative zero as 0: these are texts. */
function printable(value: number): number | string {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : String(value);
}
