/** Messages of a worker that the primary waits for. */
import type { WorkerMessage } from './messages.ts';

export type Kind = WorkerMessage['kind'];
export type MessageOf<K extends Kind> = Extract<WorkerMessage, { readonly kind: K }>;

interface Expectation {
  readonly kinds: readonly Kind[];
  received(message: WorkerMessage): void;
  ended(error: Error): void;
}

export class ExpectedMessages {
  readonly #expectations = new Set<Expectation>();

  /** The next message of one of these kinds. Rejects when the process ends before. */
  next<K extends Kind>(kinds: readonly K[]): Promise<MessageOf<K>> {
    return new Promise((resolve, ended) => {
      const received = (message: WorkerMessage): void => resolve(message as MessageOf<K>);
      this.#expectations.add({ kinds, received, ended });
    });
  }

  receive(message: WorkerMessage): void {
    for (const expectation of this.#expectations) {
      if (!expectation.kinds.includes(message.kind)) continue;
      this.#expectations.delete(expectation);
      expectation.received(message);
    }
  }

  /** The process has ended. */
  end(error: Error): void {
    const expectations = [...this.#expectations];
    this.#expectations.clear();
    for (const { ended } of expectations) ended(error);
  }
}
