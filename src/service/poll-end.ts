/**
 * Work after a poll of the event loop. Groups are formed first, so that the database works on them while passes are
 * advanced.
 */

export class PollEnd {
  #groups: (() => void)[] = [];
  #passes: (() => void)[] = [];
  #isScheduled = false;

  /** Calls back after the next poll, before passes. */
  formGroup(callback: () => void): void {
    this.#groups.push(callback);
    this.#schedule();
  }

  /** Calls back after the next poll. */
  advancePasses(callback: () => void): void {
    this.#passes.push(callback);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Two callbacks of the event loop: the promises that groups wait for are resolved between them.
    setImmediate(() => {
      this.#isScheduled = false;
      const groups = this.#groups;
      this.#groups = [];
      for (const callback of groups) callback();
    });
    setImmediate(() => {
      const passes = this.#passes;
      this.#passes = [];
      for (const callback of passes) callback();
    });
  }
}
