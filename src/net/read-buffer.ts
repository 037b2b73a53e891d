/**
 * Reads sockets into one buffer, instead of a new one of 64 KiB for each read. node:net has this as the option `onread`
 * of a new socket, but not of those that a server accepts, so the properties that the option sets are copied.
 */
import { Socket } from 'node:net';

/** The size with which node:net reads. */
const READ_BYTES = 65_536;

interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

export class ReadBuffer {
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  /** The property of a socket for the buffer and the one for the function that gets the size of a read. */
  readonly #bufferKey: PropertyKey | undefined;
  readonly #callbackKey: PropertyKey | undefined;

  constructor() {
    const [buffer, callback] = [this.#buffer, (): boolean => true];
    // The types of Node do not have `onread` here.
    const options = { allowHalfOpen: true, onread: { buffer, callback } };
    const model = new Socket(options);
    const keyOf = (value: unknown): PropertyKey | undefined =>
      Reflect.ownKeys(model).find((key) => Reflect.get(model, key) === value);
    this.#bufferKey = keyOf(buffer);
    this.#callbackKey = keyOf(callback);
  }

  /**
   * Calls `take` with the bytes of a read instead of the event `data`. They are valid until it returns. Bytes that the
   * socket holds, that are put back, or that arrive while it is paused are still given by the event. Does nothing where
   * a version of Node.js has other properties: all bytes are given by the event then.
   */
  adopt(socket: Socket, take: (bytes: Buffer) => void): void {
    const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null };
    if (this.#bufferKey === undefined || this.#callbackKey === undefined || !handle?.useUserBuffer) return;
    Reflect.set(socket, this.#bufferKey, this.#buffer);
    Reflect.set(socket, this.#callbackKey, (size: number) => {
      const bytes = this.#buffer.subarray(0, size);
      // TLS may give further bytes of a record after `pause`.
      if (socket.isPaused() || socket.readableLength > 0) socket.push(Buffer.from(bytes));
      else take(bytes);
      return true;
    });
    handle.useUserBuffer(this.#buffer);
  }
}
