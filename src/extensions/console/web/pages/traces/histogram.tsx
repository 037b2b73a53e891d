/** Traces over the range, those with errors apart. Dragging selects a range. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Histogram } from '../../../api/shapes.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { setQuery } from '../../state/location.ts';
import { plural } from '../../text/figures.ts';
import { msOf, shortTime } from '../../text/time.ts';
import type { Asked } from '../../state/asked.ts';

const BUCKETS = 60;
const HEIGHT = 36;

export function HistogramBar({ asked }: { asked: Asked }): JSX.Element {
  const { project, query } = asked;
  const histogram = useAnswer<Histogram>(projectPath(project, 'traces', 'histogram'), {
    ...query,
    buckets: BUCKETS,
    by: 'error',
  });
  return <div class="histogram">{histogram.data === null ? null : <Bars histogram={histogram.data} />}</div>;
}

function Bars({ histogram }: { histogram: Histogram }): JSX.Element {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const from = msOf(histogram.from);
  const to = msOf(histogram.to);
  const width = msOf(histogram.bucket_ns);
  const most = histogram.buckets.reduce((max, { trace_count }) => Math.max(max, trace_count), 1);
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
  const label = `${plural(total, 'trace')} from ${shortTime(from)} to ${shortTime(to)}${histogram.sampled ? ', of the newest only' : ''}`;
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
    >
      {histogram.buckets.map((bucket) => {
        const start = msOf(bucket.start_time_unix_nano);
        const errors = bucket.error_count ?? 0;
        const x = (1000 * (start - from)) / (to - from);
        const w = Math.max(1.5, (1000 * width) / (to - from) - 1.5);
        const high = Math.max(2, (HEIGHT * bucket.trace_count) / most);
        const bad = (high * errors) / bucket.trace_count;
        return (
          <g key={start}>
            <title>{`${shortTime(start)}: ${plural(bucket.trace_count, 'trace')}, ${plural(errors, 'error')}`}</title>
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
