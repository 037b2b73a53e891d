/** One metric over time. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { MetricSeries, MetricSeriesAnswer } from '../../../api/shapes/metrics.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Name } from '../../parts/basics.tsx';
import { ChartFigure } from '../../parts/chart-figure.tsx';
import { Choice } from '../../parts/choice.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Nothing } from '../../parts/nothing.tsx';
import { Archived } from '../../parts/search.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useAsked } from '../../state/asked.ts';
import { parameter } from '../../state/location.ts';
import { seesContent } from '../../state/session.ts';
import { exactly, plural } from '../../text/figures.ts';
import { dateTime, msOf, shortTime, UNIT_MS } from '../../text/time.ts';
import { visible } from '../../text/visible.ts';
import { MEASURES, type Measure, formatOf, nameOf } from './measures.ts';

/** Lines of the chart; the table has all series. */
const CHARTED = 8;

export function MetricView({ project, name }: { project: string; name: string }): JSX.Element {
  const { range } = useAsked(project);
  const by = parameter('by');
  const metric = useAnswer<MetricSeriesAnswer>(projectPath(project, 'metrics', 'series'), { ...range, name, by });
  return (
    <div class="metric-view">
      <Loaded of={metric}>{(data) => <Metric metric={data} />}</Loaded>
    </div>
  );
}

function Metric({ metric }: { metric: MetricSeriesAnswer }): JSX.Element {
  const { form, unit, series } = metric;
  const measure = MEASURES[form].find(({ id }) => id === parameter('measure')) ?? MEASURES[form][0];
  const facts = [
    metric.type?.replace('_', ' ') ?? 'unknown',
    metric.is_monotonic === true ? 'monotonic' : null,
    metric.temporality,
    unit === null || unit === '' ? null : `in ${unit}`,
  ];
  return (
    <>
      <h2>
        <Name text={metric.name} />
      </h2>
      <p class="muted">{visible(facts.filter((fact) => fact !== null).join(', '))}</p>
      {metric.description === null || metric.description === '' ? null : <p>{visible(metric.description)}</p>}
      <div class="choices">
        <Choice
          label="Show"
          name="measure"
          value={measure.id}
          options={MEASURES[form].map(({ id, name }) => [id, name])}
        />
        <Choice label="By" name="by" value={metric.by} options={groupsOf(metric)} />
      </div>
      {series.length === 0 ? <NoPoint metric={metric} /> : <Series metric={metric} measure={measure} />}
      <Examined metric={metric} />
      <Archived before={metric.complete_from ?? null} unread={metric.unread ?? null} />
    </>
  );
}

const groupsOf = ({ attribute_names: names }: MetricSeriesAnswer): readonly (readonly [string, string])[] => [
  ['', 'every series'],
  ['none', 'all together'],
  ['service', 'service'],
  ['env', 'environment'],
  ...names.map((name) => [`attr.${name}`, name] as const),
];

function NoPoint({ metric }: { metric: MetricSeriesAnswer }): JSX.Element {
  const last = metric.last_time_unix_nano;
  return (
    <Empty>
      <Nothing title="No point in this range" q={null}>
        {last === null ? null : <p>The newest one is of {dateTime(msOf(last), false)}.</p>}
      </Nothing>
    </Empty>
  );
}

function Series({ metric, measure }: { metric: MetricSeriesAnswer; measure: Measure }): JSX.Element {
  const format = formatOf(measure, metric.unit);
  const { times, rows } = useMemo(() => columnsOf(metric, measure), [metric, measure]);
  const charted = rows.slice(0, CHARTED);
  return (
    <>
      <ChartFigure
        times={times}
        series={charted}
        isStacked={false}
        joinsGaps={false}
        format={format}
        label={`${measure.name} over time; the table below has the series`}
      />
      <DataTable
        label="Series"
        columns={[
          'Series',
          'Last',
          'Least',
          'Most',
          measure.isSum && measure.perSecond !== true ? 'Total' : 'Mean',
          'Points',
        ]}
        numbersFrom={1}
      >
        {rows.map(({ name, values }, at) => {
          const known = values.filter((value) => value !== null);
          const total = known.reduce((sum, value) => sum + value, 0);
          const figures =
            known.length === 0
              ? [null, null, null, null]
              : [
                  known.at(-1) ?? null,
                  known.reduce((a, b) => Math.min(a, b)),
                  known.reduce((a, b) => Math.max(a, b)),
                  measure.isSum && measure.perSecond !== true ? total : total / known.length,
                ];
          return (
            <tr key={at}>
              <th scope="row">
                <span class="series-name">
                  {at < CHARTED ? (
                    <i class={`hue-series-${at % 8}`} aria-hidden="true">
                      ■
                    </i>
                  ) : null}
                  <Name text={name} />
                </span>
              </th>
              {figures.map((value, column) => (
                <td key={column} class="number">
                  {format(value)}
                </td>
              ))}
              <td class="number">{exactly(known.length)}</td>
            </tr>
          );
        })}
      </DataTable>
    </>
  );
}

/** A time without a point is a gap. */
function columnsOf(metric: MetricSeriesAnswer, measure: Measure) {
  const starts = [...new Set(metric.series.flatMap(({ points }) => points.map(([time]) => msOf(time))))].sort(
    (a, b) => a - b,
  );
  const step = stepOf(metric.interval);
  const first = starts[0] ?? 0;
  const length = starts.length === 0 ? 0 : Math.round(((starts.at(-1) ?? first) - first) / step) + 1;
  const times = Array.from({ length }, (_, at) => (first + at * step) / 1_000);
  const rows = metric.series.map(({ key, points }: MetricSeries) => {
    const values: (number | null)[] = Array.from({ length }, () => null);
    for (const point of points) values[Math.round((msOf(point[0]) - first) / step)] = measure.of(point, step / 1_000);
    return { name: nameOf(key), values };
  });
  return { times, rows };
}

const stepOf = (interval: string): number => Number.parseInt(interval, 10) * (UNIT_MS[interval.at(-1) ?? ''] ?? 1_000);

function Examined({ metric }: { metric: MetricSeriesAnswer }): JSX.Element {
  const { points_examined: examined, reached, cut, resets, series_count: count, series, interval } = metric;
  const parts = [
    `${plural(examined, 'stored point')} looked at`,
    cut && reached !== null ? `only back to ${shortTime(msOf(reached))}: choose a shorter range` : null,
    `one value each ${interval}`,
    count > series.length ? `${exactly(series.length)} of ${exactly(count)} series` : null,
    resets > 0 ? `counters restarted ${plural(resets, 'time')}` : null,
    seesContent.value ? null : 'attributes are not shown to you',
  ];
  return <p class="muted">{parts.filter((part) => part !== null).join(' · ')}</p>;
}
