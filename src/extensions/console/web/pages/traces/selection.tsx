/** The traces that the reader picked in the list, and what can be done with them. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TraceRow } from '../../../api/shapes/traces.ts';
import { projectPath, urlOf } from '../../data/api.ts';
import { Button, Link } from '../../parts/basics.tsx';
import { DeleteTraces } from '../../parts/delete-traces.tsx';
import { Menu } from '../../parts/dialog.tsx';
import { CloseButton } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { pageHref, route } from '../../state/location.ts';
import { may } from '../../state/session.ts';
import { plural } from '../../text/figures.ts';

/** The ids of so many traces fit into a filter. */
export const MOST_PICKED = 100;
const FORMS = [
  ['traces', 'csv', 'Traces as CSV'],
  ['spans', 'csv', 'Spans as CSV'],
  ['spans', 'ndjson', 'Spans as NDJSON'],
  ['spans', 'otlp', 'Spans as OTLP'],
  ['logs', 'ndjson', 'Log records as NDJSON'],
] as const;

interface SelectionProps {
  readonly picked: readonly TraceRow[];
  readonly clear: () => void;
  readonly onGone: (ids: readonly string[]) => void;
}

export function Selection({ picked, clear, onGone }: SelectionProps): JSX.Element {
  const [asks, setAsks] = useState(false);
  const [a, b] = [...picked].sort((one, other) => (one.start_time_unix_nano < other.start_time_unix_nano ? -1 : 1));
  const project = route.value.project ?? '';
  return (
    <div class="selection" role="toolbar" aria-label="Picked traces">
      <strong role="status">{plural(picked.length, 'trace')} picked</strong>
      <Menu label="Export the picked traces" text="Export" icon="download">
        {(close) =>
          FORMS.map(([what, form, name]) => (
            <a key={name} href={exportHref(project, picked, what, form)} download onClick={() => setTimeout(close)}>
              {name}
            </a>
          ))
        }
      </Menu>
      {picked.length === 2 && a !== undefined && b !== undefined ? (
        <Link class="button" href={pageHref('compare', null, { a: a.trace_id, b: b.trace_id })}>
          <Icon name="compare" /> Compare
        </Link>
      ) : null}
      {may('editor') ? (
        <Button kind="quiet" icon="trash" onClick={() => setAsks(true)}>
          Delete
        </Button>
      ) : null}
      <span class="muted hint">
        <kbd>x</kbd> picks{picked.length === 2 ? '' : ', two can be compared'}
      </span>
      <CloseButton label="Pick none" onClose={clear} />
      {asks ? (
        <DeleteTraces
          project={project}
          traces={picked}
          onClose={(gone) => {
            setAsks(false);
            onGone(gone);
          }}
        />
      ) : null}
    </div>
  );
}

/** With the range of the picked traces, so that only their part of the tables is read. */
function exportHref(project: string, picked: readonly TraceRow[], what: string, form: string): string {
  const starts = picked.map((row) => BigInt(row.start_time_unix_nano));
  const ends = picked.map((row) => BigInt(row.start_time_unix_nano) + BigInt(row.duration_ns));
  const least = starts.reduce((a, b) => (a < b ? a : b));
  const most = ends.reduce((a, b) => (a > b ? a : b));
  return urlOf(projectPath(project, 'export'), {
    what,
    as: form,
    q: `trace:${picked.map(({ trace_id }) => trace_id).join(',')}`,
    // Log records of a trace may come before its first span and after its last.
    ...(what === 'logs' ? {} : { from: String(least), to: String(most + 1n) }),
  });
}
