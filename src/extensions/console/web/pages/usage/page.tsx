/** Model usage over a range: a chart, and a table with shares and changes. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Usage, UsageFigures, UsageSeries } from '../../../api/shapes/usage.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, Link, Name } from '../../parts/basics.tsx';
import { ChartFigure } from '../../parts/chart-figure.tsx';
import { Choice } from '../../parts/choice.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Nothing } from '../../parts/nothing.tsx';
import { Archived, ArchivedOffer, Incomplete } from '../../parts/search.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { pageHref, parameter, route } from '../../state/location.ts';
import { exactly, plural } from '../../text/figures.ts';
import { dateTime, msOf, rangeOf } from '../../text/time.ts';
import { withTerm } from '../../text/filter-text.ts';
import { csvCell, fileName } from '../../text/visible.ts';
import { download } from '../trace/header.tsx';
import { type Asked, useAsked } from '../../state/asked.ts';
import { COST, GROUPS, MEASURES, type Measure, intervalOf, msOfInterval, nameOf, termsOf } from './measures.ts';

/** Further groups are one series of the chart. */
const CHARTED = 7;
/** Columns of every table, by the ids of their measures. The chosen measure is the first column and not repeated. */
const COLUMNS: readonly (readonly [id: string, name: string])[] = [
  ['calls', 'Calls'],
  ['input', 'Input'],
  ['cached', 'Cached'],
  ['output', 'Output'],
  ['cost', 'Cost'],
  ['errors', 'Errors'],
  ['p95', 'p95'],
];

const TILES: readonly (readonly [id: string, name: string])[] = [
  ['cost', 'cost'],
  ['calls', 'calls'],
  ['input', 'tokens in'],
  ['output', 'tokens out'],
  ['errors', 'errors'],
  ['p95', 'p95'],
];

const measureOf = (id: string | null) => MEASURES.find((each) => each.id === id);

