/**
 * Requests for archived days. They are answered by the same handlers in a process that reads the lake, because that
 * takes memory and time. The process has loaded one trace, or usage or traces of some days; it answers further requests
 * for them until it is idle or old.
 */
import type { OwnCommands } from '../../../component/capabilities/own-commands.ts';
import { dayOfNs, MAY_MISS, NEAR_NS, WAITING_PARTS } from '../../../component/archived-day.ts';
import type { Logger } from '../../../component/logger.ts';
import { maskedError } from '../../../component/masked-text.ts';
import { LATEST_NS } from '../../../component/moment.ts';
import { TRACE_ID, TRACE_ID_DIGITS } from '../../../pdata/record-ids.ts';
import { CONSOLE_ERRORS, ConsoleError, type ConsoleErrorCode } from '../errors.ts';
import { ArchiveReader, type LakeState, type Limits } from './archive-reader.ts';
import type { ArchivedDays, BytesReply, Caller, DownloadReply, Reply, RequestContext, RequestReader } from './route.ts';
import { API } from './route.ts';
import type { Match } from './router.ts';
import { DAY_NS } from '../../../pdata/time-units.ts';

/** The commands of the processes that answer. */
const TRACE_COMMAND = 'archived-trace';
const CONVERSATION_COMMAND = 'archived-conversation';
const DAYS_COMMANDS = {
  usage: { name: 'archived-usage', detailed: '--owners' },
  traces: { name: 'archived-traces', detailed: '--content' },
  metrics: { name: 'archived-metrics', detailed: '' },
} as const;

/** How a process loads what a request needs. */
export interface Loading {
  /** The arguments of the command. */
  readonly words: readonly string[];
  /** An id. It is sent in a request: it may have any characters, and other users of the machine see arguments. */
  readonly conversation?: string;
}

export const loadingOfTrace = (trace: string): Loading => ({ words: [TRACE_COMMAND, trace] });

const keyOf = ({ words, conversation }: Loading): string =>
  [words.join(' '), ...(conversation === undefined ? [] : [conversation])].join('\n');

/** Whole days, so that a later request for the same range uses the same process. */
export function loadingOfDays({ of, project, from, until, isDetailed, conversation = '' }: ArchivedDays): Loading {
  if (of === 'conversation') return { words: [CONVERSATION_COMMAND, project], conversation };
  const { name, detailed } = DAYS_COMMANDS[of];
  const [first, last] = [from - (from % DAY_NS), until + ((DAY_NS - (until % DAY_NS)) % DAY_NS)];
  return { words: [name, project, String(first), String(last), ...(isDetailed ? [detailed] : [])] };
}

/** A line of its input. */
export interface ArchivedQuestion extends Pick<Caller, 'projects' | 'seesContent'>, Pick<RequestContext, 'headers'> {
  /** A path of the API, or of that of Tempo or Jaeger, with its query. */
  readonly path: string;
  /** The id of the conversation that the process is to load. */
  readonly conversation?: string;
}

/** A line of its output: a whole reply, or a refusal. */
export type ArchivedAnswer =
  | { readonly reply: WholeReply /** Files that could not be read. */; readonly left_out?: string }
  | { readonly refusal: { readonly code: string; readonly message: string; readonly hint: string | null } };

export type WholeReply = {
  readonly status: number;
  /** The body; the body of a download and of bytes is in base64. */
  readonly text: string;
} & (
  | { readonly kind: 'json_text' | 'lines' | 'text' }
  | { readonly kind: 'download'; readonly name: string; readonly type: DownloadReply['type'] }
  | { readonly kind: 'bytes'; readonly type: BytesReply['type'] }
);

