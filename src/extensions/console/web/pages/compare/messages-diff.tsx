/** The messages of two spans as lines, with what only one of them has. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { SpanDetail } from '../../../api/shapes/spans.ts';
import { readRecord } from '../../../../../messages/read-record.ts';
import { type Pair, align } from '../../data/align.ts';
import { Button } from '../../parts/basics.tsx';
import { exactly } from '../../text/figures.ts';
import { rowOf } from '../trace/span-messages.tsx';

/** Further lines of a side are not compared. */
const MAX_LINES = 5_000;
const LONGEST_LINE = 2_000;
const SHOWN = 400;
/** Equal lines around a difference. */
const AROUND = 2;

type Row = Pair<string> | number;

export function MessagesDiff({ a, b }: { a: SpanDetail | null; b: SpanDetail | null }): JSX.Element {
  const left = useMemo(() => linesOf(a), [a]);
  const right = useMemo(() => linesOf(b), [b]);
  const [all, setAll] = useState(false);
  const [most, setMost] = useState(SHOWN);
  const pairs = useMemo(
    () => align(left.slice(0, MAX_LINES), right.slice(0, MAX_LINES), (line) => line),
    [left, right],
  );
  const rows = useMemo(() => (all ? pairs : folded(pairs)), [pairs, all]);
  const isCut = [a, b].some((each) => Object.values(each?.content ?? {}).some(({ cut }) => cut));
  const hasContent = [a, b].some((each) => each?.content !== undefined);
  if (!hasContent) return <p class="muted">Messages are not shown to you.</p>;
  if (pairs.length === 0) return <p class="muted">Neither span has content.</p>;
  return (
    <>
      <p class="actions">
        <span class="muted">
          {pairs.every((pair) => pair.a !== null && pair.b !== null) ? 'The messages are equal.' : null}{' '}
          {isCut || left.length > MAX_LINES || right.length > MAX_LINES ? 'Only the beginning is compared.' : null}
        </span>
        <Button kind="quiet" pressed={all} onClick={() => setAll(!all)}>
          equal lines
        </Button>
      </p>
      <div class="diff" role="table" aria-label="Lines of the messages">
        {rows.slice(0, most).map((row, at) => (
          <Line key={at} row={row} />
        ))}
      </div>
      {rows.length > most ? (
        <Button kind="quiet" onClick={() => setMost(most + SHOWN)}>
          {exactly(rows.length - most)} more lines
        </Button>
      ) : null}
    </>
  );
}

function Line({ row }: { row: Row }): JSX.Element {
  if (typeof row === 'number') {
    return (
      <div role="row" class="skipped">
        <span role="cell" />
        <span role="cell">{exactly(row)} equal lines</span>
      </div>
    );
  }
  const mark = row.b === null ? '−' : row.a === null ? '+' : '';
  return (
    <div role="row" class={mark === '−' ? 'only-a' : mark === '+' ? 'only-b' : ''}>
      <span role="cell" aria-label={mark === '−' ? 'only in A' : mark === '+' ? 'only in B' : 'in both'}>
        {mark}
      </span>
      <span role="cell" class="plain-text">
        {row.a ?? row.b}
      </span>
    </div>
  );
}

/** Longer runs of equal lines become their number. */
function folded(pairs: readonly Pair<string>[]): readonly Row[] {
  const differs = pairs.map(({ a, b }) => a === null || b === null);
  const near = new Uint8Array(pairs.length);
  for (const [at, differ] of differs.entries()) if (differ) near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  const rows: Row[] = [];
  for (const [at, pair] of pairs.entries()) {
    const last = rows.at(-1);
    if (near[at] === 1) rows.push(pair);
    else if (typeof last === 'number') rows[rows.length - 1] = last + 1;
    else rows.push(1);
  }
  return rows;
}

function linesOf(detail: SpanDetail | null): readonly string[] {
  if (detail?.content === undefined) return [];
  return readRecord(rowOf(detail.content, detail)).flatMap(({ messages }) =>
    messages.flatMap(({ role, parts }) => [
      `${role ?? 'retrieval'}:`,
      ...parts.flatMap(({ type, name, text }) =>
        `${type === 'text' ? '' : `${type}${name === null ? '' : ` ${name}`}: `}${text}`
          .split('\n')
          .map((line) => `  ${line.slice(0, LONGEST_LINE)}`),
      ),
    ]),
  );
}
