/**
 * Limits equal messages within a window: the first few are admitted, the number of the others is reported at its end.
 */
import type { LogSampling } from '../../config/config.ts';

/** The limit of different messages in one window. Further ones are always admitted. */
const MAX_KINDS = 1000;

interface Kind {
  passed: number;
  suppressed: number;
  report: (suppressed: number) => void;
}

export class Repetitions {
  #sampling: LogSampling;
  /** The messages of the current window. */
  readonly #kinds = new Map<string, Kind>();
  #window: NodeJS.Timeout | null = null;

  constructor(sampling: LogSampling) {
    this.#sampling = sampling;
  }

  configure(sampling: LogSampling): void {
    this.#sampling = sampling;
  }

  /** False when the message is suppressed; `report` is then called once at the end of the window. */
  admit(key: string, report: (suppressed: number) => void): boolean {
    if (!this.#sampling.enabled) return true;
    const kind = this.#kinds.get(key);
    if (kind === undefined) {
      if (this.#kinds.size >= MAX_KINDS) return true;
      this.#open();
      this.#kinds.set(key, { passed: 1, suppressed: 0, report });
      return true;
    }
    if (kind.passed < this.#sampling.initial) {
      kind.passed++;
      return true;
    }
    kind.suppressed++;
    kind.report = report;
    return false;
  }

  #open(): void {
    this.#window ??= setTimeout(() => this.#close(), this.#sampling.tick).unref();
  }

  #close(): void {
    this.#window = null;
    const ended = [...this.#kinds.values()];
    this.#kinds.clear();
    for (const { suppressed, report } of ended) if (suppressed > 0) report(suppressed);
  }
}
