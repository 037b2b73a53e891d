/** Traces over the range, those with errors apart; or their cost, or their duration. Dragging selects a range. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Histogram, HistogramBucket } from '../../../api/shapes/traces.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Options } from '../../parts/choice.tsx';
import { missingText } from '../../parts/search.tsx';
import { parameter, setQuery } from '../../state/location.ts';
import { cost, exactly, plural, took } from '../../text/figures.ts';
import { msOf, shortTime } from '../../text/time.ts';
import type { Asked } from '../../state/asked.ts';

const BUCKETS = 60;
const HEIGHT = 36;

/** What the height of a bar means. */
interface Measure {
  readonly by: string;
  readonly name: string;
  value(bucket: HistogramBucket): number;
  text(bucket: HistogramBucket): string;
}

const TRACES: Measure = {
  by: 'error',
  name: 'Traces',
  value: ({ trace_count: traces }) => traces,
  text: ({ trace_count: traces, error_count: errors = 0 }) =>
    `${plural(traces, 'trace')}, ${exactly(errors)} with errors`,
};
const MEASURES: readonly Measure[] = [
  TRACES,
  {
    by: 'cost',
    name: 'Cost',
    value: ({ total_cost: sum }) => Number(sum),
    text: ({ total_cost: sum, trace_count: traces }) => `${cost(sum)} of ${plural(traces, 'trace')}`,
  },
  {
    by: 'duration',
    name: 'Time (p95)',
    value: ({ p95_duration_ns: ns }) => Number(ns),
    text: ({ p95_duration_ns: ns, trace_count: traces }) => `${took(ns)}, p95 of ${plural(traces, 'trace')}`,
  },
];

/** `mayAsk`: false while the list is waited for. */
export function HistogramBar({ asked, mayAsk }: { asked: Asked; mayAsk: boolean }): JSX.Element {
  const measure = MEASURES.find(({ by }) => by === parameter('bars')) ?? TRACES;
  return (
    <>
      <select
        aria-label="Bars"
        title="What the bars show"
        value={measure.by}
        onChange={({ currentTarget: { value } }) => setQuery({ bars: value === TRACES.by ? null : value })}
      >
        <Options of={MEASURES.map(({ by, name }) => [by, name])} />
      </select>
      <Loading key={measure.by} asked={asked} measure={measure} mayAsk={mayAsk} />
    </>
  );
}

function Loading({ asked, measure, mayAsk }: { asked: Asked; measure: Measure; mayAsk: boolean }): JSX.Element {
  const { project, query } = asked;
  const { data } = useAnswer<Histogram>(mayAsk ? projectPath(project, 'traces', 'histogram') : null, {
    ...query,
    buckets: BUCKETS,
    by: measure.by,
  });
  return <div class="histogram">{data === null ? null : <Bars histogram={data} measure={measure} />}</div>;
}

function Bars({ histogram, measure }: { histogram: Histogram; measure: Measure }): JSX.Element {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const from = msOf(histogram.from);
  const to = msOf(histogram.to);
  const width = msOf(histogram.bucket_ns);
  const highest = histogram.buckets.reduce<HistogramBucket | null>(
    (most, each) => (most === null || measure.value(each) > measure.value(most) ? each : most),
    null,
  );
  const most = highest === null ? 1 : measure.value(highest) || 1;
  const total = histogram.buckets.reduce((sum, { trace_count }) => sum + trace_count, 0);
  const at = (event: PointerEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const select = (): void => {
    setDrag(null);
    if (drag === null || Math.abs(drag.to - drag.from) < 0.01) return;
    const ends = [drag.from, drag.to].sort((a, b) => a - b).map((share) => Math.round(from + share * (to - from)));
    setQuery({ from: String(ends[0]), to: String(ends[1]) });
  };
  const missing = missingText(histogram);
  const missingShare = Math.min(1, (msOf(histogram.complete_from ?? '0') - from) / (to - from));
  const label = [
    `${plural(total, 'trace')} from ${shortTime(from)} to ${shortTime(to)}`,
    ...(histogram.sampled ? ['of the newest only'] : []),
    ...(highest === null ? [] : [`highest: ${measure.text(highest)}`]),
    ...(missing === null ? [] : [missing]),
  ].join(', ');
  return (
    <svg
      viewBox={`0 0 1000 ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: at(event), to: at(event) });
      }}
      onPointerMove={(event) => drag !== null && setDrag({ ...drag, to: at(event) })}
      onPointerUp={select}
      onPointerCancel={() => setDrag(null)}
    >
      {missing === null || missingShare <= 0 ? null : (
        <rect class="missing" x={0} width={1000 * missingShare} y={0} height={HEIGHT}>
          <title>{missing}</title>
        </rect>
      )}
      {histogram.buckets.map((bucket) => {
        const start = msOf(bucket.start_time_unix_nano);
        const errors = bucket.error_count ?? 0;
        const x = (1000 * (start - from)) / (to - from);
        const w = Math.max(1.5, (1000 * width) / (to - from) - 1.5);
        const high = Math.max(2, (HEIGHT * measure.value(bucket)) / most);
        const bad = (high * errors) / bucket.trace_count;
        return (
          <g key={start}>
            <title>{`${shortTime(start)}: ${measure.text(bucket)}`}</title>
            <rect class="good" x={x} width={w} y={HEIGHT - high} height={high - bad} />
            <rect class="bad" x={x} width={w} y={HEIGHT - bad} height={bad} />
          </g>
        );
      })}
      {drag === null ? null : (
        <rect
          class="drag"
          x={1000 * Math.min(drag.from, drag.to)}
          width={1000 * Math.abs(drag.to - drag.from)}
          y={0}
          height={HEIGHT}
        />
      )}
    </svg>
  );
}
