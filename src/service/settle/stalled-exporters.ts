/**
 * Exporters with a write that makes no progress. Groups wait for it, so all requests are refused until it has ended.
 * Their groups are not given up: when one is stored after all, a repetition of its requests is a replay.
 */
import type { Exporter } from '../../component/exporter.ts';
import { Rejection } from '../../errors.ts';

export const STALLED = 'a write of an exporter makes no progress';

export class StalledExporters {
  readonly #exporters = new Set<Exporter>();
  /** Refuses a request that has no answer yet. */
  readonly #unanswered = new Set<(error: unknown) => void>();

  /** Refuses the requests that have no answer yet. */
  add(exporter: Exporter): void {
    this.#exporters.add(exporter);
    for (const refuse of this.#unanswered) refuse(new Rejection('ingestion_failed', { cause: STALLED }));
  }

  /** Whether a write still makes no progress. */
  get any(): boolean {
    for (const exporter of this.#exporters) if (exporter.isStalled?.() !== true) this.#exporters.delete(exporter);
    return this.#exporters.size > 0;
  }

  /** Settles with the work of a request, or rejects earlier when an exporter stalls. */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#unanswered.add(reject);
      const end = (): void => void this.#unanswered.delete(reject);
      work.then(resolve, reject).then(end, end);
    });
  }
}
