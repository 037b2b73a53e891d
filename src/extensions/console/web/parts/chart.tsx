/** Values over time, stacked bars for sums and lines for the rest. Loaded when a chart is shown. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { DAY_S } from '../../../../pdata/time-units.ts';
import { theme, zone } from '../state/settings.ts';
import { dateTime } from '../text/time.ts';

const HEIGHT = 220;
const CHARACTER_PX = 7;

export interface ChartSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly isStacked: boolean;
  /** Whether lines continue over missing values. */
  readonly joinsGaps?: boolean;
  readonly format: (value: number | null) => string;
  readonly label: string;
  readonly onRange: (fromMs: number, toMs: number) => void;
}

export function Chart(props: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const onRange = useRef(props.onRange);
  onRange.current = props.onRange;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const draw = (): uPlot =>
      new uPlot(
        optionsOf(element, props, (from, to) => onRange.current(from, to)),
        dataOf(props),
        element,
      );
    let chart = draw();
    const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const again = (): void => {
      chart.destroy();
      chart = draw();
    };
    scheme.addEventListener('change', again);
    return () => {
      scheme.removeEventListener('change', again);
      resize.disconnect();
      chart.destroy();
    };
  }, [props.times, props.series, props.isStacked, theme.value, zone.value]);
  return <div class="chart" ref={box} role="img" aria-label={props.label} />;
}

/** Stacked series are drawn as their running totals, the largest first, so each covers the ones behind it. */
function dataOf({ times, series, isStacked }: ChartProps): uPlot.AlignedData {
  const columns: (number | null)[][] = series.map(({ values }) => [...values]);
  if (isStacked) {
    for (let at = columns.length - 2; at >= 0; at -= 1) {
      const below = columns[at + 1];
      columns[at] = (columns[at] ?? []).map((value, index) => (value ?? 0) + (below?.[index] ?? 0));
    }
  }
  return [[...times], ...columns];
}

function optionsOf(
  element: HTMLElement,
  props: ChartProps,
  onRange: (from: number, to: number) => void,
): uPlot.Options {
  const { series, isStacked, format, times } = props;
  const text = colorOf(element, 'muted');
  const grid = { stroke: colorOf(element, 'border-text'), width: 1 };
  const bars = uPlot.paths.bars?.({ size: [0.8, 60] });
  const step = times.length > 1 ? (times[1] ?? 0) - (times[0] ?? 0) : 3_600;
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: !isStacked } },
    scales: {
      // The range is given, because uPlot shows two years around a single time.
      x: { time: true, range: (_, min) => [min - step * 0.6, (times.at(-1) ?? min) + step * 0.6] },
      y: { range: (_, min, max) => [Math.min(0, min * 1.08), max > 0 ? max * 1.08 : min < 0 ? 0 : 1] },
    },
    ...(zone.value === 'utc' ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
    axes: [
      {
        stroke: text,
        grid: { show: false },
        ticks: grid,
        values: (_, splits, __, ___, apart) => momentsOf(splits, apart),
      },
      {
        stroke: text,
        grid,
        ticks: { show: false },
        size: (_, labels) => 16 + CHARACTER_PX * Math.max(6, ...(labels ?? []).map(({ length }) => length)),
        values: (_, values) => values.map(format),
      },
    ],
    series: [
      {},
      ...series.map((_, at) => {
        const color = colorOf(element, `hue-series-${at % 8}`);
        return isStacked && bars !== undefined
          ? { fill: color, width: 0, paths: bars, points: { show: false } }
          : { stroke: color, width: 2, spanGaps: props.joinsGaps ?? true };
      }),
    ],
    hooks: {
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < 4) return;
          onRange(chart.posToVal(left, 'x') * 1000, chart.posToVal(left + width, 'x') * 1000);
        },
      ],
    },
  };
}

/** Times as everywhere on the page. The date is below the first label of each day. `apart`: seconds between labels. */
function momentsOf(seconds: readonly number[], apart: number): string[] {
  let before = '';
  return seconds.map((each) => {
    const [date = '', time = ''] = dateTime(each * 1_000, false).split(' ');
    const isNew = apart < DAY_S ? date !== before : date.slice(0, 4) !== before.slice(0, 4);
    before = date;
    if (apart >= DAY_S) return isNew ? `${date.slice(5)}\n${date.slice(0, 4)}` : date.slice(5);
    const label = apart < 60 ? time : time.slice(0, 5);
    return isNew ? `${label}\n${date.slice(5)}` : label;
  });
}

/** The colour that the style sheet gives to a class in the present theme. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
