/**
 * Requests for archived days. They are answered by the same handlers in a process that reads the lake, because that
 * takes memory and time. The process has loaded one trace, or usage or traces of some days; it answers further requests
 * for them until it is idle or old.
 */
import type { CommandSession, OwnCommands } from '../../../component/capabilities/own-commands.ts';
import { dayOfNs, MAY_MISS, NEAR_NS, WAITING_PARTS } from '../../../component/archived-day.ts';
import type { Logger } from '../../../component/logger.ts';
import { CONSOLE_ERRORS, ConsoleError, type ConsoleErrorCode } from '../errors.ts';
import type { ArchivedDays, BytesReply, Caller, DownloadReply, Reply, RequestContext, RequestReader } from './route.ts';
import { API } from './route.ts';
import type { Match } from './router.ts';

/** The commands that answer. */
const TRACE_COMMAND = 'archived-trace';
const DAYS_COMMANDS = {
  usage: { name: 'archived-usage', detailed: '--owners' },
  traces: { name: 'archived-traces', detailed: '--content' },
} as const;

/** The words of the command that loads what a question needs. */
export type Loading = readonly string[];

export const loadingOfTrace = (trace: string): Loading => [TRACE_COMMAND, trace];

/** Whole days, so that a question for the same range a moment later finds the process of the first. */
export function loadingOfDays({ of, project, from, until, isDetailed }: ArchivedDays): Loading {
  const { name, detailed } = DAYS_COMMANDS[of];
  const [first, last] = [from - (from % DAY_NS), until + ((DAY_NS - (until % DAY_NS)) % DAY_NS)];
  return [name, project, String(first), String(last), ...(isDetailed ? [detailed] : [])];
}

/** A line of its input. */
export interface ArchivedQuestion extends Pick<Caller, 'projects' | 'seesContent'>, Pick<RequestContext, 'headers'> {
  /** A path of the API, or of that of Tempo or Jaeger, with its query. */
  readonly path: string;
}

/** A line of its output: a whole reply, or a refusal. */
export type ArchivedAnswer =
  | { readonly reply: WholeReply }
  | { readonly refusal: { readonly code: string; readonly message: string; readonly hint: string | null } };

export type WholeReply = {
  readonly status: number;
  /** Of a download and of bytes in base64. */
  readonly text: string;
} & (
  | { readonly kind: 'json_text' | 'lines' | 'text' }
  | { readonly kind: 'download'; readonly name: string; readonly type: DownloadReply['type'] }
  | { readonly kind: 'bytes'; readonly type: BytesReply['type'] }
);

export interface Limits {
  /** Processes at once. */
  readonly processes: number;
  /** For one answer, with the start of the process. */
  readonly answerMs: number;
  readonly idleMs: number;
  /** A process reads a snapshot, which holds back maintenance. */
  readonly lifeMs: number;
}

const LIMITS: Limits = { processes: 2, answerMs: 60_000, idleMs: 30_000, lifeMs: 120_000 };
const DAY_NS = 86_400_000_000_000n;
const TRACE_ID = /^[0-9a-f]{32}$/iu;
const ID_DIGITS = 32;
const LATEST_NS = '9000000000000000000';
const ARRIVED = '(extract(epoch FROM t.created_at) * 1000)::int8 * 1000000';
const FIRST = `(greatest(coalesce(t.first_ns, ${ARRIVED}), ${NEAR_NS}) - ${NEAR_NS})`;
const LAST = `(least(coalesce(t.last_ns, ${ARRIVED}), ${LATEST_NS}) + ${NEAR_NS})`;
/** Without its claim, which expires after its records, a trace may be on any archived day, but not in objects only. */
const IS_ARCHIVED = `
  SELECT EXISTS (
    SELECT FROM sluice.lake_jobs j
    LEFT JOIN sluice.traces t ON t.trace_id = $1::bytea AND ($2::text IS NULL OR t.project = $2::text)
    WHERE j.state = 'published' AND j.signal <> 'metric_points' AND ($2::text IS NULL OR $2::text = ANY (j.projects))
      AND (t.trace_id IS NULL OR j.day BETWEEN ${dayOfNs(FIRST)} AND ${dayOfNs(LAST)}
        OR (j.min_ns <= ${LAST} AND j.max_ns >= ${FIRST}))
      AND ${MAY_MISS}
  ) OR EXISTS (
    SELECT FROM sluice.traces t JOIN ${WAITING_PARTS} p ON p.project = t.project AND p.signal IN ('spans', 'logs')
    WHERE t.trace_id = $1::bytea AND ($2::text IS NULL OR t.project = $2::text)
      AND p.received_at >= t.created_at - interval '1 hour'
      AND (p.last_ns IS NULL OR p.last_ns >= ${FIRST}) AND (p.first_ns IS NULL OR p.first_ns <= ${LAST})) AS archived`;

