/** The spans of a trace as the page keeps them: read from the stream of slim rows, and put into a tree. */
import {
  SPAN_COLUMNS,
  type SpanNote,
  type SpansEnd,
  type SpansHead,
  type SpanTuple,
  type SpanWords,
} from '../../api/shapes/spans.ts';
import { sumCosts } from '../../../../pdata/cost-sum.ts';
import { type Count, parseExact } from '../../../../pdata/exact-json.ts';
import { NS_PER_MS } from '../../../../pdata/time-units.ts';
import { projectPath, readLines } from './api.ts';

export interface Span {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly service: string | null;
  readonly category: string | null;
  /** Milliseconds since the start of the trace. */
  readonly start: number;
  /** As received, in nanoseconds. */
  readonly startNs: string;
  /** Milliseconds; null when the end is unknown. */
  readonly duration: number | null;
  readonly isError: boolean;
  readonly model: string | null;
  readonly tool: string | null;
  readonly input: Count | null;
  readonly output: Count | null;
  readonly cached: Count | null;
  readonly ttft: number | null;
  readonly cost: string | null;
  readonly counts: boolean;
  readonly events: number;
  readonly note: SpanNote | null;
  parent: Span | null;
  /** The id of a parent that is not here. */
  missing: string | null;
  readonly children: Span[];
}

export interface Spans {
  readonly all: readonly Span[];
  readonly roots: readonly Span[];
  /** Spans below parents that are not here, by the id of the parent. */
  readonly withoutParent: ReadonlyMap<string, readonly Span[]>;
  /** Milliseconds from the first start to the last end. */
  readonly length: number;
  /** Spans of the whole trace; null while the stream runs. */
  readonly total: number | null;
  readonly next: string | null;
  /** The stream ended without its last line. */
  readonly isCut: boolean;
}

/** The cost of the spans whose usage counts; null: none has a cost. */
export const countedCost = (spans: readonly Span[]): string | null =>
  sumCosts(spans.map(({ counts, cost }) => (counts ? cost : null)));

export const endOf = (span: Span): number => span.start + (span.duration ?? 0);

type Line = SpansHead | SpanWords | SpanTuple | SpansEnd;

/** Reads the lines of one answer. Rows of an earlier part of the same trace come first. */
class SpanReader {
  readonly #rows: Span[];
  readonly #first: number;
  readonly #parents: (number | string | null)[] = [];
  readonly #words = { names: [] as string[], services: [] as string[], models: [] as string[], tools: [] as string[] };
  #end: SpansEnd | null = null;

  constructor(before: readonly Span[] = []) {
    this.#rows = before.map((span) => ({ ...span, children: [], parent: null }));
    this.#first = before.length;
    for (const span of before) this.#parents.push(span.parent?.id ?? span.missing);
  }

  read(line: string): void {
    const value = parseExact(line) as Line;
    if (isTuple(value)) this.#add(value);
    else if ('columns' in value) checkColumns(value.columns);
    else if ('end' in value) this.#end = value;
    else this.#learn(value);
  }

  get count(): number {
    return this.#rows.length;
  }

  /** The tree of what was read so far. */
  finish(): Spans {
    const byId = new Map<string, Span>();
    for (const span of this.#rows) if (!byId.has(span.id)) byId.set(span.id, span);
    for (const span of this.#rows) span.children.length = 0;
    for (const [index, span] of this.#rows.entries()) this.#join(span, this.#parents[index] ?? null, byId);
    breakCircles(this.#rows);
    return treeOf(this.#rows, this.#end);
  }

  #join(span: Span, parent: number | string | null, byId: ReadonlyMap<string, Span>): void {
    const found = typeof parent === 'number' ? this.#rows[this.#first + parent] : byId.get(parent ?? '');
    span.parent = found === undefined || found === span ? null : found;
    span.missing = span.parent === null && typeof parent === 'string' && found !== span ? parent : null;
  }

  #learn(words: SpanWords): void {
    this.#words.names.push(...(words['names+'] ?? []));
    this.#words.services.push(...(words['services+'] ?? []));
    this.#words.models.push(...(words['models+'] ?? []));
    this.#words.tools.push(...(words['tools+'] ?? []));
  }

  #add(row: SpanTuple): void {
    const { names, services, models, tools } = this.#words;
    this.#parents.push(row[1]);
    this.#rows.push({
      index: this.#rows.length,
      id: row[0],
      name: names[row[2]] ?? '',
      service: wordOf(services, row[3]),
      category: row[4],
      start: Number(row[5]) / NS_PER_MS,
      startNs: row[5],
      duration: row[6] === null ? null : Number(row[6]) / NS_PER_MS,
      isError: row[7] === 1,
      model: wordOf(models, row[8]),
      tool: wordOf(tools, row[9]),
      input: row[10],
      output: row[11],
      cached: row[12],
      ttft: row[13],
      cost: row[14],
      counts: row[15] === 1,
      events: row[16],
      note: row[17],
      parent: null,
      missing: null,
      children: [],
    });
  }
}

const isTuple = (value: Line): value is SpanTuple => Array.isArray(value);
const wordOf = (words: readonly string[], at: number | null): string | null => (at === null ? null : (words[at] ?? ''));

function checkColumns(columns: readonly string[]): void {
  if (SPAN_COLUMNS.some((name, at) => columns[at] !== name)) {
    throw new Error('The page is older than the daemon. Load it again.');
  }
}

/** Spans that no root leads to form a circle; the earliest of each becomes a root. */
function breakCircles(rows: readonly Span[]): void {
  const state = new Map<Span, 'open' | 'done'>();
  for (const row of rows) {
    const way: Span[] = [];
    let span: Span | null = row;
    while (span !== null && !state.has(span)) {
      state.set(span, 'open');
      way.push(span);
      span = span.parent;
    }
    if (span !== null && state.get(span) === 'open') span.parent = null;
    for (const each of way) state.set(each, 'done');
  }
}

function treeOf(rows: readonly Span[], end: SpansEnd | null): Spans {
  const roots: Span[] = [];
  const withoutParent = new Map<string, Span[]>();
  let length = 0;
  for (const span of rows) {
    length = Math.max(length, endOf(span));
    if (span.parent !== null) span.parent.children.push(span);
    else if (span.missing === null) roots.push(span);
    else withoutParent.set(span.missing, [...(withoutParent.get(span.missing) ?? []), span]);
  }
  return {
    all: rows,
    roots,
    withoutParent,
    length: Math.max(length, 1e-6),
    total: end?.of ?? null,
    next: end?.next ?? null,
    isCut: end === null,
  };
}

const FIRST_PARTS = 200;

/** Loads a part of a trace. `onPart` is called early with the first rows, and again with all. */
export async function loadSpans(
  project: string,
  trace: string,
  before: Spans | null,
  onPart: (spans: Spans) => void,
  signal: AbortSignal,
): Promise<Spans> {
  const reader = new SpanReader(before?.all);
  let shown = before !== null;
  await readLines(
    projectPath(project, 'traces', trace, 'spans'),
    { after: before?.next ?? null },
    (lines) => {
      for (const line of lines) reader.read(line);
      if (shown || reader.count < FIRST_PARTS) return;
      shown = true;
      onPart(reader.finish());
    },
    signal,
  );
  const spans = reader.finish();
  onPart(spans);
  return spans;
}
