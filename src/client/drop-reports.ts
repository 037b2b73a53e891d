/** Reports lost data through `diag`, once per cause, so that a long outage does not fill the application's log. */
import { diag } from '@opentelemetry/api';
import { ExportFailure, messageOf } from './failure.ts';

export class DropReports {
  readonly #items: string;
  readonly #reported = new Set<string>();

  /** `items` is what the data is called in the message, for example `spans`. */
  constructor(items: string) {
    this.#items = items;
  }

  failed(error: unknown): void {
    this.dropped(error instanceof ExportFailure ? error.reason : 'error', messageOf(error));
  }

  dropped(reason: string, message: string): void {
    if (this.#reported.has(reason)) return;
    this.#reported.add(reason);
    diag.warn(`sluice: ${this.#items} are dropped: ${message} (reported once)`);
  }
}
