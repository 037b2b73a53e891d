/** Log records. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LogRow } from '../../api/shapes/logs.ts';
import { projectPath } from '../data/api.ts';
import { joined, useFollow } from '../data/follow.ts';
import { type Search, useSearch } from '../data/pages.ts';
import { Button, Link, Name } from '../parts/basics.tsx';
import { Cell, CloseButton, Grid } from '../parts/grid.tsx';
import { Nothing } from '../parts/nothing.tsx';
import { bodyOf, Logged } from '../parts/messages.tsx';
import { Found, SearchFoot } from '../parts/search.tsx';
import { liveOn } from '../state/live.ts';
import { hrefWith, open, pageHref, place } from '../state/location.ts';
import { isTabShown } from '../state/tab.ts';
import { isNarrow } from '../state/width.ts';
import { exactly } from '../text/figures.ts';
import { dateTime, msOf, shortTime } from '../text/time.ts';
import { visible } from '../text/visible.ts';
import { type Asked, useAsked } from '../state/asked.ts';

const ROW_PX = 28;
const NARROW_ROW_PX = 50;
const PREVIEW = 400;
/** Newer rows that are held while the page is live. */
const MOST_LIVE = 1_000;
/** Characters of a body in the key of a row. */
const KEY_CHARACTERS = 100;
/** From this severity number on, OpenTelemetry calls a record a warning, an error. */
const WARN = 13;
const ERROR = 17;

