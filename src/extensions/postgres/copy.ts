/**
 * COPY … FROM STDIN (FORMAT binary) as one write: the statement and all its data go out together, without waiting for the
 * server to ask. A statement that fails makes the server discard the data, so nothing can be left half done.
 */
import type pg from 'pg';

/** `PGCOPY\n\377\r\n\0`, no flags, no header extension. */
const HEADER = Buffer.from('5047434f50590aff0d0a00' + '00000000' + '00000000', 'hex');
/** A field count of -1. */
const TRAILER = Buffer.from([0xff, 0xff]);
const COPY_DATA = 0x64; // 'd'
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]); // 'c'
const COUNT = /^COPY (\d+)$/;

/** The part of pg's connection that a submittable uses. */
interface Connection {
  query(text: string): void;
  readonly stream: { cork?(): void; uncork?(): void; write(data: Buffer): boolean };
}

/** Resolves with the number of rows the server stored. Rejects with the server's error once it is ready for the next query. */
export function copyBinary(client: pg.Client, statement: string, chunks: readonly Buffer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let failure: Error | null = null;
    let rows = -1;
    const query = {
      submit(connection: Connection): null {
        connection.stream.cork?.();
        connection.query(statement);
        for (const chunk of [HEADER, ...chunks, TRAILER]) {
          connection.stream.write(frame(chunk.length));
          connection.stream.write(chunk);
        }
        connection.stream.write(COPY_DONE);
        connection.stream.uncork?.();
        return null;
      },
      // The data is already on its way.
      handleCopyInResponse(): void {},
      handleCommandComplete({ text }: { readonly text: string }): void {
        rows = Number(COUNT.exec(text)?.[1] ?? -1);
      },
      handleReadyForQuery(): void {
        if (failure !== null) reject(failure);
        else resolve(rows);
      },
      // pg gives an error to its query at once and forgets the query, while the ReadyForQuery still follows. The next query
      // waits for it in pg's own queue, so rejecting here is safe.
      handleError(error: Error): void {
        failure = error;
        reject(error);
      },
      handleRowDescription(): void {},
      handleDataRow(): void {},
      handleEmptyQuery(): void {},
      handlePortalSuspended(): void {},
    };
    client.query(query as unknown as pg.Submittable);
  });
}

function frame(length: number): Buffer {
  const header = Buffer.allocUnsafe(5);
  header[0] = COPY_DATA;
  header.writeUInt32BE(length + 4, 1);
  return header;
}
