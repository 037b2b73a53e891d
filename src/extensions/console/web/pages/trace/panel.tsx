/** Everything about the selected span. */
import type { ComponentChildren, JSX } from 'preact';
import type { SpanDetail } from '../../../api/shapes/spans.ts';
import type { TraceHeader } from '../../../api/shapes/traces.ts';
import { exactText } from '../../../../../pdata/exact-json.ts';
import { projectPath } from '../../data/api.ts';
import type { Span, Spans } from '../../data/spans.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, CopyButton, Name, Pair } from '../../parts/basics.tsx';
import { CloseButton } from '../../parts/grid.tsx';
import { Guard } from '../../parts/guard.tsx';
import { MarkdownSwitch, TextBlock } from '../../parts/text-block.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Loaded } from '../../parts/states.tsx';
import { parameter, setQuery } from '../../state/location.ts';
import { cost, exactly, exactTokens, took, tookMs } from '../../text/figures.ts';
import { visible } from '../../text/visible.ts';
import { AttributesTab } from './attributes-tab.tsx';
import { Category } from '../../parts/category.tsx';
import { EventsTab } from './events-tab.tsx';
import type { TraceRef } from './trace-ref.ts';
import { SpanMessages } from './span-messages.tsx';

const TABS = ['Messages', 'Attributes', 'Events', 'Raw'] as const;
type Tab = (typeof TABS)[number];

interface PanelProps {
  readonly trace: TraceRef;
  readonly header: TraceHeader;
  readonly span: Span | null;
  readonly spans: Spans;
  readonly goTo: (span: Span | undefined) => void;
  readonly onClose: () => void;
}

export function Panel({ trace, header, span, spans, goTo, onClose }: PanelProps): JSX.Element {
  const chosen = TABS.find((each) => each === parameter('tab'));
  if (span === null) {
    return (
      <aside class="panel" aria-label="Span">
        <p class="muted panel-hint">Select a span to see its messages, attributes and events.</p>
      </aside>
    );
  }
  const hasContent = ['model_call', 'tool_step', 'retrieval', 'embedding', 'agent'].includes(span.category ?? '');
  const tab = chosen ?? (hasContent ? 'Messages' : 'Attributes');
  return (
    <aside class="panel" aria-label="Span">
      <header class="panel-head">
        <div class="panel-title">
          <Category category={span.category} />
          <h2>
            <Name text={span.name} />
          </h2>
          <CloseButton label="Close the panel (Space)" onClose={onClose} />
        </div>
        <p class="panel-facts">
          <code>{span.id}</code>
          <CopyButton text={span.id} label="Copy the span id" />
          {span.service === null ? null : <Name text={span.service} />}
          <span>{span.duration === null ? 'no end' : tookMs(span.duration)}</span>
          {span.parent === null ? null : (
            <Button kind="quiet" onClick={() => goTo(span.parent ?? undefined)}>
              parent
            </Button>
          )}
        </p>
        <div class="tabs">
          <div class="tabs" role="tablist" aria-label="Parts of the span">
            {TABS.map((name) => (
              <button
                type="button"
                role="tab"
                key={name}
                class="button quiet"
                aria-selected={name === tab}
                tabIndex={name === tab ? 0 : -1}
                onClick={() => setTab(name)}
                onKeyDown={(event) => onTabKey(event, tab)}
              >
                {name}
                {name === 'Events' && span.events > 0 ? ` ${span.events}` : ''}
              </button>
            ))}
          </div>
          <span class="stretch" />
          {tab === 'Messages' ? <MarkdownSwitch /> : null}
        </div>
      </header>
      <Guard>
        <Detail trace={trace} header={header} span={span} spans={spans} tab={tab} goTo={goTo} />
      </Guard>
    </aside>
  );
}

const setTab = (tab: Tab): void => setQuery({ tab }, true);

function onTabKey(event: KeyboardEvent, tab: Tab): void {
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
  event.preventDefault();
  const by = event.key === 'ArrowRight' ? 1 : -1;
  setTab(TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length] ?? tab);
  const button = event.currentTarget as HTMLElement;
  const other = by === 1 ? button.nextElementSibling : button.previousElementSibling;
  if (other instanceof HTMLElement) other.focus();
}

/** The start of a span in Unix nanoseconds. */
export function startOf(header: TraceHeader, span: Span): string {
  return String(BigInt(header.start_time_unix_nano ?? '0') + BigInt(span.startNs));
}

