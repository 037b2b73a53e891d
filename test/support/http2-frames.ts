/** An HTTP/2 client that sends raw frames and records the received ones. */
import { connect, type Socket } from 'node:net';

export const FRAME = {
  ...{ data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 },
} as const;
export const END_STREAM = 1;
/** A flag of SETTINGS and PING. */
export const ACK = 1;
export const END_HEADERS = 4;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes each header as a literal without indexing, so that names may be repeated. */
export function headerBlock(headers: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

/** With HPACK's prefix of 7 bits for the length. */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** A connection that has sent its preface. */
export class RawHttp2 {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<void>;
  #rest = Buffer.alloc(0);

  constructor(address: string, settings = Buffer.alloc(0)) {
    this.socket = connect(Number(address.split(':').at(-1)), '127.0.0.1');
    this.socket.on('error', () => undefined);
    this.socket.on('data', (bytes) => this.#take(bytes));
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0, settings)]));
  }

  send(...frames: readonly Buffer[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames));
  }

  #take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) return;
      const [type, flags, stream] = [this.#rest.readUInt8(3), this.#rest.readUInt8(4), this.#rest.readUInt32BE(5)];
      this.frames.push({ type, flags, stream, payload: this.#rest.subarray(9, end) });
      this.#rest = this.#rest.subarray(end);
    }
  }
}