const LIMITS: Limits = {
  processes: 2,
  answerMs: 60_000,
  idleMs: 30_000,
  lifeMs: 120_000,
  freshMs: 10_000,
  waiting: 32,
  waitMs: 30_000,
};
const ARRIVED = '(extract(epoch FROM t.created_at) * 1000)::int8 * 1000000';
const FIRST = `(greatest(coalesce(t.first_ns, ${ARRIVED}), ${NEAR_NS}) - ${NEAR_NS})`;
const LAST = `(least(coalesce(t.last_ns, ${ARRIVED}), ${LATEST_NS - NEAR_NS}) + ${NEAR_NS})`;
/** Without its claim, which expires after its records, a trace may be on any archived day, but not in objects only. */
const IS_ARCHIVED = `
  SELECT EXISTS (
    SELECT FROM sluice.lake_jobs j
    LEFT JOIN sluice.traces t ON t.trace_id = $1::bytea AND ($2::text[] IS NULL OR t.project = ANY ($2::text[]))
    WHERE j.state = 'published' AND j.signal <> 'metric_points' AND ($2::text[] IS NULL OR j.projects && $2::text[])
      AND (t.trace_id IS NULL OR j.day BETWEEN ${dayOfNs(FIRST)} AND ${dayOfNs(LAST)}
        OR (j.min_ns <= ${LAST} AND j.max_ns >= ${FIRST}))
      AND ${MAY_MISS}
  ) OR EXISTS (
    SELECT FROM sluice.traces t JOIN ${WAITING_PARTS} p ON p.project = t.project AND p.signal IN ('spans', 'logs')
    WHERE t.trace_id = $1::bytea AND ($2::text[] IS NULL OR t.project = ANY ($2::text[]))
      AND p.received_at >= t.created_at - interval '1 hour'
      AND (p.last_ns IS NULL OR p.last_ns >= ${FIRST}) AND (p.first_ns IS NULL OR p.first_ns <= ${LAST})) AS archived`;

/** Whether records are in objects only, and the newest file of the lake. */
const LAKE_STATE = `
  SELECT EXISTS (SELECT FROM ${WAITING_PARTS} p) AS has_parts,
    (SELECT max(id)::text FROM sluice.lake_jobs WHERE state = 'published') AS newest_file`;

/** The sender of a request. */
export type Asker = Pick<RequestContext, 'signal'> & { readonly reader: Pick<RequestReader, 'prepared'> };

/** The trace of a request that may need the lake, else null. Tempo and Jaeger accept ids without leading zeros. */
export function archivedTraceOf({ route, parameters }: Match): string | null {
  const trace = parameters.get('trace');
  if (trace === undefined) return null;
  const id = route.path.startsWith(API) ? trace : trace.padStart(TRACE_ID_DIGITS, '0');
  return TRACE_ID.test(id) ? id.toLowerCase() : null;
}

export class ArchiveReaders {
  readonly #commands: OwnCommands;
  readonly #logger: Logger;
  readonly #limits: Limits;
  /** By the words of their commands. */
  readonly #readers = new Map<string, ArchiveReader>();
  /** Processes that end after their last answer, because what they read is not current. */
  readonly #former = new Set<ArchiveReader>();
  /** Processes whose unreadable files were logged. */
  readonly #warned = new WeakSet<ArchiveReader>();
  /** Called when a process may begin. */
  readonly #waiting = new Set<() => void>();

  constructor(commands: OwnCommands, logger: Logger, limits: Limits = LIMITS) {
    this.#commands = commands;
    this.#logger = logger;
    this.#limits = limits;
  }

  /** Whether PostgreSQL may not have all records that these projects have of the trace. Null: all projects. */
  async mayHave(reader: Asker['reader'], trace: string, projects: readonly string[] | null): Promise<boolean> {
    const [row] = await reader.prepared(IS_ARCHIVED, [Buffer.from(trace, 'hex'), projects]);
    return row?.['archived'] === true;
  }

  /**
   * The answer to a request for a trace. Null: it is for no trace, or PostgreSQL has all of it. Only projects that the
   * caller may see decide: the time or the failure of reading would tell whether another one has the trace.
   */
  async answerForTrace(
    match: Match,
    project: string | null,
    { question, asker }: { readonly question: ArchivedQuestion; readonly asker: Asker },
  ): Promise<Reply | null> {
    const trace = archivedTraceOf(match);
    const projects = project === null ? question.projects : [project];
    if (trace === null || !(await this.mayHave(asker.reader, trace, projects))) return null;
    return this.answer(loadingOfTrace(trace), question, asker);
  }

