/** The state of the daemon, for admins: why nothing arrives, and what waits. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RefusalShape, StatusShape } from '../../api/management-shapes.ts';
import { useNow, useAnswer } from '../data/resource.ts';
import { Name, Part } from '../parts/basics.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Loaded, NoRight } from '../parts/states.tsx';
import { may } from '../state/session.ts';
import { age, bytes, exactly, plural } from '../text/figures.ts';
import { dateTime } from '../text/time.ts';

const RENEW_MS = 5_000;

export function StatusPage(): JSX.Element {
  const isAdmin = may('admin');
  const status = useAnswer<StatusShape>(isAdmin ? '/status' : null);
  useEffect(() => {
    const timer = setInterval(status.reload, RENEW_MS);
    return () => clearInterval(timer);
  }, []);
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
  return (
    <>
      <dl class="tiles">
        <div>
          <dt>ready</dt>
          <dd class={data.ready ? 'good-text' : 'bad-text'}>{data.ready ? 'yes' : 'no'}</dd>
        </div>
        <div>
          <dt>running for</dt>
          <dd>{age(now - Date.parse(data.started_at))}</dd>
        </div>
        <div>
          <dt>version</dt>
          <dd>{data.version}</dd>
        </div>
        <div>
          <dt>workers</dt>
          <dd>{data.workers === 0 ? 'none' : exactly(data.workers)}</dd>
        </div>
      </dl>
      {data.problems.map((problem) => (
        <p class="failure" key={problem} role="alert">
          {problem}
        </p>
      ))}
      <Signals daemon={data.daemon} />
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
      <Part title="Migrations">
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
      </Part>
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

/** Stored and refused requests by signal, as the daemon counts them. */
function Signals({ daemon }: { daemon: StatusShape['daemon'] }): JSX.Element | null {
  const signals = Object.entries(
    (daemon?.['signals'] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  );
  if (signals.length === 0) return null;
  return (
    <Part title="Records since the start">
      <DataTable label="Records since the start" columns={['Signal', 'Stored', 'Refused']} numbersFrom={1}>
        {signals.map(([signal, { stored, refused }]) => (
          <tr key={signal}>
            <th scope="row">{signal}</th>
            <td class="number">{exactly(Number(stored ?? 0))}</td>
            <td class={`number ${Number(refused ?? 0) > 0 ? 'bad-text' : ''}`}>{exactly(Number(refused ?? 0))}</td>
          </tr>
        ))}
      </DataTable>
    </Part>
  );
}

function RefusalRow({ refusal }: { refusal: RefusalShape }): JSX.Element {
  const { time, code, message, signal, project, key, bytes: size, address } = refusal;
  return (
    <tr>
      <td class="moment">{dateTime(Date.parse(time))}</td>
      <td>
        <code>{code}</code>
      </td>
      <td class="whole-text">{message}</td>
      <td>{signal ?? '–'}</td>
      <td>{project === null ? '–' : <Name text={project} />}</td>
      <td>{key === null ? '–' : <Name text={key} />}</td>
      <td class="number">{bytes(size)}</td>
      <td>{address ?? '–'}</td>
    </tr>
  );
}
