/** The rows of the list. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TraceRow } from '../../../api/shapes.ts';
import type { Search } from '../../data/pages.ts';
import { useNow } from '../../data/resource.ts';
import { Button, Link, Name } from '../../parts/basics.tsx';
import { Cell, Grid } from '../../parts/grid.tsx';
import { SearchFoot } from '../../parts/search.tsx';
import { Icon } from '../../parts/icon.tsx';
import { dropped, pending } from '../../state/live.ts';
import { open, pageHref, parameter } from '../../state/location.ts';
import { neighbours } from '../../state/neighbours.ts';
import { isNarrow } from '../../state/width.ts';
import { age, cost, exactly, exactTokens, plural, tokensOf, took } from '../../text/figures.ts';
import { dateTime, msOf } from '../../text/time.ts';
import { MOST_PICKED, Selection } from './selection.tsx';

const ROW_PX = 32;
const NARROW_ROW_PX = 58;
const AGE_MS = 5_000;

const COLUMNS = [
  { name: '', class: 'c-pick', title: 'Pick (x)' },
  { name: 'Age', class: 'c-age' },
  { name: 'Name', class: 'c-name' },
  { name: 'Service', class: 'c-service' },
  { name: 'Calls', class: 'c-calls', title: 'Model calls' },
  { name: 'Tokens', class: 'c-tokens', title: 'Input (of it from a cache) → output' },
  { name: 'Cost', class: 'c-cost' },
  { name: 'Took', class: 'c-took' },
  { name: 'Spans', class: 'c-spans' },
  { name: 'Errors', class: 'c-errors' },
];

interface TraceListProps {
  readonly rows: readonly TraceRow[];
  readonly search: Search<TraceRow> | null;
  /** Of archived days, below the rows. */
  readonly archived: JSX.Element | null;
  /** Below the rows, where there is no search. */
  readonly foot: JSX.Element | null;
  readonly showPending: (() => void) | null;
}

const NONE: ReadonlySet<string> = new Set();

export function TraceList({ rows: found, search, archived, foot, showPending }: TraceListProps): JSX.Element {
  const [active, setActive] = useState<string | null>(null);
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
  const now = useNow(AGE_MS);
  const at = rows.findIndex(({ trace_id }) => trace_id === active);
  const longest = rows.reduce((most, { duration_ns }) => Math.max(most, Number(duration_ns)), 1);
  const manyEnvironments = parameter('env') === null && new Set(rows.map(({ environment }) => environment)).size > 1;
  useEffect(() => {
    neighbours.value = rows.map(({ trace_id }) => trace_id);
  }, [rows]);
  const arrived = pending.value.length;
  // Rows never move under the pointer or below the reader's row.
  useEffect(() => {
    if (arrived > 0 && showPending !== null && !pointer.current && at <= 0) showPending();
  }, [arrived]);
  const openAt = (index: number, event: Event): void => {
    const row = rows[index];
    if (row === undefined) return;
    const href = hrefOf(row);
    if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey)) window.open(href, '_blank', 'noopener');
    else open(href);
  };
  const row = rows[at];
  return (
    <div class="list" onPointerEnter={() => (pointer.current = true)} onPointerLeave={() => (pointer.current = false)}>
      {arrived === 0 || showPending === null ? null : (
        <div class="arrived" role="status">
          <Button kind="main" onClick={showPending}>
            {exactly(arrived + dropped.value)} new ↑
          </Button>
        </div>
      )}
      {picked.length === 0 ? null : (
        <Selection picked={picked} clear={() => setPicks(NONE)} onGone={(ids) => setGone(new Set([...gone, ...ids]))} />
      )}
      <Grid
        label="Traces"
        class="trace-grid"
        columns={COLUMNS}
        count={rows.length}
        height={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
        active={at}
        onActive={(index) => setActive(rows[index]?.trace_id ?? null)}
        onOpen={openAt}
        onEnd={() => search?.more === true && search.items.length < AUTOMATIC && search.next()}
        keys={{
          o: () => row !== undefined && window.open(hrefOf(row), '_blank', 'noopener'),
          x: () => row !== undefined && pick(row),
          ...(picked.length === 0 ? {} : { Escape: () => setPicks(NONE) }),
        }}
        rowOf={(index) => {
          const key = rows[index]?.trace_id ?? String(index);
          return picked.length === 0 ? { key } : { key, selected: picks.has(key) };
        }}
        cells={(index) => {
          const each = rows[index];
          if (each === undefined) return null;
          const isPicked = picks.has(each.trace_id);
          return (
            <>
              <Cell class="c-pick">
                <input
                  type="checkbox"
                  tabIndex={-1}
                  aria-label="Pick (x)"
                  checked={isPicked}
                  onChange={() => pick(each)}
                />
              </Cell>
              <Cells row={each} now={now} longest={longest} env={manyEnvironments} />
            </>
          );
        }}
        footer={
          search === null ? foot : <SearchFoot search={search} count={rows.length} what="trace" archived={archived} />
        }
      />
    </div>
  );
}

