/**
 * A slow strict protobuf reader driven by the message descriptors, as the reference for the content and validity of a
 * body. It refuses errors that protobufjs accepts: wrong wire types, field number 0, invalid UTF-8, overlong varints.
 */
import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs';
import { isEnum, submessageOf, type Message, type Value } from './protos.ts';
import { OracleRefusal, type Rule } from './oracle-refusal.ts';

/** Groups of unknown fields may nest this deep. */
const MAX_GROUP_DEPTH = 100;
const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED32 = 5;

const WIRE_TYPES: Readonly<Record<string, number>> = {
  uint32: VARINT,
  sint32: VARINT,
  int64: VARINT,
  uint64: VARINT,
  bool: VARINT,
  int32: VARINT,
  fixed64: FIXED64,
  sfixed64: FIXED64,
  double: FIXED64,
  fixed32: FIXED32,
  string: DELIMITED,
  bytes: DELIMITED,
};

function refuse(reason: string, rule: Rule = 'protobuf'): never {
  throw new OracleRefusal(rule, reason);
}

/** The bytes of one message and a position. */
class Source {
  readonly bytes: Buffer;
  position = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get done(): boolean {
    return this.position === this.bytes.length;
  }

  take(length: number): Buffer {
    if (length > this.bytes.length - this.position) refuse('a length passes the end of its parent');
    this.position += length;
    return this.bytes.subarray(this.position - length, this.position);
  }

  varint(): bigint {
    const first = this.bytes[this.position];
    if (first !== undefined && first < 0x80) {
      this.position += 1;
      return BigInt(first);
    }
    let value = 0n;
    for (let index = 0; index < 10; index += 1) {
      const byte = this.take(1).readUInt8(0);
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) {
        if (value >= 2n ** 64n) refuse('a varint overflows 64 bits');
        return value;
      }
    }
    return refuse('a varint has more than ten bytes');
  }

  delimited(): Buffer {
    const length = this.varint();
    if (length > 0x7fffffffn) refuse('a length passes the end of its parent');
    return this.take(Number(length));
  }

  tag(): { readonly number: number; readonly wire: number } {
    const tag = this.varint();
    if (tag > 0xffffffffn) refuse('a tag overflows 32 bits');
    const number = Number(tag >> 3n);
    if (number === 0) refuse('field number 0');
    return { number, wire: Number(tag & 7n) };
  }

  skip(number: number, wire: number, depth = 0): void {
    if (wire === VARINT) this.varint();
    else if (wire === FIXED64) this.take(8);
    else if (wire === DELIMITED) this.delimited();
    else if (wire === FIXED32) this.take(4);
    else if (wire === GROUP_START) this.skipGroup(number, depth + 1);
    else refuse('an unexpected end of group, or wire type 6 or 7');
  }

  skipGroup(number: number, depth: number): void {
    if (depth > MAX_GROUP_DEPTH) refuse('groups nest too deep', 'payload');
    for (;;) {
      if (this.done) refuse('a group does not end');
      const tag = this.tag();
      if (tag.wire === GROUP_END) {
        if (tag.number !== number) refuse('a group ends with another number');
        return;
      }
      this.skip(tag.number, tag.wire, depth);
    }
  }
}

function scalar(type: string, source: Source): Value {
  switch (type) {
    case 'string': {
      const bytes = source.delimited();
      if (!isUtf8(bytes)) refuse('a string is not UTF-8');
      return bytes.toString('utf8');
    }
    case 'bytes':
      return Buffer.from(source.delimited());
    case 'fixed64':
      return source.take(8).readBigUInt64LE(0);
    case 'sfixed64':
      return source.take(8).readBigInt64LE(0);
    case 'double':
      return source.take(8).readDoubleLE(0);
    case 'fixed32':
      return source.take(4).readUInt32LE(0);
    case 'uint64':
      return source.varint();
    case 'int64':
      return BigInt.asIntN(64, source.varint());
    case 'uint32':
      return Number(BigInt.asUintN(32, source.varint()));
    case 'int32':
      return Number(BigInt.asIntN(32, source.varint()));
    case 'sint32': {
      const value = Number(BigInt.asUintN(32, source.varint()));
      return (value >>> 1) ^ -(value & 1);
    }
    case 'bool':
      return source.varint() !== 0n;
    default:
      throw new Error(`the oracle does not know the type ${type}`);
  }
}

/** Messages of values, which are refused where other messages are merged. */
const VALUES = new Set(['AnyValue', 'ArrayValue', 'KeyValueList']);

/** `before` is an earlier message of a singular field. */
function fieldValues(field: protobuf.Field, wire: number, source: Source, before: Value | undefined): Value[] {
  const submessage = submessageOf(field);
  if (submessage !== null) {
    if (wire !== DELIMITED) refuse(`${field.name} has wire type ${wire}`);
    if (before !== undefined && VALUES.has(submessage.name)) refuse(`${field.name} is given twice`);
    return [readProtobuf(submessage, source.delimited(), before as Message | undefined)];
  }
  const type = isEnum(field) ? 'int32' : field.type;
  const expected = WIRE_TYPES[type];
  if (field.repeated && wire === DELIMITED && expected !== DELIMITED) {
    const packed = new Source(source.delimited());
    const values: Value[] = [];
    while (!packed.done) values.push(scalar(type, packed));
    return values;
  }
  if (wire !== expected) refuse(`${field.name} has wire type ${wire}`);
  return [scalar(type, source)];
}

/** Reads a message. The last scalar and the last member of a oneof are used; repeated messages are merged. */
export function readProtobuf(type: protobuf.Type, bytes: Buffer, before: Message = {}): Message {
  const result = { ...before } as Record<string, Value>;
  const source = new Source(bytes);
  while (!source.done) {
    const { number, wire } = source.tag();
    const field = type.fieldsById[number];
    if (field === undefined) {
      source.skip(number, wire);
      continue;
    }
    const values = fieldValues(field.resolve(), wire, source, field.repeated ? undefined : result[field.name]);
    if (field.repeated) {
      const before = result[field.name] as Value[] | undefined;
      if (before === undefined) result[field.name] = values;
      else for (const value of values) before.push(value);
    } else {
      for (const name of field.partOf?.oneof ?? []) delete result[name];
      for (const value of values) result[field.name] = value;
    }
  }
  return result;
}
