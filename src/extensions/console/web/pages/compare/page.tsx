/** Two traces side by side: totals with their differences, the spans as one tree, and the messages of a pair. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { TraceHeader } from '../../../api/shapes/traces.ts';
import { costOf, unitsOf } from '../../../../../pdata/cost-sum.ts';
import type { Count } from '../../../../../pdata/exact-json.ts';
import { projectPath } from '../../data/api.ts';
import { type Resource, useAnswer, useResource } from '../../data/resource.ts';
import { type Spans, loadSpans } from '../../data/spans.ts';
import { Button, Link, Name } from '../../parts/basics.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Failure, Loaded, PlaceholderRows } from '../../parts/states.tsx';
import { pageHref, parameter, setQuery } from '../../state/location.ts';
import { cost, count, exactly, took } from '../../text/figures.ts';
import { dateTime, msOf } from '../../text/time.ts';
import { ChooseOther } from './choose.tsx';
import { difference } from './side.ts';
import { SpanNames } from './span-names.tsx';
import { ComparedTree } from './tree.tsx';

/** Larger traces are compared by the names of their spans. */
const MAX_SPANS = 5_000;

export function ComparePage({ project }: { project: string }): JSX.Element {
  const [a, b] = [parameter('a'), parameter('b')];
  return (
    <div class="compare-page">
      <h1 class="quiet">Compare</h1>
      {a !== null && b !== null ? (
        <Both key={`${a} ${b}`} project={project} a={a} b={b} />
      ) : (
        <ChooseOther project={project} a={a ?? b} />
      )}
    </div>
  );
}

function Both({ project, a, b }: { project: string; a: string; b: string }): JSX.Element {
  const headers = [a, b].map((id) => useAnswer<TraceHeader>(projectPath(project, 'traces', id)));
  const [left, right] = headers;
  return (
    <>
      {headers.map((header, at) => (
        <Loaded key={at} of={header as Resource<TraceHeader>}>
          {() => null}
        </Loaded>
      ))}
      {left?.data == null || right?.data == null ? null : (
        <>
          <Totals a={left.data} b={right.data} />
          <Trees project={project} a={left.data} b={right.data} />
        </>
      )}
    </>
  );
}

interface HeadersProps {
  readonly a: TraceHeader;
  readonly b: TraceHeader;
}

interface Total {
  readonly name: string;
  readonly of: (header: TraceHeader) => Count | null;
  readonly format: (value: Count | null) => string;
}

const nanoseconds = (value: Count | null): string => took(value === null ? null : String(value));
const money = (units: Count | null): string => cost(units === null ? null : costOf(BigInt(units)));

const TOTALS: readonly Total[] = [
  { name: 'took', of: ({ duration_ns: ns }) => (ns === null ? null : BigInt(ns)), format: nanoseconds },
  { name: 'spans', of: ({ span_count }) => span_count, format: exactly },
  { name: 'calls', of: ({ model_call_count }) => model_call_count, format: exactly },
  { name: 'tools', of: ({ tool_step_count }) => tool_step_count, format: exactly },
  { name: 'input', of: ({ input_tokens }) => input_tokens, format: count },
  { name: 'cached', of: ({ cache_read_tokens }) => cache_read_tokens, format: count },
  { name: 'output', of: ({ output_tokens }) => output_tokens, format: count },
  { name: 'cost', of: ({ total_cost: sum }) => (sum === null ? null : unitsOf(sum)), format: money },
  { name: 'errors', of: ({ error_count }) => error_count, format: exactly },
  { name: 'logs', of: ({ log_count }) => log_count, format: exactly },
];

function Totals({ a, b }: HeadersProps): JSX.Element {
  const cells = ({ name, of, format }: Total): JSX.Element => (
    <td key={name} class="number">
      {difference(of(a), of(b), format)}
    </td>
  );
  return (
    <DataTable label="Totals" columns={['Trace', ...TOTALS.map(({ name }) => name)]} numbersFrom={1}>
      <TraceTotals letter="A" header={a} />
      <TraceTotals letter="B" header={b} />
      <tr>
        <th scope="row">
          B against A{' '}
          <Button kind="quiet" onClick={() => setQuery({ a: b.trace_id, b: a.trace_id })}>
            swap
          </Button>
        </th>
        {TOTALS.map(cells)}
      </tr>
    </DataTable>
  );
}

function TraceTotals({ letter, header }: { letter: string; header: TraceHeader }): JSX.Element {
  const start = header.start_time_unix_nano;
  return (
    <tr>
      <th scope="row">
        {letter}{' '}
        <Link href={pageHref('traces', header.trace_id)}>
          <Name text={header.name ?? 'log records only'} />
        </Link>{' '}
        <span class="muted">{start === null ? '–' : dateTime(msOf(start), false)}</span>
      </th>
      {TOTALS.map(({ name, of, format }) => (
        <td key={name} class="number">
          {format(of(header))}
        </td>
      ))}
    </tr>
  );
}

function Trees({ project, a, b }: HeadersProps & { readonly project: string }): JSX.Element {
  const [left, right] = [useSpans(project, a.trace_id), useSpans(project, b.trace_id)];
  const sides = useMemo(
    () =>
      left.data === null || right.data === null
        ? null
        : { a: { header: a, spans: left.data }, b: { header: b, spans: right.data } },
    [left.data, right.data, a, b],
  );
  const failed = left.error === null ? right : left;
  if (failed.error !== null) return <Failure error={failed.error} retry={failed.reload} />;
  if (sides === null) return <PlaceholderRows />;
  const isLarge = Math.max(a.span_count, b.span_count) > MAX_SPANS;
  return isLarge ? (
    <>
      <p class="notice">More than {exactly(MAX_SPANS)} spans are compared by their names.</p>
      <SpanNames a={sides.a} b={sides.b} />
    </>
  ) : (
    <ComparedTree project={project} a={sides.a} b={sides.b} />
  );
}

const useSpans = (project: string, id: string): Resource<Spans> =>
  useResource(`${project} ${id}`, (signal) => loadSpans(project, id, null, () => undefined, signal));
