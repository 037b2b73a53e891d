/** Log records. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LogRow } from '../../api/shapes.ts';
import { projectPath } from '../data/api.ts';
import { useSearch } from '../data/pages.ts';
import { Button, Link, Name } from '../parts/basics.tsx';
import { Cell, Grid } from '../parts/grid.tsx';
import { Nothing } from '../parts/nothing.tsx';
import { bodyOf, Value } from '../parts/messages.tsx';
import { Found, SearchFoot } from '../parts/search.tsx';
import { pageHref } from '../state/location.ts';
import { isNarrow } from '../state/width.ts';
import { dateTime, msOf, shortTime } from '../text/time.ts';
import { visible } from '../text/visible.ts';
import { useAsked } from '../state/asked.ts';

const ROW_PX = 28;
const NARROW_ROW_PX = 50;
const PREVIEW = 400;
/** From this severity number on, OpenTelemetry calls a record a warning, an error. */
const WARN = 13;
const ERROR = 17;

export function LogsPage({ project }: { project: string }): JSX.Element {
  const { q, query } = useAsked(project);
  const [active, setActive] = useState(-1);
  const search = useSearch<LogRow>(projectPath(project, 'logs'), query);
  const rows = search.items;
  const selected = rows[active];
  return (
    <div class="list-page">
      <h1 class="quiet">Logs</h1>
      <Found search={search} empty={<Nothing title="No log record matches" q={q} />}>
        <div class="logs-body">
          <Grid
            label="Log records"
            class="log-grid"
            columns={[
              { name: 'Time', class: 'l-time' },
              { name: 'Severity', class: 'l-severity' },
              { name: 'Service', class: 'l-service' },
              { name: 'Record', class: 'l-body' },
            ]}
            count={rows.length}
            height={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
            active={active}
            onActive={setActive}
            rowOf={(index) => ({ key: String(index), class: severityOf(rows[index]) })}
            cells={(index) => {
              const row = rows[index];
              return row === undefined ? null : <Cells row={row} />;
            }}
            footer={<SearchFoot search={search} what="record" />}
          />
          {selected === undefined ? null : <LogDetail row={selected} onClose={() => setActive(-1)} />}
        </div>
      </Found>
    </div>
  );
}

function severityOf(row: LogRow | undefined): string {
  const severity = row?.severity_number ?? 0;
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
          <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
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
        {row.body == null ? null : <Value text={bodyOf(row.body.text)} />}
        {row.attributes === undefined ? null : (
          <>
            <h3>Attributes</h3>
            <Value text={row.attributes.text} />
          </>
        )}
      </div>
    </aside>
  );
}
