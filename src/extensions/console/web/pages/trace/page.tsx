/** One trace: the header, four views, and the panel of the selected span. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LiveTrace, TraceHeader } from '../../../api/shapes/traces.ts';
import { parseExact } from '../../../../../pdata/exact-json.ts';
import { projectPath, urlOf } from '../../data/api.ts';
import { asApiError, useAnswer, useRetry } from '../../data/resource.ts';
import { type Spans, loadSpans } from '../../data/spans.ts';
import { Button, Tabs } from '../../parts/basics.tsx';
import { Guard } from '../../parts/guard.tsx';
import { Incomplete } from '../../parts/search.tsx';
import { Failure, Loaded, PlaceholderRows } from '../../parts/states.tsx';
import { useKeys } from '../../state/keys.ts';
import { neighbourOf, open, pageHref, parameter, setQuery } from '../../state/location.ts';
import { asMarkdown } from '../../state/settings.ts';
import { isTabShown } from '../../state/tab.ts';
import { exactly, plural } from '../../text/figures.ts';
import { Header } from './header.tsx';
import { JsonView } from './json-view.tsx';
import { MessagesView } from './messages-view.tsx';
import type { TraceRef } from './trace-ref.ts';
import { SpanTable } from './table-view.tsx';
import { Timeline } from './timeline.tsx';

const VIEWS = ['timeline', 'messages', 'table', 'json'] as const;
type View = (typeof VIEWS)[number];

export function TracePage({ project, id }: TraceRef): JSX.Element {
  const header = useAnswer<TraceHeader>(projectPath(project, 'traces', id));
  const goTo = (by: 1 | -1): void => {
    const other = neighbourOf(id, by);
    if (other !== null) open(pageHref('traces', other));
  };
  const show = (view: View) => () => setQuery({ view: view === 'timeline' ? null : view });
  useKeys({
    '1': show('timeline'),
    '2': show('messages'),
    '3': show('table'),
    '4': show('json'),
    r: () => (asMarkdown.value = asMarkdown.value === 'yes' ? 'no' : 'yes'),
    J: () => goTo(1),
    K: () => goTo(-1),
  });
  return (
    <div class="trace-page">
      <Loaded of={header}>
        {(data) => (
          <>
            <Header header={data} />
            {data.unread === undefined ? null : <Incomplete before={null} unread={data.unread} />}
          </>
        )}
      </Loaded>
      {header.data === null ? null : <Views trace={{ project, id }} header={header.data} reload={header.reload} />}
    </div>
  );
}

function Views({ trace, header, reload }: { trace: TraceRef; header: TraceHeader; reload: () => void }): JSX.Element {
  const wanted = parameter('view') as View | null;
  const view = wanted !== null && VIEWS.includes(wanted) ? wanted : 'timeline';
  const { spans, problem, again, more } = useSpans(trace);
  const arrived = useArrived(trace, header.span_count);
  return (
    <>
      <div class="view-bar">
        <Tabs
          legend="View"
          options={VIEWS.map((each, at) => [each, each === 'json' ? 'JSON' : each, `${each} (${at + 1})`])}
          chosen={view}
          onChoose={(each) => setQuery({ view: each === 'timeline' ? null : each })}
        />
        {arrived > 0 ? (
          <Button
            kind="main"
            onClick={() => {
              reload();
              again();
            }}
          >
            {plural(arrived, 'more span')} · show
          </Button>
        ) : null}
        {spans !== null && spans.next !== null ? (
          <span class="notice">
            {exactly(spans.all.length)} of {exactly(spans.total)} spans
            <Button kind="quiet" onClick={more}>
              load more
            </Button>
          </span>
        ) : null}
        {spans?.isCut === true && problem === null ? (
          <span class="muted" role="status">
            loading …
          </span>
        ) : null}
      </div>
      {problem === null ? null : <Failure error={problem} retry={again} />}
      {spans === null ? (
        problem === null ? (
          <PlaceholderRows />
        ) : null
      ) : (
        <Guard>
          {view === 'timeline' ? (
            <Timeline trace={trace} header={header} spans={spans} more={more} />
          ) : view === 'messages' ? (
            <MessagesView trace={trace} />
          ) : view === 'table' ? (
            <SpanTable spans={spans} />
          ) : (
            <JsonView header={header} spans={spans} />
          )}
        </Guard>
      )}
    </>
  );
}

interface LoadedSpans {
  readonly spans: Spans | null;
  readonly problem: ReturnType<typeof asApiError> | null;
  again(): void;
  more(): void;
}

function useSpans({ project, id }: TraceRef): LoadedSpans {
  const [spans, setSpans] = useState<Spans | null>(null);
  const [problem, setProblem] = useState<ReturnType<typeof asApiError> | null>(null);
  const [attempt, setAttempt] = useState(0);
  const load = (before: Spans | null, signal: AbortSignal): void => {
    setProblem(null);
    const show = (part: Spans): void => {
      // While the trace is loaded again, the former rows stay until all new ones have arrived.
      if (!signal.aborted && (attempt === 0 || part.total !== null)) setSpans(part);
    };
    loadSpans(project, id, before, show, signal).catch((failure: unknown) => {
      if (!signal.aborted) setProblem(asApiError(failure));
    });
  };
  useEffect(() => {
    const controller = new AbortController();
    load(null, controller.signal);
    return () => controller.abort();
  }, [project, id, attempt]);
  const again = (): void => setAttempt(attempt + 1);
  useRetry(problem, again);
  return {
    spans,
    problem,
    again,
    more: () => spans !== null && load(spans, new AbortController().signal),
  };
}

/** The number of spans of the trace that are not loaded. A stream begins with it. */
function useArrived({ project, id }: TraceRef, known: number): number {
  const [count, setCount] = useState(known);
  const on = isTabShown.value;
  useEffect(() => {
    setCount(known);
    if (!on) return;
    const source = new EventSource(urlOf(projectPath(project, 'live'), { trace: id }));
    source.addEventListener('trace', (event: MessageEvent<string>) => {
      const news = parseExact(event.data) as LiveTrace;
      if (news.trace_id === id) setCount(news.span_count);
    });
    return () => source.close();
  }, [project, id, known, on]);
  return Math.max(0, count - known);
}
