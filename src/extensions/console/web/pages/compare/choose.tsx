/** The second trace of a comparison: the newest ones of the same name, or any id. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../../../api/shapes/answers.ts';
import type { TraceHeader, TraceRow } from '../../../api/shapes/traces.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, Link, Name } from '../../parts/basics.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/states.tsx';
import { hrefWith, pageHref, setQuery } from '../../state/location.ts';
import { cost, exactly, took } from '../../text/figures.ts';
import { termOf } from '../../text/filter-text.ts';
import { dateTime, msOf } from '../../text/time.ts';

const OFFERED = 20;

export function ChooseOther({ project, a }: { project: string; a: string | null }): JSX.Element {
  const first = useAnswer<TraceHeader>(a === null ? null : projectPath(project, 'traces', a));
  const [text, setText] = useState('');
  const id = text.trim().toLowerCase();
  const isId = /^[0-9a-f]{32}$/u.test(id);
  const compare = (): void => {
    if (isId) setQuery({ a, b: id });
  };
  if (a === null) {
    return (
      <p>
        Pick two traces of <Link href={pageHref('traces')}>the list</Link> with <kbd>x</kbd>.
      </p>
    );
  }
  return (
    <Loaded of={first}>
      {(header) => (
        <>
          <p>
            Compare <Name text={header.name ?? 'log records only'} /> with:
          </p>
          <form
            class="actions"
            onSubmit={(event) => {
              event.preventDefault();
              compare();
            }}
          >
            <input
              type="text"
              aria-label="Id of a trace"
              placeholder="trace id"
              value={text}
              spellcheck={false}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <Button disabled={!isId} onClick={compare}>
              Compare
            </Button>
          </form>
          <Offered project={project} header={header} />
        </>
      )}
    </Loaded>
  );
}

function Offered({ project, header }: { project: string; header: TraceHeader }): JSX.Element {
  const { name, trace_id } = header;
  const alike = useAnswer<Page<TraceRow>>(projectPath(project, 'traces'), {
    q: name === null ? null : termOf('name', name),
    limit: OFFERED + 1,
  });
  return (
    <Loaded of={alike}>
      {({ items }) => (
        <DataTable
          label="Traces of the same name"
          columns={['Trace', 'Start', 'Took', 'Cost', 'Spans', 'Errors']}
          numbersFrom={2}
        >
          {items
            .filter((row) => row.trace_id !== trace_id)
            .map((row) => (
              <tr key={row.trace_id}>
                <th scope="row">
                  <Link href={hrefWith({ a: trace_id, b: row.trace_id })}>
                    <Name text={row.name} />
                  </Link>
                </th>
                <td>{dateTime(msOf(row.start_time_unix_nano), false)}</td>
                <td class="number">{took(row.duration_ns)}</td>
                <td class="number">{cost(row.total_cost)}</td>
                <td class="number">{exactly(row.span_count)}</td>
                <td class={`number ${row.error_count > 0 ? 'bad-text' : ''}`}>{exactly(row.error_count)}</td>
              </tr>
            ))}
        </DataTable>
      )}
    </Loaded>
  );
}
