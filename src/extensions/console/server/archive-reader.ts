/** One process that reads archived days, and how long its snapshot answers further requests. */
import type { CommandSession } from '../../../component/capabilities/own-commands.ts';
import { ConsoleError } from '../errors.ts';

export interface Limits {
  /** The most processes at once. */
  readonly processes: number;
  /** The time for one answer, including the start of the process. */
  readonly answerMs: number;
  readonly idleMs: number;
  /** The lifetime of a process. Its snapshot holds back maintenance. */
  readonly lifeMs: number;
  /** Replaces `lifeMs` while records are in objects only, because each ingested request adds records. */
  readonly freshMs: number;
  /** How many requests wait until a process can begin, and how long. */
  readonly waiting: number;
  readonly waitMs: number;
}

export interface LakeState {
  readonly hasParts: boolean;
  readonly newestFile: string | null;
}

interface ReaderParts {
  readonly limits: Limits;
  /** The state of the lake before the process began. */
  readonly state: LakeState;
  open(abort: AbortSignal): Promise<CommandSession>;
  idle(): void;
}

export class ArchiveReader {
  readonly #parts: ReaderParts;
  readonly #abort = new AbortController();
  readonly #session: Promise<CommandSession>;
  readonly #beganMs = performance.now();
  #asked = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#session = parts.open(this.#abort.signal);
  }

  get isUnused(): boolean {
    return this.#asked === 0;
  }

  /** It has ended or is being ended. */
  get isOver(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Whether it may get further requests: its snapshot is recent enough for what the database has now. */
  isCurrent({ hasParts, newestFile }: LakeState): boolean {
    const { limits, state } = this.#parts;
    const lifeMs = hasParts ? limits.freshMs : limits.lifeMs;
    return !this.isOver && state.newestFile === newestFile && performance.now() - this.#beganMs <= lifeMs;
  }

  async ask(line: string, signal: AbortSignal): Promise<string> {
    const { answerMs, idleMs } = this.#parts.limits;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#asked++;
    let stop: () => void = () => undefined;
    const given = new Promise<never>((_, reject) => {
      const late = setTimeout(() => {
        this.#abort.abort();
        const hint = '`sluice trace` and `sluice usage` read it without a limit of time.';
        reject(new ConsoleError('took_too_long', { message: 'The archive took too long.', hint }));
      }, answerMs);
      const leave = (): void => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      stop = () => {
        clearTimeout(late);
        signal.removeEventListener('abort', leave);
      };
    });
    try {
      return await Promise.race([this.#session.then((session) => session.ask(line)), given]);
    } catch (error) {
      // No request waits for what it reads, or it has ended.
      if (this.#asked === 1 || !signal.aborted) this.#abort.abort();
      throw error;
    } finally {
      stop();
      this.#asked--;
      if (this.isUnused) this.#timer = setTimeout(this.#parts.idle, idleMs);
    }
  }

  /** Resolves when the process has ended. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (!this.isUnused) this.#abort.abort();
    // Without a session there is no process.
    const session = await this.#session.catch(() => null);
    session?.end();
    await session?.ended;
  }
}
