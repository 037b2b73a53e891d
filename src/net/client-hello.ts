/** The first message of a TLS client, read ahead of the TLS server. */
import type { Socket } from 'node:net';

/** The head of a TLS record (RFC 8446 §5.1): type, version, length of the fragment. */
const RECORD_HEAD_BYTES = 5;
const LENGTH_AT = 3;
/** The types of records: change cipher spec, alert, handshake, application data. */
const FIRST_TYPE = 0x14;
const HANDSHAKE_TYPE = 0x16;
const LAST_TYPE = 0x17;
const MOST_FRAGMENT_BYTES = 16_384;
/** OpenSSL accepts the form of SSL 2 too (RFC 5246 appendix E.2): length with the highest bit set, type. */
const OLD_FORM_BIT = 0x80;
const OLD_LENGTH_BITS = 0x7fff;
const OLD_LENGTH_BYTES = 2;
/** The head of a handshake message (RFC 8446 §4): type, length. */
const MESSAGE_HEAD_BYTES = 4;
const CLIENT_HELLO = 1;
/** The messages of real clients have up to 2 KiB. */
const MOST_HELLO_BYTES = 64 * 1024;

/** Holds what arrives on a connection until a TLS server reads it. A client that ends its side is disconnected. */
export class ClientHello {
  readonly #connection: Socket;
  readonly #records = new HelloRecords();
  #bytes = Buffer.alloc(0);
  #done: (() => void) | null = null;

  constructor(connection: Socket) {
    this.#connection = connection;
  }

  /**
   * Calls `done` once, when the message is complete or the bytes are not a ClientHello, which the TLS server refuses.
   * Reading continues after it: the end of a connection that waits must be noticed.
   */
  read(done: () => void): void {
    this.#done = done;
    this.#connection.on('data', this.#take).on('end', this.#end);
  }

  /** Puts all bytes back, so that the next reader of the connection gets them. */
  giveBack(): void {
    this.#connection.off('data', this.#take).off('end', this.#end).pause();
    if (this.#bytes.length > 0) this.#connection.unshift(this.#bytes);
  }

  readonly #take = (bytes: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (this.#bytes.length > MOST_HELLO_BYTES) {
      this.#connection.destroy();
      return;
    }
    if (this.#done === null || !this.#records.areComplete(this.#bytes)) return;
    const done = this.#done;
    this.#done = null;
    done();
  };

  readonly #end = (): void => {
    this.#connection.destroy();
  };
}

/** The records of a ClientHello, which may be divided between several. */
class HelloRecords {
  /** Where the current record begins. */
  #at = 0;
  /** Bytes of the message in the records before. */
  #before = 0;
  readonly #head = Buffer.alloc(MESSAGE_HEAD_BYTES);

  /** `bytes`: all that arrived, from the first byte. True: the message is complete, or this is something else. */
  areComplete(bytes: Buffer): boolean {
    if (((bytes[0] ?? 0) & OLD_FORM_BIT) !== 0) return isOldFormComplete(bytes);
    while (this.#at < bytes.length) {
      const type = bytes[this.#at] as number;
      if (type < FIRST_TYPE || type > LAST_TYPE) return true;
      if (bytes.length < this.#at + RECORD_HEAD_BYTES) return false;
      const length = bytes.readUInt16BE(this.#at + LENGTH_AT);
      if (length > MOST_FRAGMENT_BYTES) return true;
      const start = this.#at + RECORD_HEAD_BYTES;
      const fragment = bytes.subarray(start, start + length);
      if (type === HANDSHAKE_TYPE && this.#endsWith(fragment)) return true;
      if (fragment.length < length) return false;
      // The server refuses other records, or reads over them.
      if (type === HANDSHAKE_TYPE) this.#before += length;
      this.#at = start + length;
    }
    return false;
  }

  /** Whether the message ends in the fragment, or is of another type. */
  #endsWith(fragment: Buffer): boolean {
    if (this.#before < MESSAGE_HEAD_BYTES) fragment.copy(this.#head, this.#before);
    const count = this.#before + fragment.length;
    if (count > 0 && this.#head[0] !== CLIENT_HELLO) return true;
    return count >= MESSAGE_HEAD_BYTES && count >= MESSAGE_HEAD_BYTES + this.#head.readUIntBE(1, 3);
  }
}

function isOldFormComplete(bytes: Buffer): boolean {
  if (bytes.length <= OLD_LENGTH_BYTES) return false;
  if (bytes[OLD_LENGTH_BYTES] !== CLIENT_HELLO) return true;
  return bytes.length >= OLD_LENGTH_BYTES + (bytes.readUInt16BE(0) & OLD_LENGTH_BITS);
}
