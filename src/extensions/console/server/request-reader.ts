/** The reader of one request: it ends with the request, and counts against the queries of its caller. */
import type { PostgresReader, ReaderRow } from '../../../component/capabilities/postgres-reader.ts';
import { QueryTurns } from './limits.ts';
import type { RequestReader } from './route.ts';

/** The streams of all callers together. */
const ALL = '';

export class RequestReaders {
  readonly #reader: PostgresReader;
  readonly #turns = new QueryTurns();
  /** A stream keeps its connection while its client reads, so one connection is left for other queries. */
  readonly #streams: QueryTurns;

  /** `connections`: of the reader. */
  constructor(reader: PostgresReader, connections: number) {
    this.#reader = reader;
    this.#streams = new QueryTurns(Math.max(1, connections - 1), 'busy');
  }

  for(caller: string, signal: AbortSignal): RequestReader {
    return new BoundReader({ reader: this.#reader, turns: this.#turns, streams: this.#streams, caller, signal });
  }
}

interface BoundParts {
  readonly reader: PostgresReader;
  readonly turns: QueryTurns;
  readonly streams: QueryTurns;
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
    const { reader, turns, streams, caller, signal } = this.#parts;
    const end = await turns.take(caller, signal);
    try {
      const endStream = await streams.take(ALL, signal);
      try {
        yield* reader.stream(text, values, signal);
      } finally {
        endStream();
      }
    } finally {
      end();
    }
  }
}
