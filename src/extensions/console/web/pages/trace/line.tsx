/** One line of the timeline. */
import type { JSX } from 'preact';
import type { Line } from '../../data/span-lines.ts';
import { selfTime } from '../../data/span-lines.ts';
import { type Span, countedCost, endOf } from '../../data/spans.ts';
import { Name } from '../../parts/basics.tsx';
import { Cell } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { isNarrow } from '../../state/width.ts';
import { cost, exactly, tokens, tookMs } from '../../text/figures.ts';
import { visible } from '../../text/visible.ts';
import { Category, hueOf } from '../../parts/category.tsx';
import { type View, shareOf } from './zoom.ts';

const STEP_PX = 14;
const DEEPEST = 10;
/** A bar with more parts than this would not show them. */
const MOST_PARTS = 24;

interface LineProps {
  readonly line: Line;
  readonly zoom: View;
  readonly fold: (isOpen: boolean) => void;
}

export function LineCells({ line, zoom, fold }: LineProps): JSX.Element {
  return (
    <>
      <Cell class="s-name">
        <span class="indent" style={{ width: `${Math.min(line.depth, DEEPEST) * STEP_PX}px` }} />
        {line.depth > DEEPEST ? <span class="muted">{line.depth}</span> : null}
        {line.isOpen === null ? (
          <span class="fold" />
        ) : (
          <button
            type="button"
            class="fold"
            tabIndex={-1}
            aria-label={line.isOpen ? 'Fold' : 'Unfold'}
            onClick={() => fold(line.isOpen !== true)}
          >
            <Icon name={line.isOpen ? 'down' : 'right'} size={12} />
          </button>
        )}
        {line.kind === 'span' ? <SpanName span={line.span} /> : <GroupName line={line} />}
      </Cell>
      <Cell class="s-bar">
        <Folds view={zoom} />
        {line.kind === 'span' ? (
          <Bar span={line.span} zoom={zoom} />
        ) : (
          line.spans.slice(0, 200).map((span) => <Bar key={span.index} span={span} zoom={zoom} />)
        )}
      </Cell>
      {line.kind === 'span' ? <Figures span={line.span} /> : <GroupFigures spans={line.spans} />}
    </>
  );
}

function SpanName({ span }: { span: Span }): JSX.Element {
  const what = span.model ?? span.tool;
  return (
    <>
      <Category category={span.category} />
      {span.isError ? (
        <span class="bad-text" title="error">
          <Icon name="error" size={12} />
        </span>
      ) : null}
      <Name text={span.name} />
      {what !== null && !isNamed(span.name, what) ? <span class="muted what">{visible(what)}</span> : null}
      {span.events > 0 ? (
        <span class="events" title={`${span.events} events`}>
          •{span.events}
        </span>
      ) : null}
    </>
  );
}

/** Whether the name of a span contains its model or tool, maybe without the date of the version. */
const isNamed = (name: string, what: string): boolean =>
  name.split(' ').some((word) => word.length > 3 && what.startsWith(word));

function GroupName({ line }: { line: Exclude<Line, { kind: 'span' }> }): JSX.Element {
  if (line.kind === 'missing') {
    return (
      <span class="muted">parent {line.key.slice('missing.'.length, 'missing.'.length + 8)}… has not arrived</span>
    );
  }
  const first = line.spans[0];
  return (
    <>
      <Category category={first?.category ?? null} />
      <Name text={first?.name ?? ''} />
      <strong>×{exactly(line.spans.length)}</strong>
    </>
  );
}

/** With more folds than this, only the overview marks them. */
const MOST_FOLDS = 6;

function Folds({ view }: { view: View }): JSX.Element | null {
  const { axis, from, to } = view;
  if (axis.folds.length > MOST_FOLDS) return null;
  return (
    <>
      {axis.folds.map(({ at, from: start }) => {
        const left = (100 * (at - from)) / (to - from);
        const width = (100 * axis.width) / (to - from);
        return left > 100 || left + width < 0 ? null : (
          <span key={start} class="wait" aria-hidden="true" style={{ left: `${left}%`, width: `${width}%` }} />
        );
      })}
    </>
  );
}

function Bar({ span, zoom }: { span: Span; zoom: View }): JSX.Element | null {
  const left = Math.max(0, shareOf(span.start, zoom));
  const right = Math.min(100, shareOf(endOf(span), zoom));
  if (left > 100 || right < 0) return null;
  const parts = span.children.length === 0 ? null : selfTime(span).slice(0, MOST_PARTS);
  const first = span.ttft === null ? null : shareOf(span.start + span.ttft, zoom);
  const isOutside =
    span.parent !== null && (span.start < span.parent.start - 1e-3 || endOf(span) > endOf(span.parent) + 1e-3);
  const className = `span-bar hue-${hueOf(span.category)} ${span.isError ? 'bad' : ''} ${parts === null ? 'solid' : ''}`;
  return (
    <>
      <span class={className} style={{ left: `${left}%`, width: `${Math.max(0, right - left)}%` }}>
        {parts?.map(([from, to]) => {
          const start = Math.max(left, shareOf(from, zoom));
          const width = Math.min(right, shareOf(to, zoom)) - start;
          if (width <= 0 || right <= left) return null;
          const share = 100 / (right - left);
          return <i key={from} style={{ left: `${(start - left) * share}%`, width: `${width * share}%` }} />;
        })}
      </span>
      {first !== null && first > 0 && first < 100 ? (
        <span class="first-token" title="first token" style={{ left: `${first}%` }} />
      ) : null}
      <span class="bar-label" style={labelPlace(left, right)}>
        {span.duration === null ? 'no end' : tookMs(span.duration)}
        {isOutside ? (
          <span title="outside of its parent: the clocks differ, or the parent did not wait"> ⇥</span>
        ) : null}
      </span>
    </>
  );
}

/** The time is beside the bar. If there is no room on either side, it covers the end of the bar: the figures follow. */
function labelPlace(left: number, right: number): Readonly<Record<string, string | number>> {
  if (left > 70) return { right: `${100 - left}%` };
  return right > 90 ? { right: 0, background: 'var(--ground)' } : { left: `${right}%` };
}

function Figures({ span }: { span: Span }): JSX.Element {
  const isGrey = !span.counts && span.cost !== null;
  const why = span.note === 'sum' ? 'sums up the calls below it' : 'another span reports the same call';
  return (
    <>
      <Cell class="s-took">{span.duration === null ? '–' : tookMs(span.duration)}</Cell>
      {isNarrow.value ? null : (
        <>
          <Cell class={`s-tokens ${isGrey ? 'muted' : ''}`}>
            {span.input === null && span.output === null ? '' : tokens(span.input, null, span.output)}
          </Cell>
          <Cell class={`s-cost ${isGrey ? 'muted' : ''}`} title={isGrey ? `not counted: ${why}` : undefined}>
            {span.cost === null ? '' : isGrey ? `(${cost(span.cost)})` : cost(span.cost)}
          </Cell>
        </>
      )}
    </>
  );
}

function GroupFigures({ spans }: { spans: readonly Span[] }): JSX.Element {
  const sum = spans.reduce((ms, { duration }) => ms + (duration ?? 0), 0);
  const dollars = countedCost(spans);
  return (
    <>
      <Cell class="s-took">Σ {tookMs(sum)}</Cell>
      {isNarrow.value ? null : (
        <>
          <Cell class="s-tokens" />
          <Cell class="s-cost">{dollars === null ? '' : cost(dollars)}</Cell>
        </>
      )}
    </>
  );
}