/** Beyond this, more rows come only on demand. */
const AUTOMATIC = 2_000;

const hrefOf = ({ trace_id }: TraceRow): string => pageHref('traces', trace_id);

interface CellsProps {
  readonly row: TraceRow;
  readonly now: number;
  readonly longest: number;
  readonly env: boolean;
}

function Cells({ row, now, longest, env }: CellsProps): JSX.Element {
  const startMs = msOf(row.start_time_unix_nano);
  const isError = row.error_count > 0;
  return (
    <>
      <Cell class="c-age" title={dateTime(startMs)}>
        {age(now - startMs)}
      </Cell>
      <Cell class="c-name">
        <span class={`dot ${isError ? 'bad' : 'good'}`} title={isError ? 'has errors' : 'no errors'} />
        {row.complete ? null : <span title="The root span is not here yet">… </span>}
        <Link href={hrefOf(row)} tabStop={false}>
          <Name text={row.name} />
        </Link>
        <Chips row={row} env={env} />
      </Cell>
      <Cell class="c-service">{row.service === null ? '–' : <Name text={row.service} />}</Cell>
      <Cell class="c-calls">{exactly(row.model_call_count)}</Cell>
      <Cell class="c-tokens" title={exactTokens(row)}>
        {tokensOf(row)}
      </Cell>
      <Cell
        class="c-cost"
        title={row.unpriced_count > 0 ? `${plural(row.unpriced_count, 'call')} without a price` : undefined}
      >
        {cost(row.total_cost)}
        {row.unpriced_count > 0 ? <span class="warn">*</span> : null}
      </Cell>
      <Cell class="c-took">
        <span>{took(row.duration_ns)}</span>
        <span class="bar" aria-hidden="true">
          <span style={{ width: `${(100 * Number(row.duration_ns)) / longest}%` }} />
        </span>
      </Cell>
      <Cell class="c-spans">{exactly(row.span_count)}</Cell>
      <Cell class="c-errors">
        {isError ? (
          <span class="bad-text">
            <Icon name="error" size={12} /> {exactly(row.error_count)}
          </span>
        ) : (
          '0'
        )}
      </Cell>
    </>
  );
}

function Chips({ row, env }: { row: TraceRow; env: boolean }): JSX.Element {
  const more = row.model_count - 1;
  return (
    <span class="chips">
      {env ? <Chip name="environment" text={row.environment} /> : null}
      {row.models[0] === undefined ? null : (
        <span class="chip" title={row.models.join(', ')}>
          <Name text={row.models[0]} />
          {more > 0 ? ` +${more}` : ''}
        </span>
      )}
      {row.agent === null ? null : <Chip name="agent" text={row.agent} />}
      {row.user_id === null ? null : <Chip name="user" text={row.user_id} />}
      {row.conversation_id === null ? null : <Chip name="conversation" text={row.conversation_id} />}
    </span>
  );
}

const Chip = ({ name, text }: { name: string; text: string }): JSX.Element => (
  <span class="chip" title={name}>
    <Name text={text} />
  </span>
);
