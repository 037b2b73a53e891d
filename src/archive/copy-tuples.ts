/** Reads the tuples of COPY BINARY from blocks of any length. */

const SIGNATURE = Buffer.from('5047434f50590aff0d0a00', 'hex');
/** After the signature: flags, and the length of an extension, which PostgreSQL leaves empty. */
const HEADER_BYTES = SIGNATURE.length + 8;
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
const END = -1;

/** The fields of a tuple in `bytes`: where each begins and ends. `ends[i]` is -1 for null. */
export interface Tuple {
  readonly bytes: Buffer;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/**
 * Calls `visit` for each tuple. One object is used for all of them. The blocks are read to their end, and rejected when
 * they have another form.
 */
export async function readTuples(
  blocks: AsyncIterable<Buffer>,
  width: number,
  visit: (tuple: Tuple) => void,
): Promise<void> {
  const tuple = { bytes: Buffer.alloc(0), starts: new Int32Array(width), ends: new Int32Array(width) };
  let waiting: Buffer[] = [];
  let [length, needed, isBegun, isEnded] = [0, HEADER_BYTES, false, false];
  for await (const block of blocks) {
    waiting.push(block);
    length += block.length;
    // A large field spans many blocks. They are joined once it is complete.
    if (length < needed || isEnded) continue;
    const bytes = waiting.length === 1 ? block : Buffer.concat(waiting, length);
    if (!isBegun && !bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE))
      throw new Error('this is not the data of a COPY');
    let at = isBegun ? 0 : HEADER_BYTES;
    isBegun = true;
    let next = readTuple(bytes, at, tuple);
    for (; next.end !== null && next.end !== END; next = readTuple(bytes, at, tuple)) {
      at = next.end;
      visit(tuple);
    }
    if (next.end === END) isEnded = true;
    else needed = next.needed - at;
    waiting = [bytes.subarray(at)];
    length = bytes.length - at;
  }
  if (!isEnded) throw new Error('the data of the COPY ended early');
}

/** `needed`: the length of `bytes` with which the reading can continue. */
interface Reading {
  /** Where the tuple ends; -1 after the last one; null when it is not complete. */
  readonly end: number | null;
  readonly needed: number;
}

function readTuple(bytes: Buffer, from: number, tuple: Tuple & { bytes: Buffer }): Reading {
  const width = tuple.starts.length;
  if (bytes.length < from + COUNT_BYTES) return { end: null, needed: from + COUNT_BYTES };
  const count = bytes.readInt16BE(from);
  if (count === END) return { end: END, needed: 0 };
  if (count !== width) throw new Error(`a tuple has ${count} fields, not ${width}`);
  let at = from + COUNT_BYTES;
  for (let index = 0; index < width; index++) {
    if (bytes.length < at + LENGTH_BYTES) return { end: null, needed: at + LENGTH_BYTES };
    const length = bytes.readInt32BE(at);
    at += LENGTH_BYTES;
    tuple.starts[index] = at;
    tuple.ends[index] = length === END ? END : at + length;
    at += Math.max(length, 0);
    if (bytes.length < at) return { end: null, needed: at };
  }
  tuple.bytes = bytes;
  return { end: at, needed: 0 };
}
