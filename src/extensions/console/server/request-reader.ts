/** The reader of one request: it ends with the request, and counts against the queries of its caller. */
import type { PostgresReader, ReaderRow } from '../../../component/capabilities/postgres-reader.ts';
import type { QueryTurns } from './limits.ts';
import type { RequestReader } from './route.ts';

export class RequestReaders {
  readonly #reader: PostgresReader;
  readonly #turns: QueryTurns;

  constructor(reader: PostgresReader, turns: QueryTurns) {
    this.#reader = reader;
    this.#turns = turns;
  }

  for(caller: string, signal: AbortSignal): RequestReader {
    return new BoundReader({ reader: this.#reader, turns: this.#turns, caller, signal });
  }
}

interface BoundParts {
  readonly reader: PostgresReader;
  readonly turns: QueryTurns;
  readonly caller: string;
  readonly signal: AbortSignal;
}

class BoundReader implements RequestReader {
  readonly #parts: BoundParts;

  constructor(parts: BoundParts) {
    this.#parts = parts;
  }

  get views(): string {
    return this.#parts.reader.views;
  }

  query(text: string, values: readonly unknown[] = []): Promise<readonly ReaderRow[]> {
    const { reader, signal } = this.#parts;
    return this.#inTurn(() => reader.query(text, values, signal));
  }

  prepared(text: string, values: readonly unknown[] = []): Promise<readonly ReaderRow[]> {
    const { reader, signal } = this.#parts;
    return this.#inTurn(() => reader.prepared(text, values, signal));
  }

  async #inTurn<T>(question: () => Promise<T>): Promise<T> {
    const { turns, caller, signal } = this.#parts;
    const end = await turns.take(caller, signal);
    try {
      return await question();
    } finally {
      end();
    }
  }

  async *stream(text: string, values: readonly unknown[] = []): AsyncIterable<readonly ReaderRow[]> {
    const { reader, turns, caller, signal } = this.#parts;
    const end = await turns.take(caller, signal);
    try {
      yield* reader.stream(text, values, signal);
    } finally {
      end();
    }
  }
}