  async answer(loading: Loading, question: ArchivedQuestion, { reader: database, signal }: Asker): Promise<Reply> {
    const [row] = await database.prepared(LAKE_STATE);
    const state = {
      hasParts: row?.['has_parts'] === true,
      newestFile: (row?.['newest_file'] ?? null) as string | null,
    };
    const key = keyOf(loading);
    let reader = this.#readerOf(loading, state);
    while (reader === null) {
      await this.#placeFree(signal);
      reader = this.#readerOf(loading, state);
    }
    try {
      const answer = JSON.parse(await reader.ask(lineOf(question, loading), signal)) as ArchivedAnswer;
      if ('reply' in answer && answer.left_out !== undefined) this.#warn(reader, loading, answer.left_out);
      return replyOf(answer);
    } catch (error) {
      if (error instanceof ConsoleError || signal.aborted) throw error;
      this.#logger.warn(
        { command: loading.words.join(' '), error: maskedError(error) },
        'archived days could not be read',
      );
      throw new ConsoleError('archive_unavailable');
    } finally {
      if (reader.isOver || (this.#former.has(reader) && reader.isUnused)) void this.#end(key, reader);
      this.#wake();
    }
  }

  /** Warns once for each process, which reads its files once. */
  #warn(reader: ArchiveReader, { words }: Loading, leftOut: string): void {
    if (this.#warned.has(reader)) return;
    this.#warned.add(reader);
    this.#logger.warn({ command: words.join(' '), archive: leftOut }, 'an answer of archived days is incomplete');
  }

  /** Discards what was read of a trace, so that it is neither shown nor counted any more. */
  forget(trace: string): void {
    const others = `${TRACE_COMMAND} `;
    for (const [key, reader] of this.#readers)
      if (!key.startsWith(others) || key === keyOf(loadingOfTrace(trace))) void this.#end(key, reader);
    for (const reader of this.#former) void this.#end('', reader);
  }

  stop(): void {
    for (const [key, reader] of this.#readers) void this.#end(key, reader);
    for (const reader of this.#former) void this.#end('', reader);
  }

  /** The caller must send its request at once, because an unused process may be ended. Null: no process can begin. */
  #readerOf(loading: Loading, state: LakeState): ArchiveReader | null {
    const key = keyOf(loading);
    const running = this.#readers.get(key);
    if (running?.isCurrent(state) === true) return running;
    const before = running === undefined ? Promise.resolve() : this.#retire(key, running);
    if (this.#readers.size + this.#former.size < this.#limits.processes) return this.#open(loading, { state, before });
    const [unused] = [...this.#readers].filter(([, each]) => each.isUnused);
    return unused === undefined ? null : this.#open(loading, { state, before: this.#end(...unused) });
  }

  /** Rejects when too many wait, or for too long. */
  async #placeFree(signal: AbortSignal): Promise<void> {
    const busy = (): ConsoleError =>
      new ConsoleError('busy', { message: 'Other archived days are being read.', hint: 'Try again soon.' });
    if (this.#waiting.size >= this.#limits.waiting) throw busy();
    let stop: () => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(busy()), this.#limits.waitMs);
        const leave = (): void => reject(signal.reason);
        signal.addEventListener('abort', leave, { once: true });
        this.#waiting.add(resolve);
        stop = () => {
          clearTimeout(late);
          signal.removeEventListener('abort', leave);
          this.#waiting.delete(resolve);
        };
      });
    } finally {
      stop();
    }
  }

  /** Lets all waiting requests check again for a free process. */
  #wake(): void {
    for (const resolve of this.#waiting) resolve();
  }

  #open(
    loading: Loading,
    { state, before }: { readonly state: LakeState; readonly before: Promise<void> },
  ): ArchiveReader {
    const key = keyOf(loading);
    const { words } = loading;
    const reader = new ArchiveReader({
      limits: this.#limits,
      state,
      open: async (abort) => {
        await before;
        const line = (text: string): void =>
          this.#logger.debug({ command: words.join(' '), archive: text }, 'reading the archive');
        return this.#commands.open(words, { signal: abort, line });
      },
      idle: () => void this.#end(key, reader),
    });
    this.#readers.set(key, reader);
    return reader;
  }

  /** The process answers its pending requests, and accepts no others. */
  #retire(key: string, reader: ArchiveReader): Promise<void> {
    if (reader.isUnused || reader.isOver) return this.#end(key, reader);
    this.#readers.delete(key);
    this.#former.add(reader);
    return Promise.resolve();
  }

  #end(key: string, reader: ArchiveReader): Promise<void> {
    if (this.#readers.get(key) === reader) this.#readers.delete(key);
    this.#former.delete(reader);
    this.#wake();
    return reader.end();
  }
}

const lineOf = (question: ArchivedQuestion, { conversation }: Loading): string =>
  JSON.stringify(conversation === undefined ? question : { ...question, conversation });

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