/** The trace of a request that may need the lake, else null. The APIs of others take ids without leading zeros. */
export function archivedTraceOf({ route, parameters }: Match): string | null {
  const trace = parameters.get('trace');
  if (trace === undefined) return null;
  const id = route.path.startsWith(API) ? trace : trace.padStart(ID_DIGITS, '0');
  return TRACE_ID.test(id) ? id.toLowerCase() : null;
}

export class ArchiveReaders {
  readonly #commands: OwnCommands;
  readonly #logger: Logger;
  readonly #limits: Limits;
  /** By the words of their commands. */
  readonly #readers = new Map<string, ArchiveReader>();

  constructor(commands: OwnCommands, logger: Logger, limits: Limits = LIMITS) {
    this.#commands = commands;
    this.#logger = logger;
    this.#limits = limits;
  }

  /** Whether PostgreSQL may not have all records of the trace. */
  async mayHave(reader: RequestReader, trace: string, project: string | null): Promise<boolean> {
    const [row] = await reader.prepared(IS_ARCHIVED, [Buffer.from(trace, 'hex'), project]);
    return row?.['archived'] === true;
  }

  async answer(loading: Loading, question: ArchivedQuestion, signal: AbortSignal): Promise<Reply> {
    const reader = this.#readerOf(loading);
    try {
      return replyOf(JSON.parse(await reader.ask(JSON.stringify(question), signal)) as ArchivedAnswer);
    } catch (error) {
      if (error instanceof ConsoleError || signal.aborted) throw error;
      this.#logger.warn({ command: loading.join(' '), error }, 'archived days could not be read');
      throw new ConsoleError('archive_unavailable');
    } finally {
      if (reader.isOver) this.#end(loading.join(' '), reader);
    }
  }

  /** What was read of a trace is not shown any more, and not counted. */
  forget(trace: string): void {
    const others = `${TRACE_COMMAND} `;
    for (const [key, reader] of this.#readers)
      if (!key.startsWith(others) || key === loadingOfTrace(trace).join(' ')) this.#end(key, reader);
  }

  stop(): void {
    for (const [key, reader] of this.#readers) this.#end(key, reader);
  }

  #readerOf(loading: Loading): ArchiveReader {
    const key = loading.join(' ');
    const running = this.#readers.get(key);
    if (running !== undefined && !running.isOver) return running;
    let before = Promise.resolve();
    if (running !== undefined) before = this.#end(key, running);
    else if (this.#readers.size >= this.#limits.processes) {
      const [unused] = [...this.#readers].filter(([, each]) => each.isUnused);
      if (unused === undefined)
        throw new ConsoleError('busy', { message: 'Other archived days are being read.', hint: 'Try again soon.' });
      before = this.#end(...unused);
    }
    const reader = new ArchiveReader({
      limits: this.#limits,
      open: async (abort) => {
        await before;
        const line = (text: string): void => this.#logger.debug({ command: key, archive: text }, 'reading the archive');
        return this.#commands.open(loading, { signal: abort, line });
      },
      idle: () => void this.#end(key, reader),
    });
    this.#readers.set(key, reader);
    return reader;
  }

  #end(key: string, reader: ArchiveReader): Promise<void> {
    if (this.#readers.get(key) === reader) this.#readers.delete(key);
    return reader.end();
  }
}

interface ReaderParts {
  readonly limits: Limits;
  open(abort: AbortSignal): Promise<CommandSession>;
  idle(): void;
}

/** One process. */
class ArchiveReader {
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

  /** It ended, or is to be ended. */
  get isOver(): boolean {
    const isOld = performance.now() - this.#beganMs > this.#parts.limits.lifeMs;
    return this.#abort.signal.aborted || (isOld && this.isUnused);
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

function replyOf(answer: ArchivedAnswer): Reply {
  if ('refusal' in answer) {
    const { code, message, hint } = answer.refusal;
    const known: ConsoleErrorCode = isCode(code) ? code : 'internal';
    throw new ConsoleError(known, { message, ...(hint === null ? {} : { hint }) });
  }
  const { reply } = answer;
  const { status, text } = reply;
  switch (reply.kind) {
    case 'lines':
      return { kind: 'lines', status, pieces: only(text) };
    case 'download':
      return { ...reply, pieces: only(Buffer.from(text, 'base64')) };
    case 'bytes':
      return { ...reply, bytes: Buffer.from(text, 'base64') };
    default:
      return { kind: reply.kind, status, text };
  }
}

const isCode = (code: string): code is ConsoleErrorCode => Object.hasOwn(CONSOLE_ERRORS, code);

async function* only<Piece>(piece: Piece): AsyncGenerator<Piece> {
  yield piece;
}
