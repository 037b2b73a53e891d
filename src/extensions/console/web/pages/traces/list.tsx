/** The rows of the list. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TraceRow } from '../../../api/shapes/traces.ts';
import type { Search } from '../../data/pages.ts';
import { useNow } from '../../data/resource.ts';
import { Button } from '../../parts/basics.tsx';
import { Cell, Grid } from '../../parts/grid.tsx';
import { SearchFoot } from '../../parts/search.tsx';
import { dropped, pending } from '../../state/live.ts';
import { cameFrom, neighbours, open, parameter } from '../../state/location.ts';
import { isNarrow } from '../../state/width.ts';
import { exactly } from '../../text/figures.ts';
import { chosenColumns, hrefOf, shownColumns } from './columns.tsx';
import { MOST_PICKED, Selection } from './selection.tsx';

const ROW_PX = 32;
const NARROW_ROW_PX = 58;
const AGE_MS = 5_000;

const PICK = { name: '', class: 'c-pick', title: 'Pick (x)' };

interface TraceListProps {
  readonly rows: readonly TraceRow[];
  readonly search: Search<TraceRow> | null;
  /** What is shown of archived days, below the rows. */
  readonly archived: JSX.Element | null;
  /** Below the rows, where there is no search. */
  readonly foot: JSX.Element | null;
  /** New traces that are known by their ids only. */
  readonly missing: number;
  readonly showPending: (() => void) | null;
}

const NONE: ReadonlySet<string> = new Set();

export function TraceList({ rows: found, search, archived, foot, missing, showPending }: TraceListProps): JSX.Element {
  const [active, setActive] = useState(cameFrom.peek());
  const [picks, setPicks] = useState(NONE);
  const [gone, setGone] = useState(NONE);
  const rows = gone.size === 0 ? found : found.filter(({ trace_id }) => !gone.has(trace_id));
  const picked = picks.size === 0 ? [] : rows.filter(({ trace_id }) => picks.has(trace_id));
  const pick = ({ trace_id }: TraceRow): void => {
    const next = new Set(picks);
    if (!next.delete(trace_id) && picked.length < MOST_PICKED) next.add(trace_id);
    setPicks(next);
  };
  const pointer = useRef(false);
  const nowMs = useNow(AGE_MS);
  const at = rows.findIndex(({ trace_id }) => trace_id === active);
  const longest = rows.reduce((most, { duration_ns }) => Math.max(most, Number(duration_ns)), 1);
  const manyEnvironments = parameter('env') === null && new Set(rows.map(({ environment }) => environment)).size > 1;
  const shown = chosenColumns();
  const columns = shownColumns(shown);
  const facts = { nowMs, longest, manyEnvironments, shown };
  useEffect(() => {
    neighbours.value = rows.map(({ trace_id }) => trace_id);
  }, [rows]);
  const arrived = pending.value.length;
  const offered = arrived + dropped.value + missing;
  // Rows never move under the pointer or below the reader's row.
  useEffect(() => {
    if (arrived > 0 && showPending !== null && !pointer.current && at <= 0) showPending();
  }, [arrived]);
  const openRow = (row: TraceRow, event: Event): void => {
    const href = hrefOf(row);
    if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey)) window.open(href, '_blank', 'noopener');
    else open(href);
  };
  const row = rows[at];
  return (
    <div class="list" onPointerEnter={() => (pointer.current = true)} onPointerLeave={() => (pointer.current = false)}>
      {offered === 0 || showPending === null ? null : (
        <div class="arrived" role="status">
          <Button kind="main" onClick={showPending}>
            {exactly(offered)} new ↑
          </Button>
        </div>
      )}
      {picked.length === 0 ? null : (
        <Selection picked={picked} clear={() => setPicks(NONE)} onGone={(ids) => setGone(new Set([...gone, ...ids]))} />
      )}
      <Grid
        label="Traces"
        class="trace-grid"
        columns={[PICK, ...columns]}
        rows={rows}
        height={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
        active={at}
        onActive={(index) => setActive(rows[index]?.trace_id ?? null)}
        onOpen={openRow}
        onEnd={() => search?.more === true && search.items.length < AUTOMATIC && search.next()}
        keys={{
          o: () => row !== undefined && window.open(hrefOf(row), '_blank', 'noopener'),
          x: () => row !== undefined && pick(row),
          ...(picked.length === 0 ? {} : { Escape: () => setPicks(NONE) }),
        }}
        rowOf={({ trace_id: key }) => (picked.length === 0 ? { key } : { key, selected: picks.has(key) })}
        cells={(each) => (
          <>
            <Cell class="c-pick">
              <input
                type="checkbox"
                tabIndex={-1}
                aria-label="Pick (x)"
                checked={picks.has(each.trace_id)}
                onChange={() => pick(each)}
              />
            </Cell>
            {columns.map((column) => column.cell(each, facts))}
          </>
        )}
        footer={
          search === null ? foot : <SearchFoot search={search} count={rows.length} what="trace" archived={archived} />
        }
      />
    </div>
  );
}

/** Beyond this, more rows come only on demand. */
const AUTOMATIC = 2_000;
