/**
 * Several statements, including COPY data, in one write and one round trip: the extended protocol with a single Sync at
 * the end. After a failed statement the server skips everything up to the Sync, including data.
 */
import type pg from 'pg';

/** `PGCOPY\n\377\r\n\0`, no flags, no header extension. */
const COPY_HEADER = Buffer.from('5047434f50590aff0d0a00' + '00000000' + '00000000', 'hex');
/** A field count of -1. */
const COPY_TRAILER = Buffer.from([0xff, 0xff]);
const COPY_DATA = 0x64; // 'd'
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]); // 'c'
const COPY_DATA_HEAD_BYTES = 5;
const BIND = 0x42; // 'B'
/** Without the name of the statement: code, length, two terminators of names, and three counts. */
const BIND_HEAD_BYTES = 13;
/** No result formats: all results are text. */
const BIND_TAIL = Buffer.alloc(2);

/** A statement with a name is prepared on the connection; one without is parsed each time. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

export type Parameter = string | Buffer | null;

export type Row = readonly (string | null)[];

/** The server's answer to one step. */
export interface StepResult {
  /** `COPY 64`, `INSERT 0 1`, … */
  readonly tag: string;
  readonly rows: readonly Row[];
}

export interface Step {
  readonly statement: Statement;
  /** Parameters: strings in text form, buffers in binary form. */
  readonly values?: readonly Parameter[];
  /** Instead of `values`: `count` binary parameters in wire format, each a length and its bytes. */
  readonly fields?: { readonly count: number; readonly chunks: readonly Buffer[] };
  /** Tuples of COPY BINARY, without header and trailer, for a COPY statement. */
  readonly chunks?: readonly Buffer[];
  /** Receives the result. An exception fails the pipeline. */
  read?(result: StepResult): void;
  /** Translates a failure of this step, when its meaning is more specific than the server's error. */
  translate?(error: unknown): unknown;
}

/** The part of pg's connection that a submittable uses. */
interface Connection {
  parse(query: { readonly name: string; readonly text: string }): void;
  bind(query: { readonly statement: string; readonly values: readonly Parameter[] }): void;
  execute(query: object): void;
  sync(): void;
  readonly stream: { cork?(): void; uncork?(): void; write(data: Buffer): boolean };
}

/** Resolves when every step is done. Rejects with the first failure, once the server is ready for the next query. */
export function runPipeline(client: pg.Client, steps: readonly Step[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const submit = (connection: Connection): null => {
      connection.stream.cork?.();
      for (const [index, step] of steps.entries()) sendStep(connection, step, steps[index - 1]);
      connection.sync();
      connection.stream.uncork?.();
      return null;
    };
    client.query(new PipelineQuery(steps, submit, { resolve, reject }) as unknown as pg.Submittable);
  });
}

/** Prepares the named statements on a connection. */
export function prepare(client: pg.Client, statements: readonly Required<Statement>[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const submit = (connection: Connection): null => {
      connection.stream.cork?.();
      for (const statement of statements) connection.parse(statement);
      connection.sync();
      connection.stream.uncork?.();
      return null;
    };
    client.query(new PipelineQuery([], submit, { resolve, reject }) as unknown as pg.Submittable);
  });
}

function sendStep(connection: Connection, { statement, values = [], fields, chunks }: Step, previous?: Step): void {
  // The unnamed statement stays until the next one is parsed.
  const isParsed = previous?.statement.name === undefined && previous?.statement.text === statement.text;
  if (statement.name === undefined && !isParsed) connection.parse({ name: '', text: statement.text });
  if (fields === undefined) connection.bind({ statement: statement.name ?? '', values });
  else bindFields(connection, statement.name ?? '', fields);
  connection.execute({});
  if (chunks === undefined) return;
  // The data is sent without waiting for the server's request: if the statement fails, the server discards it.
  for (const chunk of [COPY_HEADER, ...chunks, COPY_TRAILER]) {
    connection.stream.write(copyDataHead(chunk.length));
    connection.stream.write(chunk);
  }
  connection.stream.write(COPY_DONE);
}

function bindFields({ stream }: Connection, name: string, { count, chunks }: NonNullable<Step['fields']>): void {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const head = Buffer.alloc(BIND_HEAD_BYTES + name.length);
  head[0] = BIND;
  head.writeUInt32BE(head.length - 1 + bytes + BIND_TAIL.length, 1);
  // After the length: an empty portal name, the name of the statement, one format for all parameters (binary).
  const at = 6 + head.write(name, 6, 'latin1') + 1;
  head.writeUInt16BE(1, at);
  head.writeUInt16BE(1, at + 2);
  head.writeUInt16BE(count, at + 4);
  for (const part of [head, ...chunks, BIND_TAIL]) stream.write(part);
}

/** What is sent before `length` bytes of CopyData. */
export function copyDataHead(length: number): Buffer {
  const head = Buffer.allocUnsafe(COPY_DATA_HEAD_BYTES);
  head[0] = COPY_DATA;
  head.writeUInt32BE(length + 4, 1);
  return head;
}

interface Settlers {
  resolve(): void;
  reject(error: unknown): void;
}

/** A submittable of pg: its methods are called as the messages arrive. */
class PipelineQuery {
  readonly submit: (connection: Connection) => null;
  readonly #steps: readonly Step[];
  readonly #settlers: Settlers;
  #at = 0;
  #rows: Row[] = [];
  #failed = false;
  #failure: unknown;

  constructor(steps: readonly Step[], submit: (connection: Connection) => null, settlers: Settlers) {
    this.submit = submit;
    this.#steps = steps;
    this.#settlers = settlers;
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const rows = this.#rows;
    this.#rows = [];
    try {
      this.#steps[this.#at]?.read?.({ tag: text, rows });
    } catch (error) {
      this.#fail(error);
    }
    this.#at++;
  }

  handleReadyForQuery(): void {
    if (this.#failed) this.#settlers.reject(this.#failure);
    else this.#settlers.resolve();
  }

  /**
   * pg forgets a query on its error, while ReadyForQuery still follows. The next query waits for that in pg's queue.
   */
  handleError(error: unknown): void {
    if (!this.#failed) this.#fail(this.#steps[this.#at]?.translate?.(error) ?? error);
    this.#settlers.reject(this.#failure);
  }

  handleRowDescription(): void {}
  handleCopyInResponse(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#failure = error;
  }
}
