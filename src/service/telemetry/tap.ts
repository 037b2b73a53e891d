/**
 * `sluice tap`: shows what this process stores and refuses, while a client asks for it. Stored records are the lines
 * that the `file` exporter would write, after all processors, and only acknowledged requests are shown.
 */
import type { RefusedRequest } from '../../component/capabilities/refused-requests.ts';
import type { Batch } from '../../pdata/batch.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';
import type { Signal } from '../../pdata/context.ts';
import { encodeInSteps } from '../../pdata/encode-rows.ts';
import type { Steps } from '../../pdata/steps.ts';
import { SECOND_MS } from '../../pdata/time-units.ts';

/** The size of the lines of one request. */
const MAX_BYTES = 1024 * 1024;
const LINE_END = 10;

export interface TapQuestion {
  /** Null: every signal. */
  readonly signal: Signal | null;
  /** Null: every project. */
  readonly project: string | null;
  /** Only refused requests. */
  readonly refusedOnly: boolean;
  /** Records a second. Further ones are counted. */
  readonly limit: number;
}

export type TapEvent =
  /** `lines`: JSON texts. */
  | { readonly kind: 'records'; readonly signal: Signal; readonly lines: readonly string[] }
  | { readonly kind: 'refused'; readonly request: RefusedRequest }
  | { readonly kind: 'skipped'; readonly records: number };

export type TapListener = (event: TapEvent) => void;

/** What the pass of a request has kept for the taps, until the request is acknowledged. */
export interface TappedRecords {
  readonly signal: Signal;
  readonly project: string;
  readonly count: number;
  readonly lines: readonly string[];
}

class Listening {
  readonly question: TapQuestion;
  readonly send: TapListener;
  readonly #now: () => number;
  #second = 0;
  #sent = 0;

  constructor(question: TapQuestion, send: TapListener, now: () => number) {
    this.question = question;
    this.send = send;
    this.#now = now;
  }

  wants(signal: Signal | null, project: string | null): boolean {
    const { question } = this;
    return (
      (question.signal === null || question.signal === signal) &&
      (question.project === null || question.project === project)
    );
  }

  /** Records that may still be sent in this second. */
  left(): number {
    const second = Math.floor(this.#now() / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#sent = 0;
    }
    return Math.max(0, this.question.limit - this.#sent);
  }

  take({ signal, count, lines }: TappedRecords): void {
    const shown = lines.slice(0, this.left());
    this.#sent += shown.length;
    if (shown.length > 0) this.send({ kind: 'records', signal, lines: shown });
    if (count > shown.length) this.send({ kind: 'skipped', records: count - shown.length });
  }
}

/** The open taps. The pipelines look at `current` once for each request. */
export class OpenTaps {
  readonly #now: () => number;
  readonly #pool = new ChunkPool();
  readonly #listening = new Set<Listening>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Null while nothing is tapped. */
  current: OpenTaps | null = null;

  /** Returns the function that closes the tap. */
  open(question: TapQuestion, send: TapListener): () => void {
    const listening = new Listening(question, send, this.#now);
    this.#listening.add(listening);
    this.current = this;
    return () => {
      this.#listening.delete(listening);
      if (this.#listening.size === 0) this.current = null;
    };
  }

  refused(request: RefusedRequest): void {
    for (const each of this.#listening)
      if (each.wants(request.signal, request.project)) each.send({ kind: 'refused', request });
  }

  /** The records of a batch that a tap wants; null: none. Never fails the request. */
  *keep(batch: Batch): Steps<TappedRecords | null> {
    const { signal, recordCount: count } = batch;
    const project = batch.context.project.name;
    const wanting = [...this.#listening].filter((each) => !each.question.refusedOnly && each.wants(signal, project));
    if (wanting.length === 0 || count === 0) return null;
    const most = Math.min(count, Math.max(...wanting.map((each) => each.left())));
    return { signal, project, count, lines: most === 0 ? [] : yield* this.#encode(batch, most) };
  }

  /** Shows the records of an acknowledged request. */
  stored(records: TappedRecords): void {
    for (const each of this.#listening)
      if (!each.question.refusedOnly && each.wants(records.signal, records.project)) each.take(records);
  }

  *#encode(batch: Batch, most: number): Steps<readonly string[]> {
    let room = MAX_BYTES;
    const rowRoom = {
      get left() {
        return room;
      },
      reserve: (bytes: number): void => void (room -= bytes),
    };
    const part = Object.create(batch, { recordCount: { value: most }, rowRoom: { value: rowRoom } }) as Batch;
    try {
      const rows = yield* encodeInSteps(part, 'ndjson', this.#pool);
      const lines = linesOf(rows.chunks, most);
      rows.release();
      return lines;
    } catch {
      // The rows are larger than what is shown.
      return [];
    }
  }
}

function linesOf(chunks: readonly Buffer[], most: number): readonly string[] {
  const bytes = Buffer.concat(chunks);
  const lines: string[] = [];
  for (let at = 0, end = 0; lines.length < most && at < bytes.length; at = end + 1) {
    end = bytes.indexOf(LINE_END, at);
    if (end < 0) end = bytes.length;
    lines.push(bytes.toString('utf8', at, end));
  }
  return lines;
}
