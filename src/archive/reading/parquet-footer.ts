/**
 * The footer of a Parquet file: where the columns of each row group are, and what their statistics and bloom filters
 * say. With it a reader fetches only the row groups and columns that it needs. `footerOf` makes a footer that
 * lists some of the row groups only, so that another reader of the file finds no others.
 */
const MAGIC = 'PAR1';
/** The length of the footer, and the magic number. */
export const TRAILER_BYTES = 8;

/** Types of Thrift's compact protocol, in which the footer is written. */
const BOOLEANS = [1, 2];
const BYTE = 3;
const INTEGERS = [4, 5, 6];
const DOUBLE = 7;
const BINARY = 8;
const LISTS = [9, 10];
const MAP = 11;
const STRUCT = 12;
/** A longer list has its length after the header. */
const SHORT_LIST = 15;
/** The bytes of a varint of 64 bits. */
const LONGEST_VARINT = 10;

export interface ByteSpan {
  readonly offset: number;
  readonly length: number;
}

export interface ColumnChunk {
  readonly name: string;
  readonly data: ByteSpan;
  /** The smallest and largest value in the bytes of the file; null when they are unknown. */
  readonly min: Buffer | null;
  readonly max: Buffer | null;
  readonly bloom: ByteSpan | null;
}

export interface RowGroup {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, ColumnChunk>;
  /** Its place in the footer. */
  readonly start: number;
  readonly end: number;
}

export interface Footer {
  readonly bytes: Buffer;
  readonly groups: readonly RowGroup[];
  /** Places in the footer: the number of rows, and the list of row groups. */
  readonly rows: { readonly start: number; readonly end: number };
  readonly list: { readonly start: number; readonly end: number };
}

/** The length of the footer, from the last bytes of a file. Throws when it is not a Parquet file. */
export function footerLength(trailer: Buffer): number {
  if (trailer.length !== TRAILER_BYTES || trailer.toString('latin1', 4) !== MAGIC)
    throw new Error('this is not a Parquet file');
  return trailer.readUInt32LE(0);
}

export function parseFooter(bytes: Buffer): Footer {
  const reader = new CompactReader(bytes);
  const groups: RowGroup[] = [];
  let count = -1;
  let [rows, list] = [
    { start: 0, end: 0 },
    { start: 0, end: 0 },
  ];
  reader.struct((field, type) => {
    const start = reader.at;
    if (field === 3) count = reader.integer();
    else if (field === 4) for (let left = reader.listLength(); left > 0; left--) groups.push(readGroup(reader));
    else reader.skip(type);
    if (field === 3) rows = { start, end: reader.at };
    if (field === 4) list = { start, end: reader.at };
  });
  if (reader.at !== bytes.length) throw new Error('the footer has bytes behind its end');
  if (groups.reduce((sum, group) => sum + group.rows, 0) !== count)
    throw new Error('the row groups of the footer have another number of rows');
  return { bytes, groups, rows, list };
}

/** The footer with the trailer, as it is at the end of a file. The places of the columns do not change. */
export function footerOf({ bytes, rows, list }: Footer, groups: readonly RowGroup[]): Buffer {
  const count = groups.reduce((sum, group) => sum + group.rows, 0);
  const footer = Buffer.concat([
    bytes.subarray(0, rows.start),
    varint(count * 2),
    bytes.subarray(rows.end, list.start),
    groups.length < SHORT_LIST
      ? Buffer.of((groups.length << 4) | STRUCT)
      : Buffer.concat([Buffer.of((SHORT_LIST << 4) | STRUCT), varint(groups.length)]),
    ...groups.map(({ start, end }) => bytes.subarray(start, end)),
    bytes.subarray(list.end),
  ]);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(footer.length, 0);
  trailer.write(MAGIC, 4, 'latin1');
  return Buffer.concat([footer, trailer]);
}

export const HEAD = Buffer.from(MAGIC, 'latin1');

