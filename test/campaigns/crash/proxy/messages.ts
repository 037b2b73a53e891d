/** Cuts a stream of the Postgres wire protocol into messages, each with its name and the text that rules match. */

export type Side = 'frontend' | 'backend';

export interface WireMessage {
  readonly side: Side;
  readonly kind: string;
  /** SQL of a Query, Parse, Bind or Execute; the tag of a CommandComplete; the SQLSTATE of an error; else empty. */
  readonly text: string;
  readonly bytes: Buffer;
}

const FRONTEND: Readonly<Record<string, string>> = {
  Q: 'Query',
  P: 'Parse',
  B: 'Bind',
  E: 'Execute',
  D: 'Describe',
  S: 'Sync',
  H: 'Flush',
  C: 'Close',
  d: 'CopyData',
  c: 'CopyDone',
  f: 'CopyFail',
  p: 'Password',
  X: 'Terminate',
};

const BACKEND: Readonly<Record<string, string>> = {
  R: 'Authentication',
  S: 'ParameterStatus',
  K: 'BackendKeyData',
  Z: 'ReadyForQuery',
  T: 'RowDescription',
  D: 'DataRow',
  C: 'CommandComplete',
  E: 'ErrorResponse',
  N: 'NoticeResponse',
  A: 'NotificationResponse',
  G: 'CopyInResponse',
  1: 'ParseComplete',
  2: 'BindComplete',
  3: 'CloseComplete',
  n: 'NoData',
  t: 'ParameterDescription',
  s: 'PortalSuspended',
  I: 'EmptyQueryResponse',
};

/** The first message of a connection has no type byte. A number identifies the request. */
const FIRST_MESSAGES: ReadonlyMap<number, string> = new Map([
  [80877103, 'SSLRequest'],
  [80877104, 'GSSENCRequest'],
  [80877102, 'CancelRequest'],
]);
const LENGTH_BYTES = 4;
/** Larger than any message of the tests: a greater length means that the framing is lost. */
const MAX_MESSAGE_BYTES = 1 << 30;

/** Cuts one direction of one connection into messages. */
export class MessageReader {
  readonly #side: Side;
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, string>();
  #isFirst: boolean;
  #rest: Buffer = Buffer.alloc(0);

  constructor(side: Side) {
    this.#side = side;
    this.#isFirst = side === 'frontend';
  }

  /** The messages that are complete with this chunk. */
  push(chunk: Buffer): readonly WireMessage[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: WireMessage[] = [];
    for (;;) {
      const typeBytes = this.#isFirst ? 0 : 1;
      if (this.#rest.length < typeBytes + LENGTH_BYTES) return messages;
      const length = typeBytes + this.#rest.readUInt32BE(typeBytes);
      if (length > MAX_MESSAGE_BYTES) throw new Error(`a message of ${length} bytes: the framing is lost`);
      if (this.#rest.length < length) return messages;
      messages.push(this.#describe(this.#rest.subarray(0, length)));
      this.#rest = this.#rest.subarray(length);
    }
  }

  #describe(bytes: Buffer): WireMessage {
    if (this.#isFirst) {
      const kind = FIRST_MESSAGES.get(bytes.readUInt32BE(LENGTH_BYTES)) ?? 'Startup';
      // After its request for encryption is refused, the client sends a first message again.
      this.#isFirst = kind !== 'Startup';
      return { side: this.#side, kind, text: '', bytes };
    }
    const type = String.fromCharCode(bytes[0] ?? 0);
    const kind = (this.#side === 'frontend' ? FRONTEND : BACKEND)[type] ?? `"${type}"`;
    return { side: this.#side, kind, text: this.#textOf(kind, bytes.subarray(1 + LENGTH_BYTES)), bytes };
  }

  #textOf(kind: string, body: Buffer): string {
    if (kind === 'Query' || kind === 'CommandComplete') return stringAt(body, 0).text;
    if (kind === 'ReadyForQuery') return body.toString('latin1', 0, 1);
    if (kind === 'ErrorResponse') return sqlstateIn(body);
    if (kind === 'Parse') {
      const name = stringAt(body, 0);
      const { text } = stringAt(body, name.end);
      this.#statements.set(name.text, text);
      return text;
    }
    if (kind === 'Bind') {
      const portal = stringAt(body, 0);
      const text = this.#statements.get(stringAt(body, portal.end).text) ?? '';
      this.#portals.set(portal.text, text);
      return text;
    }
    return kind === 'Execute' ? (this.#portals.get(stringAt(body, 0).text) ?? '') : '';
  }
}

function stringAt(body: Buffer, start: number): { readonly text: string; readonly end: number } {
  const zero = body.indexOf(0, start);
  const end = zero < 0 ? body.length : zero;
  return { text: body.toString('utf8', start, end), end: end + 1 };
}

/** A letter names each field of an error; C is the SQLSTATE. */
function sqlstateIn(body: Buffer): string {
  for (let position = 0; position < body.length && body[position] !== 0; ) {
    const field = String.fromCharCode(body[position] ?? 0);
    const { text, end } = stringAt(body, position + 1);
    if (field === 'C') return text;
    position = end;
  }
  return '';
}

export function queryMessage(sql: string): Buffer {
  return typed('Q', cString(sql));
}

/** Parse, Bind and Execute of an unnamed statement without parameters. The replies to the first two are additional. */
export function statementMessages(sql: string): Buffer {
  const shorts = Buffer.alloc(6);
  return Buffer.concat([
    typed('P', Buffer.concat([cString(''), cString(sql), Buffer.alloc(2)])),
    typed('B', Buffer.concat([cString(''), cString(''), shorts])),
    typed('E', Buffer.concat([cString(''), Buffer.alloc(4)])),
  ]);
}

/** An ErrorResponse in the server's format. */
export function errorMessage(sqlstate: string, text: string): Buffer {
  const fields = [`SERROR`, `VERROR`, `C${sqlstate}`, `M${text}`].map(cString);
  return typed('E', Buffer.concat([...fields, Buffer.alloc(1)]));
}

function typed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(1 + LENGTH_BYTES);
  head.write(type, 0, 'latin1');
  head.writeUInt32BE(body.length + LENGTH_BYTES, 1);
  return Buffer.concat([head, body]);
}

function cString(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.alloc(1)]);
}

/** For messages: `backend CommandComplete "INSERT 0 3"`. */
export function nameOfMessage({ side, kind, text }: Pick<WireMessage, 'side' | 'kind' | 'text'>): string {
  const short = text.trim().replaceAll(/\s+/g, ' ').slice(0, 40);
  return short === '' ? `${side} ${kind}` : `${side} ${kind} "${short}"`;
}
