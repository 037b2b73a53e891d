/** A compared server: its start, its endpoint, and the number of spans it stored. */
import type { Client } from '../../src/cli/bench/client.ts';
import type { ServerProcess } from './server-process.ts';

export interface Contender {
  readonly name: string;
  /** The meaning of its 200. */
  readonly acknowledges: string;
  readonly server: ServerProcess;
  readonly client: Client;
  /** Resolves when this number of acknowledged spans is processed. */
  drain(spans: number): Promise<void>;
  /** The number of spans in its store; null: they cannot be counted. */
  kept(): Promise<number | null>;
  stop(): Promise<void>;
}

/** A contender with a database and a page. */
export interface Backend extends Contender {
  /** The endpoint of OTLP/HTTP. */
  readonly url: string;
  /** The address of the project in the page. */
  readonly page: string;
}
