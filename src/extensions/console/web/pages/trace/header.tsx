/** What a trace is, in one line of figures, and what can be done with it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TraceHeader } from '../../../api/shapes/traces.ts';
import { copyText } from '../../data/clipboard.ts';
import { useChanges } from '../../data/change.ts';
import { curlOf, projectPath, request, urlOf } from '../../data/api.ts';
import { Button, CopyButton, Fact, Link, Name } from '../../parts/basics.tsx';
import { DeleteTraces } from '../../parts/delete-traces.tsx';
import { Menu } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Problem } from '../../parts/states.tsx';
import { open, pageHref } from '../../state/location.ts';
import { may, seesContent } from '../../state/session.ts';
import { cost, exactly, exactTokens, plural, tokensOf, took } from '../../text/figures.ts';
import { termOf } from '../../text/filter-text.ts';
import { dateTime, msOf, zoneName } from '../../text/time.ts';
import { fileName } from '../../text/visible.ts';

const AROUND_MS = 3_600_000;

export function Header({ header }: { header: TraceHeader }): JSX.Element {
  const start = header.start_time_unix_nano;
  const { problem, change } = useChanges();
  return (
    <header class="trace-header">
      <div class="trace-title">
        <h1>
          {header.complete ? null : <span class="muted">… </span>}
          <Name text={header.name ?? 'log records only'} />
        </h1>
        <code class="id">{header.trace_id}</code>
        <CopyButton text={header.trace_id} label="Copy the trace id" />
        <span class="stretch" />
        <Actions header={header} change={change} />
      </div>
      <Problem text={problem} />
      {header.complete ? null : <p class="notice">The root span is not here yet.</p>}
      <dl class="facts">
        <Fact name="start">{start === null ? '–' : `${dateTime(msOf(start))} ${zoneName(msOf(start))}`}</Fact>
        <Fact name="took">{took(header.duration_ns)}</Fact>
        <Fact name="environment">
          <Name text={header.environment} />
        </Fact>
        <Fact name="spans">{exactly(header.span_count)}</Fact>
        <Fact name="model calls">{exactly(header.model_call_count)}</Fact>
        <Fact name="tokens" title={exactTokens(header)}>
          {tokensOf(header)}
        </Fact>
        <Cost header={header} />
        <Fact name="errors">
          <span class={header.error_count > 0 ? 'bad-text' : ''}>{exactly(header.error_count)}</span>
        </Fact>
        <Fact name="logs">
          {header.log_count === 0 ? '0' : <Link href={logsHref(header)}>{exactly(header.log_count)}</Link>}
        </Fact>
        {header.user_id === null ? null : (
          <Fact name="user">
            <Link href={pageHref('traces', null, { q: termOf('user', header.user_id) })}>
              <Name text={header.user_id} />
            </Link>
          </Fact>
        )}
        {header.conversation_id === null ? null : (
          <Fact name="conversation">
            <Link href={pageHref('conversations', header.conversation_id)}>
              <Name text={header.conversation_id} />
            </Link>
          </Fact>
        )}
      </dl>
    </header>
  );
}

/** Log records may be from a while before and after the spans. */
function logsHref(header: TraceHeader): string {
  const { start_time_unix_nano: start, duration_ns: took } = header;
  const from = start === null ? Date.parse(header.created_at) : msOf(start);
  const to =
    start === null || took === null ? Date.parse(header.created_at) : msOf(String(BigInt(start) + BigInt(took)));
  const range = { from: String(from - AROUND_MS), to: String(to + AROUND_MS) };
  return pageHref('logs', null, { q: termOf('trace', header.trace_id), ...range });
}

function Cost({ header }: { header: TraceHeader }): JSX.Element {
  const parts = header.models.map(({ model, total_cost }) => `${model ?? 'no model'}: ${cost(total_cost)}`);
  return (
    <Fact name="cost">
      <span title={parts.join('\n')}>{cost(header.total_cost)}</span>
      {header.unpriced_count > 0 ? (
        <span class="warn"> {plural(header.unpriced_count, 'call')} without a price</span>
      ) : null}
    </Fact>
  );
}

interface ActionsProps {
  readonly header: TraceHeader;
  readonly change: (act: () => Promise<unknown>) => Promise<void>;
}

function Actions({ header, change }: ActionsProps): JSX.Element {
  const [asks, setAsks] = useState(false);
  const path = projectPath(header.project, 'traces', header.trace_id);
  const load = (part: string, use: (response: Response) => Promise<unknown>): void =>
    void change(async () => use(await request(urlOf(`${path}/${part}`), {})));
  const id = fileName(header.trace_id);
  return (
    <>
      <Menu label="Copy and download" text="Share" icon="copy">
        {(close) => {
          const choice = (name: string, act: () => void): JSX.Element => (
            <button
              type="button"
              onClick={() => {
                close();
                act();
              }}
            >
              {name}
            </button>
          );
          return (
            <>
              {choice('Copy link', () => void copyText(location.href))}
              {choice('Copy curl', () => void copyText(curlOf(urlOf(path))))}
              {seesContent.value
                ? choice('Copy as Markdown', () => load('markdown', async (answer) => copyText(await answer.text())))
                : null}
              {choice('Download OTLP JSON', () =>
                load('otlp?as=json', async (answer) => download(await answer.blob(), `trace-${id}.json`)),
              )}
            </>
          );
        }}
      </Menu>
      <Link
        class="button quiet"
        href={pageHref('compare', null, { a: header.trace_id })}
        label="Compare with another trace"
      >
        <Icon name="compare" /> Compare
      </Link>
      {may('editor') ? (
        <Button kind="quiet" icon="trash" label="Delete this trace" onClick={() => setAsks(true)} />
      ) : null}
      {asks ? (
        <DeleteTraces
          project={header.project}
          traces={[header]}
          onClose={(gone) => {
            setAsks(false);
            if (gone.length > 0) open(pageHref('traces'));
          }}
        />
      ) : null}
    </>
  );
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  const address = URL.createObjectURL(blob);
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