function readGroup(reader: CompactReader): RowGroup {
  const start = reader.at;
  const columns = new Map<string, ColumnChunk>();
  let rows = 0;
  reader.struct((field, type) => {
    if (field === 3) rows = reader.integer();
    else if (field !== 1) reader.skip(type);
    else
      for (let left = reader.listLength(); left > 0; left--)
        reader.struct((part, partType) => {
          if (part !== 3) return reader.skip(partType);
          const chunk = readChunk(reader);
          columns.set(chunk.name, chunk);
        });
  });
  return { rows, columns, start, end: reader.at };
}

/** The fields by their ids in the Parquet format. */
function readChunk(reader: CompactReader): ColumnChunk {
  const numbers = new Map<number, number>();
  const path: string[] = [];
  let [min, max]: [Buffer | null, Buffer | null] = [null, null];
  reader.struct((field, type) => {
    if (field === 3) for (let left = reader.listLength(); left > 0; left--) path.push(reader.binary().toString());
    else if (field === 12)
      reader.struct((statistic, statisticType) => {
        if (statistic === 5) max = reader.binary();
        else if (statistic === 6) min = reader.binary();
        else reader.skip(statisticType);
      });
    else if (INTEGERS.includes(type)) numbers.set(field, reader.integer());
    else reader.skip(type);
  });
  const [length = 0, dataPage = 0] = [numbers.get(7), numbers.get(9)];
  const [dictionary = dataPage, bloomOffset, bloomLength] = [numbers.get(11), numbers.get(14), numbers.get(15)];
  return {
    name: path.join('.'),
    data: { offset: Math.min(dictionary, dataPage), length },
    min,
    max,
    bloom: bloomOffset === undefined || bloomLength === undefined ? null : { offset: bloomOffset, length: bloomLength },
  };
}

class CompactReader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Calls `visit` for each field, which must read or skip its value. */
  struct(visit: (field: number, type: number) => void): void {
    let field = 0;
    for (let head = this.#byte(); head !== 0; head = this.#byte()) {
      field = head >> 4 === 0 ? this.integer() : field + (head >> 4);
      const type = head & 15;
      visit(field, type);
    }
  }

  /** Each element has at least a byte. */
  listLength(): number {
    const short = this.#byte() >> 4;
    const length = short === SHORT_LIST ? this.#varint() : short;
    if (length > this.#bytes.length - this.at) throw new Error('the footer ends early');
    return length;
  }

  /** Exact up to 2^53. */
  integer(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  binary(): Buffer {
    const length = this.#varint();
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** `inList`: a boolean in a list has a byte of its own. */
  skip(type: number, inList = false): void {
    if (BOOLEANS.includes(type)) this.at += inList ? 1 : 0;
    else if (type === BYTE) this.at++;
    else if (INTEGERS.includes(type)) this.#varint();
    else if (type === DOUBLE) this.at += 8;
    else if (type === BINARY) this.binary();
    else if (LISTS.includes(type)) {
      const element = this.#peek() & 15;
      for (let left = this.listLength(); left > 0; left--) this.skip(element, true);
    } else if (type === MAP) this.#skipMap();
    else if (type === STRUCT) this.struct((_, fieldType) => this.skip(fieldType));
    else throw new Error(`the footer has a field of the unknown type ${type}`);
  }

  #skipMap(): void {
    const length = this.#varint();
    if (length === 0) return;
    if (length > this.#bytes.length - this.at) throw new Error('the footer ends early');
    const types = this.#byte();
    for (let left = length; left > 0; left--) {
      this.skip(types >> 4, true);
      this.skip(types & 15, true);
    }
  }

  #varint(): number {
    let [value, scale] = [0, 1];
    for (let length = 1; length <= LONGEST_VARINT; length++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new Error('the footer has a number that is too long');
  }

  #byte(): number {
    const byte = this.#peek();
    this.at++;
    return byte;
  }

  #peek(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) throw new Error('the footer ends early');
    return byte;
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
