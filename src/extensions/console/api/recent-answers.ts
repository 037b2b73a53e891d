/** Answers that are cached for some seconds. */

const KEPT_MS = 10_000;
/** The most answers. Beyond it the oldest is removed. */
const MAX_ANSWERS = 200;

interface RecentAnswer {
  readonly text: string;
  readonly until: number;
}

export class RecentAnswers {
  readonly #answers = new Map<string, RecentAnswer>();

  find(key: string, now: number): string | null {
    const found = this.#answers.get(key);
    return found !== undefined && found.until > now ? found.text : null;
  }

  keep(key: string, text: string, now: number): void {
    this.#answers.delete(key);
    this.#answers.set(key, { text, until: now + KEPT_MS });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }
}