interface DetailProps extends Omit<PanelProps, 'onClose' | 'span'> {
  readonly span: Span;
  readonly tab: Tab;
}

function Detail({ trace, header, span, spans, tab, goTo }: DetailProps): JSX.Element {
  const start = startOf(header, span);
  const path = projectPath(trace.project, 'traces', trace.id, 'spans', span.id);
  const detail = useAnswer<SpanDetail>(path, { start });
  return (
    <div class="panel-body" role="tabpanel" aria-label={tab} tabIndex={0}>
      <Loaded of={detail}>
        {(data) => (
          <>
            {data.status_message != null ? (
              <div class="failure">
                <strong>{visible(data.error_type ?? 'error')}</strong>
                <TextBlock plain text={data.status_message.text} />
              </div>
            ) : null}
            {tab === 'Messages' ? (
              <>
                <Figures data={data} span={span} spans={spans} goTo={goTo} />
                <SpanMessages key={path} detail={data} path={path} start={start} />
              </>
            ) : tab === 'Attributes' ? (
              <AttributesTab detail={data} />
            ) : tab === 'Events' ? (
              <EventsTab key={path} trace={trace} detail={data} />
            ) : (
              <Raw data={data} />
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

function Raw({ data }: { data: SpanDetail }): JSX.Element {
  return (
    <>
      <CopyButton text={() => exactText(data, 2)} label="Copy JSON" />
      <JsonTree value={data} />
    </>
  );
}

interface FiguresProps {
  readonly data: SpanDetail;
  readonly span: Span;
  readonly spans: Spans;
  readonly goTo: (span: Span | undefined) => void;
}

/** Model, tokens, latency and price of a call. */
function Figures({ data, span, spans, goTo }: FiguresProps): JSX.Element | null {
  const model = data.response_model ?? data.request_model;
  const lines: (readonly [string, ComponentChildren])[] = [];
  if (model !== null)
    lines.push(['model', <Name key="m" text={data.provider === null ? model : `${data.provider} / ${model}`} />]);
  if (data.input_tokens !== null || data.output_tokens !== null) {
    lines.push(['tokens', `${exactTokens(data)}${extra(data)}`]);
  }
  if (data.time_to_first_token_ms !== null) lines.push(['first token', tookMs(data.time_to_first_token_ms)]);
  if (model !== null || data.total_cost !== null) lines.push(['cost', <Price key="p" data={data} />]);
  if (data.total_cost !== null && !data.counts) {
    const counted = spans.all.find((each) => each.counts && each.model === span.model && isNear(each, span));
    lines.push([
      'not counted',
      <span key="n">
        {data.note === 'sum' ? 'it sums up calls that count' : 'another span reports the same call'}
        {counted === undefined ? null : (
          <>
            : counted at{' '}
            <Button kind="quiet" onClick={() => goTo(counted)}>
              {visible(counted.name)}
            </Button>
          </>
        )}
      </span>,
    ]);
  }
  if (data.duration_ns !== null && lines.length > 0) lines.push(['took', took(data.duration_ns)]);
  if (lines.length === 0) return null;
  return (
    <dl class="pairs">
      {lines.map(([name, value]) => (
        <Pair key={name} name={name}>
          {value}
        </Pair>
      ))}
    </dl>
  );
}

/** Whether one of the spans is above the other. */
function isNear(one: Span, other: Span): boolean {
  for (let above = one.parent; above !== null; above = above.parent) if (above === other) return true;
  for (let above = other.parent; above !== null; above = above.parent) if (above === one) return true;
  return false;
}

function extra({ cache_write_tokens: written, reasoning_tokens: reasoning }: SpanDetail): string {
  const parts = [
    ...(written === null || written === 0 ? [] : [`${exactly(written)} written to the cache`]),
    ...(reasoning === null || reasoning === 0 ? [] : [`${exactly(reasoning)} reasoning`]),
  ];
  return parts.length === 0 ? '' : ` · ${parts.join(' · ')}`;
}

function Price({ data }: { data: SpanDetail }): JSX.Element {
  if (data.total_cost === null) return <span class="warn">no price for this model</span>;
  const source = data.cost_source === 'explicit' ? 'stated by the sender' : (data.price_id ?? '');
  return (
    <>
      {cost(data.total_cost)}{' '}
      <span class="muted">
        in {cost(data.input_cost)}, out {cost(data.output_cost)}
        {source === '' ? '' : ` · ${visible(source)}`}
      </span>
    </>
  );
}
