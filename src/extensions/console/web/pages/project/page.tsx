/** The settings of a project: keys, read tokens, environments, quota, retention, prices. */
import type { JSX } from 'preact';
import type { ProjectShape, RetentionShape } from '../../../api/shapes/management.ts';
import { DAY_S } from '../../../../../pdata/time-units.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Name, Pair, Part } from '../../parts/basics.tsx';
import { Loaded } from '../../parts/states.tsx';
import { may } from '../../state/session.ts';
import { exactly, plural } from '../../text/figures.ts';
import { dateTime, msOf } from '../../text/time.ts';
import { Environments } from './environments.tsx';
import { NewProject, People } from './people.tsx';
import { Keys } from './keys.tsx';
import { Prices } from './prices.tsx';
import { Tokens } from './tokens.tsx';

export function ProjectPage({ project }: { project: string }): JSX.Element {
  return (
    <div class="narrow-page" key={project}>
      <h1>
        <Name text={project} />
      </h1>
      <Facts project={project} />
      {may('editor') ? (
        <Keys project={project} />
      ) : (
        <Part title="API keys">
          <p class="muted">Ask an editor or an admin for an API key.</p>
        </Part>
      )}
      {may('editor') ? <Tokens project={project} /> : null}
      <Environments project={project} />
      <Prices project={project} />
      {may('admin') ? <People project={project} /> : null}
      {may('admin') ? <NewProject /> : null}
    </div>
  );
}

function Facts({ project }: { project: string }): JSX.Element {
  const projects = useAnswer<{ items: readonly ProjectShape[] }>('/projects');
  const retention = useAnswer<RetentionShape>(projectPath(project, 'retention'));
  return (
    <Loaded of={projects}>
      {({ items }) => {
        const own = items.find(({ name }) => name === project);
        if (own === undefined) return null;
        const { monthly_spans: quota, spans_this_month: used, newest_trace_unix_nano: newest } = own;
        return (
          <dl class="pairs">
            {own.created_at === null ? null : <Pair name="plan">{own.plan}</Pair>}
            <Pair name="spans this month">
              {exactly(used)}
              {quota === null ? ', no limit' : ` of ${exactly(quota)}`}
              {quota === null || quota === 0 ? null : (
                <meter min={0} max={quota} value={used} aria-label="spans used" />
              )}
            </Pair>
            <Pair name="newest trace">{newest === null ? 'none yet' : dateTime(msOf(newest), false)}</Pair>
            <Kept retention={retention.data} />
            <Pair name="created">
              {own.created_at === null ? 'by keys of the configuration' : dateTime(Date.parse(own.created_at), false)}
            </Pair>
          </dl>
        );
      }}
    </Loaded>
  );
}

/** How long records are kept, as configured. */
function Kept({ retention }: { retention: RetentionShape | null }): JSX.Element | null {
  if (retention === null) return null;
  const { spans_seconds: spans, logs_seconds: logs, metrics_seconds: metrics, archived } = retention;
  const { oldest_trace_unix_nano: oldest } = retention;
  if (spans === null || logs === null || metrics === null) return null;
  return (
    <Pair name="kept">
      spans {period(spans)}, logs {period(logs)}, metrics {period(metrics)}
      {archived ? ', then in the archive' : ''}
      {oldest === null ? '' : `; the oldest trace is of ${dateTime(msOf(oldest), false)}`}
    </Pair>
  );
}

const period = (seconds: number): string =>
  seconds % DAY_S === 0 ? plural(seconds / DAY_S, 'day') : plural(Math.round(seconds / 3600), 'hour');
