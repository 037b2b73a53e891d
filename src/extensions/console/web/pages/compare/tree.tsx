/** The spans of two traces as one tree, and the messages of the selected pair. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { SpanDetail } from '../../../api/shapes/spans.ts';
import { type ComparedPair, alignTrees } from '../../data/align.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import type { Span } from '../../data/spans.ts';
import { Button, Name } from '../../parts/basics.tsx';
import { Category } from '../../parts/category.tsx';
import { Cell, CloseButton, Grid } from '../../parts/grid.tsx';
import { Loaded } from '../../parts/states.tsx';
import { cost, exactly, tookMs } from '../../text/figures.ts';
import { startOf } from '../trace/panel.tsx';
import { MessagesDiff } from './messages-diff.tsx';
import { type Side, difference } from './side.ts';

const ROW_PX = 28;
const STEP_PX = 14;
const DEEPEST = 24;

type Row = ComparedPair<Span>;

interface TreeProps {
  readonly project: string;
  readonly a: Side;
  readonly b: Side;
}

const rootsOf = ({ spans }: Side): readonly Span[] =>
  [...spans.roots, ...[...spans.withoutParent.values()].flat()].sort((x, y) => x.index - y.index);

const differs = ({ a, b }: Row): boolean =>
  a === null || b === null || a.name !== b.name || a.model !== b.model || a.isError !== b.isError;

export function ComparedTree({ project, a, b }: TreeProps): JSX.Element {
  const [active, setActive] = useState(-1);
  const rows = useMemo(() => alignTrees(rootsOf(a), rootsOf(b)), [a, b]);
  const selected = rows[active];
  const found = useMemo(() => rows.filter(differs).length, [rows]);
  const step = (by: 1 | -1): void => {
    let at = active + by;
    while (rows[at] !== undefined && !differs(rows[at] as Row)) at += by;
    if (rows[at] !== undefined) setActive(at);
  };
  return (
    <div class="compare-body">
      <div class="list">
        <p class="view-bar">
          <span class="muted">
            {found === 0
              ? 'Both have the same spans.'
              : `${exactly(found)} of ${exactly(rows.length)} spans differ in name, model or error, or are in one trace only.`}
          </span>
          {found === 0 ? null : (
            <Button kind="quiet" title="Next difference (n)" onClick={() => step(1)}>
              next difference
            </Button>
          )}
        </p>
        <Grid
          label="Spans of both traces"
          role="treegrid"
          class="compare-grid"
          columns={[
            { name: '', class: 'd-mark', title: 'Only in A (−), only in B (+), changed (≠)' },
            { name: 'Span', class: 'd-name' },
            { name: 'Took A', class: 'd-number' },
            { name: 'Took B', class: 'd-number' },
            { name: 'B against A', class: 'd-number d-wide' },
            { name: 'Cost A', class: 'd-number d-cost' },
            { name: 'Cost B', class: 'd-number d-cost' },
          ]}
          rows={rows}
          height={ROW_PX}
          active={active}
          onActive={setActive}
          keys={{ n: () => step(1), N: () => step(-1), Escape: () => setActive(-1) }}
          rowOf={({ a: left, b: right, depth }, index) => {
            const side = right === null ? 'only-a' : left === null ? 'only-b' : '';
            return { key: String(index), class: side, level: depth + 1 };
          }}
          cells={(row) => <Cells row={row} />}
        />
      </div>
      {selected === undefined ? null : (
        <PairPanel key={active} project={project} row={selected} a={a} b={b} onClose={() => setActive(-1)} />
      )}
    </div>
  );
}

function Cells({ row }: { row: Row }): JSX.Element {
  const { a, b, depth } = row;
  const span = b ?? a;
  const mark = b === null ? '−' : a === null ? '+' : differs(row) ? '≠' : '';
  const changed = a !== null && b !== null && a.name !== b.name ? a.name : null;
  return (
    <>
      <Cell class="d-mark" title={MARKS[mark]}>
        {mark}
      </Cell>
      <Cell class="d-name">
        <span class="indent" style={{ width: `${Math.min(depth, DEEPEST) * STEP_PX}px` }} />
        <Category category={span?.category ?? null} />
        {changed === null ? null : (
          <>
            <Name text={changed} class="muted" /> →{' '}
          </>
        )}
        <Name text={span?.name ?? ''} />
      </Cell>
      <Cell class={`d-number ${a?.isError === true ? 'bad-text' : ''}`}>{a === null ? '' : tookMs(a.duration)}</Cell>
      <Cell class={`d-number ${b?.isError === true ? 'bad-text' : ''}`}>{b === null ? '' : tookMs(b.duration)}</Cell>
      <Cell class="d-number d-wide">{difference(a?.duration ?? null, b?.duration ?? null, tookMs)}</Cell>
      <Cell class="d-number d-cost">{a?.cost == null ? '' : cost(a.cost)}</Cell>
      <Cell class="d-number d-cost">{b?.cost == null ? '' : cost(b.cost)}</Cell>
    </>
  );
}

const MARKS: Readonly<Record<string, string>> = {
  '−': 'only in A',
  '+': 'only in B',
  '≠': 'another name, model or outcome',
};

interface PairProps extends TreeProps {
  readonly row: Row;
  readonly onClose: () => void;
}

function PairPanel({ project, row, a, b, onClose }: PairProps): JSX.Element {
  const left = useDetail(project, a, row.a);
  const right = useDetail(project, b, row.b);
  return (
    <aside class="panel" aria-label="Messages of the pair">
      <header class="panel-head">
        <div class="panel-title">
          <h2>
            <Name text={(row.b ?? row.a)?.name ?? ''} />
          </h2>
          <CloseButton onClose={onClose} />
        </div>
        <p class="panel-facts">
          <span>{[row.a?.model, row.b?.model].some((model) => model != null) ? <Models row={row} /> : null}</span>
        </p>
      </header>
      <div class="panel-body" role="region" aria-label="Messages" tabIndex={0}>
        {[row.a === null ? null : left, row.b === null ? null : right].map((detail, at) =>
          detail === null || detail.data !== null ? null : (
            <Loaded key={at} of={detail}>
              {() => null}
            </Loaded>
          ),
        )}
        {(row.a === null || left.data !== null) && (row.b === null || right.data !== null) ? (
          <MessagesDiff a={left.data} b={right.data} />
        ) : null}
      </div>
    </aside>
  );
}

function Models({ row: { a, b } }: { row: Row }): JSX.Element {
  const models = [...new Set([a?.model, b?.model].map((model) => model ?? 'no model'))];
  return <Name text={(a === null || b === null ? models.slice(-1) : models).join(' → ')} />;
}

function useDetail(project: string, side: Side, span: Span | null) {
  const path = span === null ? null : projectPath(project, 'traces', side.header.trace_id, 'spans', span.id);
  return useAnswer<SpanDetail>(path, span === null ? {} : { start: startOf(side.header, span) });
}
