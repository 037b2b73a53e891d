/**
 * Writes a neutral message as OTLP/JSON in one of many equivalent forms: members in any order, letters escaped or not,
 * integers quoted or not, blanks, unknown members, nulls.
 */
import protobuf from 'protobufjs';
import type { Random } from './generators-random.ts';
import { fieldsOf, isEnum, type Message, submessageOf, type Value } from './protos.ts';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};
const MUST_ESCAPE = /["\\\u0000-\u001f]/;
const HEX_FIELDS: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);
const UNKNOWN = ['null', '{}', '[[],{"a":{"b":null}}]', '"x"', '-1.5e3', '{"traceId":"nonsense"}', 'true'] as const;
/** One in this many values is written in an unusual form. */
const RARELY = 12;

/** Writes one message as JSON in a random form. `lone` marks surrogate halves, which must be escaped. */
export class JsonWriter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  write(type: protobuf.Type, message: Message): string {
    const members: string[] = [];
    for (const field of fieldsOf(type)) {
      const value = message[field.name];
      if (value !== undefined) members.push(this.#member(field.name, this.#field(field, value)));
      else if (this.#random.once(RARELY) && !this.#isOneof(field)) members.push(this.#member(field.name, 'null'));
    }
    if (this.#random.once(RARELY)) members.push(this.#member('unknownField', this.#random.pick(UNKNOWN)));
    return `{${this.#blank()}${this.#random.shuffle(members).join(`,${this.#blank()}`)}}`;
  }

  #isOneof(field: protobuf.Field): boolean {
    return field.partOf !== null;
  }

  #member(name: string, value: string): string {
    return `${this.#text(name)}${this.#blank()}:${this.#blank()}${value}`;
  }

  #blank(): string {
    return this.#random.once(RARELY) ? this.#random.pick([' ', '\n', '\t\r\n  '] as const) : '';
  }

  #field(field: protobuf.Field, value: Value): string {
    if (!field.repeated) return this.#single(field, value);
    const elements = (value as readonly Value[]).map((element) => this.#single(field, element));
    return `[${this.#blank()}${elements.join(`${this.#blank()},`)}]`;
  }

  #single(field: protobuf.Field, value: Value): string {
    const submessage = submessageOf(field);
    if (submessage !== null) return this.write(submessage, value as Message);
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'boolean') return String(value);
    if (value instanceof Uint8Array) return this.#bytes(field.name, Buffer.from(value));
    if (typeof value === 'number' && field.type === 'double') return this.#double(value);
    if (isEnum(field)) return String(value);
    return this.#random.once(2) ? `"${value}"` : String(value);
  }

  #bytes(name: string, value: Buffer): string {
    if (HEX_FIELDS.has(name)) {
      const hex = value.toString('hex');
      return this.#text(this.#random.once(4) ? hex.toUpperCase() : hex);
    }
    const standard = value.toString('base64');
    return this.#text(
      this.#random.pick([standard, standard, standard.replace(/=+$/, ''), value.toString('base64url')] as const),
    );
  }

  #double(value: number): string {
    if (!Number.isFinite(value)) return `"${value}"`;
    // The methods of numbers leave out the sign of negative zero.
    const sign = Object.is(value, -0) ? '-' : '';
    const text = `${sign}${this.#random.pick([
      String(value),
      String(value),
      value.toExponential(),
      value.toExponential().toUpperCase(),
      value.toPrecision(45),
    ] as const)}`;
    return this.#random.once(6) ? `"${text}"` : text;
  }

  #text(value: string): string {
    const loud = this.#random.once(RARELY);
    let result = '';
    for (const letter of value) {
      if (MUST_ESCAPE.test(letter) || (loud && this.#random.once(3))) result += this.#escape(letter);
      else result += /\p{Surrogate}/u.test(letter) ? this.#escape(letter) : letter;
    }
    return `"${result}"`;
  }

  #escape(letter: string): string {
    const short = SHORT_ESCAPES[letter];
    if (short !== undefined && !this.#random.once(3)) return short;
    return [...letter.split('')]
      .map((unit) => {
        const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
        return `\\u${this.#random.once(2) ? digits.toUpperCase() : digits}`;
      })
      .join('');
  }
}
