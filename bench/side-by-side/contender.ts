/** What stands side by side: how each server is started, where it listens, and how to tell what it has kept. */
import type { Client } from '../client.ts';
import type { ServerProcess } from './server-process.ts';

export interface Contender {
  readonly name: string;
  /** What its 200 means. */
  readonly acknowledges: string;
  readonly server: ServerProcess;
  readonly client: Client;
  /** Resolves when what was acknowledged, so many spans in all, has been worked off. */
  drain(spans: number): Promise<void>;
  /** Spans in its store. */
  kept(): Promise<number>;
  stop(): Promise<void>;
}
