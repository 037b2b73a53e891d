/**
 * Polls for live streams: one for each project that has listeners. A poll asks which traces are new or got spans; each
 * listener then reads the rows of those that match its filter.
 */
import type { RequestReader } from '../server/route.ts';

const POLL_MS = 1000;
/** Rows are stamped before they can be seen, so each poll looks back this far and omits what it reported before. */
const LOOK_BACK_MS = 10_000;
/**
 * The number of the newest spans that are read. A span with an old start that arrives now is shown after the next
 * reload of the page.
 */
const NEWEST_SPANS = 5000;
const MAX_TRACES = 500;
/** The most changes that wait for a slow listener. Older ones are only counted. */
const MAX_PENDING = 1000;
/** A listener that was away for longer, or during too many changes, is told of a gap. */
const LONGEST_ABSENCE_MS = 600_000;

/** Traces that have changed, and the database's time up to which changes are known, in Unix milliseconds. */
export interface Changes {
  readonly traces: readonly Buffer[];
  /** How many older traces were left out because the listener read slowly. */
  readonly left: number;
  readonly watermark: number;
  /** The listener was away, and what has changed in the meantime is not known. */
  readonly isGap: boolean;
}

export interface Listener {
  readonly project: string;
  readonly reader: RequestReader;
  readonly signal: AbortSignal;
  /** The watermark of an earlier stream; null: from now on. */
  readonly since: number | null;
}

/** `known`: what was reported of each trace, as its latest time of arrival. */
interface Poll {
  readonly listeners: Set<Watch>;
  known: Map<string, number>;
  watermark: number | null;
  running: boolean;
}

interface Changed {
  readonly id: Buffer;
  readonly at: number;
}

interface Watch {
  readonly listener: Listener;
  /** The latest change last. */
  readonly pending: Map<string, Buffer>;
  left: number;
  watermark: number;
  isGap: boolean;
  wake: () => void;
}

const CHANGED = `
  WITH fresh AS (
    SELECT s.trace_id, s.received_at AS at FROM (
      SELECT n.trace_id, n.received_at FROM sluice.spans n
      WHERE n.project = $1::text AND n.start_time_unix_nano < (extract(epoch FROM now()) * 1000 + 3600000)::int8 * 1000000
      ORDER BY n.start_time_unix_nano DESC LIMIT ${NEWEST_SPANS}) s
    WHERE s.received_at > to_timestamp($2::float8 / 1000)
    UNION ALL
    SELECT t.trace_id, t.created_at FROM sluice.traces t
    WHERE t.created_at > to_timestamp($2::float8 / 1000) AND t.project = $1::text
  )
  SELECT trace_id, (extract(epoch FROM max(at)) * 1000000)::float8 AS at, count(*)::int4 AS reports FROM fresh GROUP BY 1 ORDER BY 2 DESC LIMIT ${MAX_TRACES}`;
const CLOCK = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms';

export class LivePolls {
  readonly #polls = new Map<string, Poll>();

  /** Changes until the listener ends, also without any trace once a second. */
  async *listen(listener: Listener): AsyncGenerator<Changes> {
    const poll = this.#pollOf(listener.project);
    const watch: Watch = { listener, pending: new Map(), left: 0, watermark: 0, isGap: false, wake: () => undefined };
    // A poll of another listener that runs now reports to this one too.
    poll.listeners.add(watch);
    const stop = (): void => watch.wake();
    listener.signal.addEventListener('abort', stop);
    try {
      watch.watermark = Number((await listener.reader.query(CLOCK))[0]?.['ms']);
      poll.watermark ??= watch.watermark;
      if (listener.since !== null) await catchUp(watch, listener.since);
      void this.#run(listener.project, poll);
      while (!listener.signal.aborted) {
        yield takeChanges(watch);
        if (watch.pending.size === 0) await nextWake(watch, listener.signal);
      }
    } finally {
      listener.signal.removeEventListener('abort', stop);
      poll.listeners.delete(watch);
      if (poll.listeners.size === 0) this.#polls.delete(listener.project);
    }
  }

  #pollOf(project: string): Poll {
    const poll = this.#polls.get(project) ?? {
      listeners: new Set(),
      known: new Map(),
      watermark: null,
      running: false,
    };
    this.#polls.set(project, poll);
    return poll;
  }

  /** Ends when the last listener has left. A poll that fails is tried again after the same time. */
  async #run(project: string, poll: Poll): Promise<void> {
    if (poll.running) return;
    poll.running = true;
    while (poll.listeners.size > 0) {
      const [first] = poll.listeners;
      if (first !== undefined) await this.#look(first.listener, poll).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    poll.running = false;
    if (this.#polls.get(project) === poll) this.#polls.delete(project);
  }

  async #look({ project, reader }: Listener, poll: Poll): Promise<void> {
    const now = Number((await reader.query(CLOCK))[0]?.['ms']);
    const since = (poll.watermark ?? now) - LOOK_BACK_MS;
    const { found } = await changedSince({ project, reader }, since);
    const fresh = found.filter(({ id, at }) => (poll.known.get(id.toString('hex')) ?? 0) < at);
    poll.known = new Map(found.map(({ id, at }) => [id.toString('hex'), at]));
    poll.watermark = now;
    for (const watch of poll.listeners) {
      watch.watermark = now;
      keep(watch, fresh);
      watch.wake();
    }
  }
}

async function changedSince(
  { project, reader }: Pick<Listener, 'project' | 'reader'>,
  sinceMs: number,
): Promise<{ readonly found: readonly Changed[]; readonly isCut: boolean }> {
  const rows = await reader.query(CHANGED, [project, sinceMs]);
  const reports = rows.reduce((sum, row) => sum + Number(row['reports']), 0);
  return {
    found: rows.map((row) => ({ id: row['trace_id'] as Buffer, at: Number(row['at']) })),
    isCut: rows.length === MAX_TRACES || reports >= NEWEST_SPANS,
  };
}

/** What has changed since the listener left, as far as it is known. */
async function catchUp(watch: Watch, sinceMs: number): Promise<void> {
  watch.isGap = watch.watermark - sinceMs > LONGEST_ABSENCE_MS;
  if (watch.isGap) return;
  const { found, isCut } = await changedSince(watch.listener, sinceMs - LOOK_BACK_MS);
  watch.isGap = isCut;
  if (!isCut) keep(watch, found);
}

/** `changed`: the latest first. */
function keep(watch: Watch, changed: readonly Changed[]): void {
  const { pending } = watch;
  for (const { id } of [...changed].reverse()) {
    const key = id.toString('hex');
    pending.delete(key);
    pending.set(key, id);
  }
  for (const key of pending.keys()) {
    if (pending.size <= MAX_PENDING) return;
    pending.delete(key);
    watch.left += 1;
  }
}

function takeChanges(watch: Watch): Changes {
  const { pending, left, watermark, isGap } = watch;
  const traces = [...pending.values()];
  pending.clear();
  watch.left = 0;
  watch.isGap = false;
  return { traces, left, watermark, isGap };
}

function nextWake(watch: Watch, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(resolve, 2 * POLL_MS);
    watch.wake = () => {
      clearTimeout(limit);
      resolve();
    };
    if (signal.aborted) watch.wake();
  });
}
