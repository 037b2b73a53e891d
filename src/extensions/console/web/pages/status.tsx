/** The state of the daemon, for admins: why nothing arrives, and what waits. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RefusalShape, StatusShape } from '../../api/shapes/management.ts';
import { commitMs, type Reading, readingOf, START, useRecent } from '../data/recent-counts.ts';
import { useAnswer, useInterval, useNow } from '../data/resource.ts';
import { Name, Pair, Part } from '../parts/basics.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Loaded, NoRight } from '../parts/states.tsx';
import { may } from '../state/session.ts';
import { age, bytes, exactly, plural, tookMs } from '../text/figures.ts';
import { dateTime } from '../text/time.ts';
import { visible } from '../text/visible.ts';

const RENEW_MS = 5_000;

export function StatusPage(): JSX.Element {
  const isAdmin = may('admin');
  const status = useAnswer<StatusShape>(isAdmin ? '/status' : null);
  useInterval(status.renew, RENEW_MS);
  if (!isAdmin) return <NoRight what="The state of the daemon is for admins." hint={null} />;
  return (
    <div class="narrow-page wide">
      <h1>Status</h1>
      <Loaded of={status}>{(data) => <Status data={data} />}</Loaded>
    </div>
  );
}

function Status({ data }: { data: StatusShape }): JSX.Element {
  const now = useNow(1_000);
  const recent = useRecent(useMemo(() => readingOf(data.daemon), [data]));
  return (
    <>
      <dl class="tiles">
        <div>
          <dt>ready</dt>
          <dd class={data.ready ? 'good-text' : 'bad-text'}>{data.ready ? 'yes' : 'no'}</dd>
        </div>
        <Pair name="running for">{age(now - Date.parse(data.started_at))}</Pair>
        <Pair name="version">{data.version}</Pair>
        <Pair name="workers">{data.workers === 0 ? 'none' : exactly(data.workers)}</Pair>
        {recent === null ? null : <CommitTime {...recent} />}
      </dl>
      {data.problems.map((problem) => (
        <p class="failure" key={problem} role="alert">
          {problem}
        </p>
      ))}
      {recent === null ? null : <Signals {...recent} />}
      <Refusals data={data} />
      <Part title="Forwarding">
        {data.outbox.length === 0 ? <p class="muted">Nothing is forwarded.</p> : null}
        {data.outbox.map(({ destination, waiting, waiting_bytes: size, dead }) => (
          <p key={destination}>
            <Name text={destination} />: {plural(waiting, 'request')} waiting ({bytes(size)}),{' '}
            <span class={dead > 0 ? 'bad-text' : ''}>{exactly(dead)} given up</span>
          </p>
        ))}
      </Part>
      <details class="part">
        <summary>{plural(data.migrations.length, 'migration')} of the database</summary>
        <DataTable label="Migrations" columns={['Name', 'Applied']}>
          {data.migrations.map(({ name, applied_at: applied }) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
              </td>
              <td>{dateTime(Date.parse(applied), false)}</td>
            </tr>
          ))}
        </DataTable>
      </details>
    </>
  );
}

function Refusals({ data }: { data: StatusShape }): JSX.Element {
  const { refusals } = data;
  const codes = countsOf(data);
  return (
    <Part title="Refused requests">
      {codes.length === 0 ? <p class="muted">None since the start.</p> : null}
      <p class="chip-line">
        {codes.map(([code, times]) => (
          <span class="chip" key={code}>
            {code} ×{exactly(times)}
          </span>
        ))}
      </p>
      {refusals === null ? (
        <p class="muted">The log of the daemon has a line for each refused request.</p>
      ) : refusals.length === 0 ? null : (
        <DataTable
          label="Refused requests"
          columns={['Time', 'Code', 'Message', 'Signal', 'Project', 'Key', 'Bytes', 'From']}
        >
          {refusals.map((refusal, at) => (
            <RefusalRow key={at} refusal={refusal} />
          ))}
        </DataTable>
      )}
    </Part>
  );
}

/** Refusals by code: of the single ones, else as the daemon counts them. */
function countsOf({ daemon, refusals }: StatusShape): readonly (readonly [string, number])[] {
  if (refusals === null) {
    const counted = Object.entries((daemon?.['refusals'] ?? {}) as Readonly<Record<string, unknown>>);
    return counted.flatMap(([code, times]) => (typeof times === 'number' ? [[code, times] as const] : []));
  }
  const codes = new Map<string, number>();
  for (const { code } of refusals) codes.set(code, (codes.get(code) ?? 0) + 1);
  return [...codes];
}

interface Recent {
  readonly before: Reading;
  readonly latest: Reading;
}

/** The time of commits in the last minute, or since the start when it had none. */
function CommitTime({ before, latest }: Recent): JSX.Element {
  const from = commitMs(before, latest, 1) === null ? START : before;
  return (
    <div title={`Median time of a commit, ${periodOf(from, latest)}`}>
      <dt>commit time</dt>
      <dd>{tookMs(commitMs(from, latest, 0.5))}</dd>
      <dd>p99 {tookMs(commitMs(from, latest, 0.99))}</dd>
    </div>
  );
}

/** Stored and refused records by signal, as the daemon counts them. */
function Signals({ before, latest }: Recent): JSX.Element | null {
  const signals = Object.entries(latest.signals);
  if (signals.length === 0) return null;
  const seconds = Math.max(1, latest.uptimeSeconds - before.uptimeSeconds);
  const perSecond = (now: number, then = 0): string => (Math.max(0, now - then) / seconds).toFixed(1);
  return (
    <Part title="Records">
      <p class="muted">Since the start of the daemon, and the rate {periodOf(before, latest)}.</p>
      <DataTable label="Records" columns={['Signal', 'Stored', 'Stored/s', 'Refused', 'Refused/s']} numbersFrom={1}>
        {signals.map(([signal, { stored, refused }]) => (
          <tr key={signal}>
            <th scope="row">{signal}</th>
            <td class="number">{exactly(stored)}</td>
            <td class="number">{perSecond(stored, before.signals[signal]?.stored)}</td>
            <td class={`number ${refused > 0 ? 'bad-text' : ''}`}>{exactly(refused)}</td>
            <td class="number">{perSecond(refused, before.signals[signal]?.refused)}</td>
          </tr>
        ))}
      </DataTable>
    </Part>
  );
}

const periodOf = (before: Reading, latest: Reading): string =>
  before.uptimeSeconds === 0 ? 'since the start' : `of the last ${latest.uptimeSeconds - before.uptimeSeconds} s`;

function RefusalRow({ refusal }: { refusal: RefusalShape }): JSX.Element {
  const { time, code, message, cause, signal, project, key, bytes: size, address } = refusal;
  return (
    <tr>
      <td class="moment">{dateTime(Date.parse(time))}</td>
      <td>
        <code>{code}</code>
      </td>
      <td class="whole-text">
        {message}
        {cause && <div class="muted">{visible(cause)}</div>}
      </td>
      <td>{signal ?? '–'}</td>
      <td>{project === null ? '–' : <Name text={project} />}</td>
      <td>{key === null ? '–' : <Name text={key} />}</td>
      <td class="number">{bytes(size)}</td>
      <td>{address ?? '–'}</td>
    </tr>
  );
}
