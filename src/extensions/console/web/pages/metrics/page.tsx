/** Metrics: their names, and one of them over time. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { MetricName, MetricNames } from '../../../api/shapes/metrics.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Link, Name } from '../../parts/basics.tsx';
import { FindInput } from '../../parts/find-input.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useKeys } from '../../state/keys.ts';
import { hrefWith, open, parameter } from '../../state/location.ts';
import { exactly } from '../../text/figures.ts';
import { MetricView } from './view.tsx';

const SHOWN = 200;

export function MetricsPage({ project }: { project: string }): JSX.Element {
  const names = useAnswer<MetricNames>(projectPath(project, 'metrics'));
  return (
    <div class="metrics-page">
      <h1 class="hidden-title">Metrics</h1>
      <Loaded of={names}>
        {({ items, more }) =>
          items.length === 0 ? (
            <Empty>
              <h2>No metric yet</h2>
              <p>
                SDKs send metrics to the same endpoint, with the same API key: set{' '}
                <code>OTEL_METRICS_EXPORTER=otlp</code>.
              </p>
            </Empty>
          ) : (
            <Metrics project={project} items={items} more={more} />
          )
        }
      </Loaded>
    </div>
  );
}

interface MetricsProps {
  readonly project: string;
  readonly items: readonly MetricName[];
  readonly more: boolean;
}

/** The measure and the grouping of one metric do not apply to another one. */
const hrefOf = (name: string): string => hrefWith({ name, measure: null, by: null });

function Metrics({ project, items, more }: MetricsProps): JSX.Element {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = wanted === '' ? items : items.filter(({ name }) => name.toLowerCase().includes(wanted));
  const current = parameter('name') ?? items[0]?.name ?? '';
  const step = (by: 1 | -1) => (): void => {
    const next = found[found.findIndex(({ name }) => name === current) + by];
    if (next !== undefined) open(hrefOf(next.name), true);
  };
  useKeys({ j: step(1), k: step(-1), ArrowDown: step(1), ArrowUp: step(-1) });
  return (
    <div class="list-body">
      <nav class="facets metric-names" aria-label="Metrics">
        <FindInput label="Find a metric" placeholder="find" text={text} setText={setText} />
        {found.slice(0, SHOWN).map(({ name, type, unit }) => (
          <Link key={name} href={hrefOf(name)} current={name === current}>
            <Name text={name} />
            <span class="muted">
              {KINDS[type] ?? type}
              {unit === null || unit === '' ? '' : `, ${unit}`}
            </span>
          </Link>
        ))}
        {found.length > SHOWN ? <p class="muted">{exactly(found.length - SHOWN)} more: find them by name</p> : null}
        {more ? <p class="muted">Only the first {exactly(items.length)} names are listed.</p> : null}
      </nav>
      <MetricView key={current} project={project} name={current} />
    </div>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  gauge: 'gauge',
  sum: 'sum',
  histogram: 'histogram',
  exponential_histogram: 'exponential histogram',
  summary: 'summary',
};