export function LogsPage({ project }: { project: string }): JSX.Element {
  const asked = useAsked(project);
  const { q, query } = asked;
  const [chosen, setChosen] = useState<LogRow | null>(null);
  const pointer = useRef(false);
  const search = useSearch<LogRow>(projectPath(project, 'logs'), query);
  const { rows, arrived, show, restart } = useFollowed(asked, search);
  // Of several records of one time, a link names the first.
  const time = /^r=(\d+)$/u.exec(place.value.hash)?.[1];
  const isAt = (row: LogRow | null): boolean => row?.time_unix_nano === time;
  const selected = time === undefined ? null : isAt(chosen) ? chosen : (rows.find(isAt) ?? null);
  const select = (row: LogRow | null): void => {
    setChosen(row);
    open(hrefWith({}) + (row === null ? '' : `#r=${row.time_unix_nano}`), true);
  };
  const active = selected === null ? -1 : rows.findIndex((row) => keyOf(row) === keyOf(selected));
  // Rows never move under the pointer or below the reader's row.
  useEffect(() => {
    if (arrived > 0 && active < 0 && !pointer.current) show();
  }, [arrived, active]);
  return (
    <div class="list-page">
      <h1 class="quiet">Logs</h1>
      <Found search={search} count={rows.length} empty={<Nothing title="No log record matches" q={q} />}>
        <div
          class="logs-body"
          onPointerEnter={() => (pointer.current = true)}
          onPointerLeave={() => (pointer.current = false)}
        >
          {arrived === 0 ? null : (
            <div class="arrived" role="status">
              <Button kind="main" onClick={show}>
                {exactly(arrived)} new ↑
              </Button>
            </div>
          )}
          <Grid
            label="Log records"
            class="log-grid"
            columns={[
              { name: 'Time', class: 'l-time' },
              { name: 'Severity', class: 'l-severity' },
              { name: 'Service', class: 'l-service' },
              { name: 'Record', class: 'l-body' },
            ]}
            rows={rows}
            height={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
            active={active}
            onActive={(index) => select(rows[index] ?? null)}
            rowOf={(row, index) => ({ key: String(index), class: severityOf(row) })}
            cells={(row) => <Cells row={row} />}
            footer={
              restart === null ? (
                <SearchFoot search={search} count={rows.length} what="record" />
              ) : (
                <>
                  <span>the newest {exactly(rows.length)} shown</span>
                  <Button kind="quiet" onClick={restart}>
                    show older ones
                  </Button>
                </>
              )
            }
          />
          {selected === null ? null : <LogDetail row={selected} onClose={() => select(null)} />}
        </div>
      </Found>
    </div>
  );
}

/** Records have no id. Two with all of this are alike for the reader. */
const keyOf = (row: LogRow): string =>
  JSON.stringify([
    ...[row.time_unix_nano, row.received_at, row.service, row.event_name, row.trace_id, row.span_id],
    row.body?.text.slice(0, KEY_CHARACTERS),
  ]);

interface Followed {
  readonly rows: readonly LogRow[];
  /** How many newer rows are not shown yet. */
  readonly arrived: number;
  show(): void;
  /** Between the rows and the loaded pages are others: loads them again. Null: there are none. */
  readonly restart: (() => void) | null;
}

/** The rows of the search below those that arrived while the page is live. */
function useFollowed({ project, query, isOpenEnd }: Asked, search: Search<LogRow>): Followed {
  const [added, setAdded] = useState<{ readonly of: unknown; readonly rows: readonly LogRow[] } | null>(null);
  const active = isOpenEnd && liveOn.value && isTabShown.value && search.first.data !== null;
  const latest = useFollow<LogRow>(projectPath(project, 'logs'), query, active)?.items ?? [];
  const own = added?.of === query ? added.rows : [];
  const all = joined(own, search.items, keyOf);
  const rows = all ?? own;
  const [first] = rows;
  const known = first === undefined ? -1 : latest.findIndex((row) => keyOf(row) === keyOf(first));
  return {
    rows,
    // Late records may be below the first row; they come with the next newer one.
    arrived: known < 0 ? latest.length : known,
    show: () => setAdded({ of: query, rows: (joined(latest, rows, keyOf) ?? latest).slice(0, MOST_LIVE) }),
    restart:
      all !== null
        ? null
        : () => {
            setAdded(null);
            search.first.reload();
          },
  };
}

function severityOf(row: LogRow): string {
  const severity = row.severity_number ?? 0;
  return severity >= ERROR ? 'bad-row' : severity >= WARN ? 'warn-row' : '';
}

function Cells({ row }: { row: LogRow }): JSX.Element {
  return (
    <>
      <Cell class="l-time" title={dateTime(msOf(row.time_unix_nano))}>
        {shortTime(msOf(row.time_unix_nano))}
      </Cell>
      <Cell class="l-severity">
        {visible(row.severity_text ?? (row.severity_number === null ? '–' : String(row.severity_number)))}
      </Cell>
      <Cell class="l-service">{row.service === null ? '–' : <Name text={row.service} />}</Cell>
      <Cell class="l-body">
        {row.event_name === null ? null : (
          <span class="chip">
            <Name text={row.event_name} />
          </span>
        )}
        {row.body == null ? null : <span>{visible(bodyOf(row.body.text).slice(0, PREVIEW))}</span>}
      </Cell>
    </>
  );
}

function LogDetail({ row, onClose }: { row: LogRow; onClose: () => void }): JSX.Element {
  return (
    <aside class="panel" aria-label="Log record">
      <header class="panel-head">
        <div class="panel-title">
          <h2>{row.event_name === null ? 'Log record' : <Name text={row.event_name} />}</h2>
          <CloseButton onClose={onClose} />
        </div>
        <p class="panel-facts">
          <span>{dateTime(msOf(row.time_unix_nano))}</span>
          {row.trace_id === null ? null : (
            <Link href={`${pageHref('traces', row.trace_id)}${row.span_id === null ? '' : `#s=${row.span_id}`}`}>
              trace
            </Link>
          )}
        </p>
      </header>
      <div class="panel-body" role="region" aria-label="Record" tabIndex={0}>
        {row.body === undefined ? <p class="muted">The body is not shown to you.</p> : null}
        {row.body == null ? null : <Logged of={row.body} />}
        {row.attributes === undefined ? null : (
          <>
            <h3>Attributes</h3>
            <Logged of={row.attributes} />
          </>
        )}
      </div>
    </aside>
  );
}
