/** Events, links and log records of a span. */
import type { JSX } from 'preact';
import type { TraceLogs } from '../../../api/shapes/logs.ts';
import type { SpanDetail } from '../../../api/shapes/spans.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Link, Name } from '../../parts/basics.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Logged } from '../../parts/messages.tsx';
import { Loaded } from '../../parts/states.tsx';
import { dateTime, msOf } from '../../text/time.ts';
import type { TraceRef } from './trace-ref.ts';

/** What one answer has at most. */
const MOST_LOGS = 500;

interface EventShape {
  readonly name?: unknown;
  readonly time_unix_nano?: unknown;
  readonly attributes?: unknown;
}

interface LinkShape {
  readonly trace_id?: unknown;
  readonly span_id?: unknown;
  readonly attributes?: unknown;
}

export function EventsTab({ trace, detail }: { trace: TraceRef; detail: SpanDetail }): JSX.Element {
  const path = projectPath(trace.project, 'traces', trace.id, 'logs');
  const logs = useAnswer<TraceLogs>(path, { span: detail.span_id, limit: MOST_LOGS });
  const events = (detail.events ?? []) as readonly EventShape[];
  const links = (detail.links ?? []) as readonly LinkShape[];
  return (
    <>
      {detail.events === undefined ? <p class="muted">Events are not shown to you.</p> : null}
      {detail.events === null ? <p class="muted">The events of this span are too long to show here.</p> : null}
      {detail.events?.length === 0 ? <p class="muted">No events.</p> : null}
      {events.map((event, at) => (
        <section class="section" key={at}>
          <h3>
            <Name text={String(event.name ?? '')} /> <span class="muted">{timeOf(event.time_unix_nano)}</span>
          </h3>
          <JsonTree value={event.attributes ?? {}} />
        </section>
      ))}
      {links.length === 0 ? null : <h3>Links</h3>}
      {links.map((link, at) => (
        <p key={at}>
          <Link href={`/t/${encodeURIComponent(String(link.trace_id))}#s=${encodeURIComponent(String(link.span_id))}`}>
            <code>{String(link.trace_id)}</code>
          </Link>
        </p>
      ))}
      <Loaded of={logs}>{(page) => <SpanLogs {...page} />}</Loaded>
    </>
  );
}

const timeOf = (ns: unknown): string => (typeof ns === 'string' && /^\d+$/u.test(ns) ? dateTime(msOf(ns)) : '');

function SpanLogs({ items, next }: TraceLogs): JSX.Element | null {
  if (items.length === 0) return null;
  return (
    <>
      <h3>Log records</h3>
      {items.map((log, at) => (
        <section class="section" key={at}>
          <p>
            <span class="muted">{dateTime(msOf(log.time_unix_nano))}</span> <strong>{log.severity_text ?? ''}</strong>{' '}
            {log.event_name === null ? null : <Name text={log.event_name} />}
          </p>
          {log.body == null ? null : <Logged of={log.body} />}
        </section>
      ))}
      {next === null ? null : <p class="muted">The first {MOST_LOGS} are shown.</p>}
    </>
  );
}
