/** A chart with its legend. Dragging in it selects a range of time. */
import type { JSX } from 'preact';
import { setQuery } from '../state/location.ts';
import { Name } from './basics.tsx';
import type { ChartProps } from './chart.tsx';
import { lazy } from './lazy.tsx';

const chart = lazy(
  async () => (await import('./chart.tsx')).Chart,
  () => <div class="chart" />,
);

export function ChartFigure(props: Omit<ChartProps, 'onRange'>): JSX.Element {
  return (
    <figure>
      <chart.Page
        {...props}
        onRange={(from, to) => setQuery({ from: String(Math.round(from)), to: String(Math.round(to)) })}
      />
      <figcaption class="legend">
        {props.series.map(({ name }, at) => (
          <span key={at}>
            <i class={`hue-series-${at % 8}`} aria-hidden="true">
              ■
            </i>{' '}
            <Name text={name} />
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