export function UsagePage({ project }: { project: string }): JSX.Element {
  const asked = useAsked(project);
  const group = GROUPS.find(([id]) => id === parameter('group'))?.[0] ?? 'model';
  const measure = measureOf(parameter('measure')) ?? COST;
  const { fromMs, toMs } = rangeOf(parameter('from'), parameter('to'), Date.now());
  const interval = intervalOf(toMs - fromMs);
  // Another range is read without its archived days, which take seconds.
  const [counted, setCounted] = useState<Asked | null>(null);
  const isCounted = counted === asked;
  const archived = isCounted ? 'true' : null;
  const usage = useAnswer<Usage>(projectPath(project, 'usage'), { ...asked.query, group, interval, archived });
  const rest = (data: Usage): JSX.Element | null => {
    const [before, unread] = [data.complete_from ?? null, data.unread ?? null];
    if (unread !== null) return <Incomplete before={before} unread={unread} again={usage.reload} />;
    if (isCounted && !usage.stale && usage.error === null) return <Archived before={before} unread={null} />;
    return (
      <ArchivedOffer
        before={before}
        words={['counted', 'Count them', 'Counting archived days …']}
        isReading={usage.loading}
        read={() => (isCounted ? usage.reload() : setCounted(asked))}
      />
    );
  };
  return (
    <div class="usage-page">
      <h1 class="quiet">Usage</h1>
      <div class="choices">
        <Choice
          label="Measure"
          name="measure"
          value={measure.id}
          options={MEASURES.map(({ id, name }) => [id, name])}
        />
        <Choice label="By" name="group" value={group} options={GROUPS} />
        {usage.data === null || usage.data.series.length === 0 ? null : <CsvButton usage={usage.data} />}
      </div>
      <Loaded of={usage}>
        {(data) =>
          data.series.length === 0 ? (
            <Empty>
              <Nothing title="No model call in this range" q={asked.q} />
              {rest(data)}
            </Empty>
          ) : (
            <>
              <Totals usage={data} />
              <UsageChart usage={data} measure={measure} />
              <UsageTable usage={data} measure={measure} />
              <p class="muted">
                As of {dateTime(Date.parse(data.as_of), false)}; {plural(data.calls_examined, 'call')} looked at.
                {interval === '24h' ? ' A bar is a day in UTC.' : ''}
              </p>
              {rest(data)}
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Totals({ usage }: { usage: Usage }): JSX.Element {
  const { total, before } = usage;
  return (
    <dl class="tiles">
      {TILES.map(([id, name]) => {
        const measure = measureOf(id);
        return measure === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={measure.exact?.(total)}>{measure.format(measure.value(total))}</dd>
            <dd class="muted">{changeOf(measure.value(total), measure.value(before))}</dd>
          </div>
        );
      })}
      {/* Otherwise users that only a span above the call names are left out. */}
      {usage.group !== 'user' ? null : (
        <div>
          <dt>users</dt>
          <dd>{exactly(total.user_count)}</dd>
          <dd class="muted">{changeOf(total.user_count, before.user_count)}</dd>
        </div>
      )}
      {total.unpriced_count > 0 ? (
        <div class="warn">
          <dt>no price</dt>
          <dd>{exactly(total.unpriced_count)}</dd>
          <dd>
            <Link href={tracesHref(['unpriced'])}>show</Link>
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

/** The traces behind a figure, which also meet the filter of the page. */
const tracesHref = (terms: readonly string[]): string =>
  pageHref('traces', null, { q: terms.reduce(withTerm, parameter('q') ?? '') });

/** The change against the same length of time before. */
function changeOf(now: number | null, before: number | null): string {
  if (now === null || before === null || before === 0) return ' ';
  const percent = Math.round((100 * (now - before)) / before);
  return `${percent >= 0 ? '+' : '−'}${exactly(Math.abs(percent))} %`;
}

interface ViewProps {
  readonly usage: Usage;
  readonly measure: Measure;
}

function UsageChart({ usage, measure }: ViewProps): JSX.Element {
  const { times, series } = useMemo(() => columnsOf(usage, measure), [usage, measure]);
  return (
    <ChartFigure
      times={times}
      series={series}
      isStacked={measure.isSum}
      format={measure.format}
      label={`${measure.name} over time; the table below has the sums`}
    />
  );
}

function columnsOf(usage: Usage, measure: Measure) {
  const step = msOfInterval(usage.interval);
  const first = Math.floor(msOf(usage.from) / step) * step;
  const length = Math.max(1, Math.ceil((msOf(usage.to) - first) / step));
  const times = Array.from({ length }, (_, at) => (first + at * step) / 1000);
  const empty = (): (number | null)[] => Array.from({ length }, () => null);
  const put = (values: (number | null)[], series: UsageSeries): void => {
    for (const [start, figures] of series.points) {
      const at = Math.round((msOf(start) - first) / step);
      const value = measure.value(figures);
      if (value !== null && at >= 0 && at < length) values[at] = (values[at] ?? 0) + value;
    }
  };
  const charted = usage.series.slice(0, CHARTED).map((series) => {
    const values = empty();
    put(values, series);
    return { name: nameOf(series.key), values };
  });
  const rest = usage.series.slice(CHARTED);
  if (rest.length > 0 && measure.isSum) {
    const values = empty();
    for (const series of rest) put(values, series);
    charted.push({ name: 'all others', values });
  }
  return { times, series: charted };
}

function UsageTable({ usage, measure }: ViewProps): JSX.Element {
  const total = measure.value(usage.total);
  return (
    <DataTable
      label="Usage by group"
      columns={[
        'Group',
        measure.name,
        ...(measure.isSum ? ['Share'] : []),
        'Change',
        ...besides(measure).map(([, name]) => name),
      ]}
      numbersFrom={1}
    >
      {usage.series.map((series) => (
        <UsageRow key={JSON.stringify(series.key)} series={series} measure={measure} total={total} />
      ))}
    </DataTable>
  );
}

const besides = (measure: Measure) => COLUMNS.filter(([id]) => id !== measure.id);

function UsageRow({
  series,
  measure,
  total,
}: {
  series: UsageSeries;
  measure: Measure;
  total: number | null;
}): JSX.Element {
  const { key, total: own, before } = series;
  const value = measure.value(own);
  const terms = termsOf(key);
  const share = measure.isSum && value !== null && total !== null && total > 0 ? value / total : null;
  return (
    <tr>
      <th scope="row">
        {terms.length === 0 ? (
          <Name text={nameOf(key)} />
        ) : (
          <Link href={tracesHref(terms)}>
            <Name text={nameOf(key)} />
          </Link>
        )}
        {key.provider != null && key.model !== undefined ? (
          <span class="muted">
            {' '}
            <Name text={key.provider} />
          </span>
        ) : null}
      </th>
      <UsageCell id={measure.id} figures={own} />
      {measure.isSum ? (
        <td class="number share">
          {share === null ? '' : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`}
          {share === null ? null : (
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${100 * share}%` }} />
            </span>
          )}
        </td>
      ) : null}
      <td class="number">{before === null ? 'new' : changeOf(value, measure.value(before))}</td>
      {besides(measure).map(([id]) => (
        <UsageCell key={id} id={id} figures={own} />
      ))}
    </tr>
  );
}

function UsageCell({ id, figures }: { id: string; figures: UsageFigures }): JSX.Element {
  const measure = measureOf(id);
  const { unpriced_count: unpriced, error_count: errors } = figures;
  return (
    <td class={`number ${id === 'errors' && errors > 0 ? 'bad-text' : ''}`} title={measure?.exact?.(figures)}>
      {measure?.format(measure.value(figures))}
      {id === 'cost' && unpriced > 0 ? (
        <Link class="warn without-price" href={pageHref('project')} title="Model prices of the project">
          {exactly(unpriced)} without a price
        </Link>
      ) : null}
    </td>
  );
}

function CsvButton({ usage }: { usage: Usage }): JSX.Element {
  const save = (): void => {
    const names: readonly (keyof UsageFigures)[] = [
      'call_count',
      'input_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
      'output_tokens',
      'reasoning_tokens',
      'total_cost',
      'unpriced_count',
      'error_count',
      'p50_ms',
      'p95_ms',
      'ttft_ms',
    ];
    const keys = [...new Set(usage.series.flatMap(({ key }) => Object.keys(key)))].filter(
      (key) => key !== 'other',
    ) as (keyof Usage['series'][number]['key'])[];
    const lines = usage.series.map(({ key, total }) =>
      [...keys.map((name) => csvCell(String(key[name] ?? ''))), ...names.map((name) => csvCell(total[name]))].join(','),
    );
    const text = [[...keys, ...names].join(','), ...lines, ''].join('\r\n');
    const name = fileName(`usage-${route.value.project ?? ''}-${usage.group}`);
    download(new Blob([text], { type: 'text/csv' }), `${name}.csv`);
  };
  return (
    <Button icon="download" onClick={save}>
      CSV
    </Button>
  );
}
