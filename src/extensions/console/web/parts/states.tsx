/** What a page shows while it has no data: placeholder rows, errors, missing rights. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { type ApiError, unavailable, UNREACHABLE, curlOf } from '../data/api.ts';
import { type Resource, useNow } from '../data/resource.ts';
import { age } from '../text/figures.ts';
import { PAGE, pageHref, route } from '../state/location.ts';
import { loadMe } from '../state/session.ts';
import { visible } from '../text/visible.ts';
import { Button, CopyButton, Link } from './basics.tsx';
import { filterError } from './filter-box.tsx';

const ROWS = 12;
/** The text of the filter is refused; the filter box shows where and why. */
const MISTAKE = 'filter_invalid';
/** The banner has the reason, once for all parts of a page. */
const UNAVAILABLE: readonly string[] = ['database_unavailable', UNREACHABLE];

export function PlaceholderRows(): JSX.Element {
  return (
    <div class="placeholders" role="status" aria-label="Loading">
      {Array.from({ length: ROWS }, (_, at) => (
        <div class="placeholder" key={at} style={{ width: `${95 - ((at * 37) % 45)}%` }} />
      ))}
    </div>
  );
}

interface LoadedProps<T> {
  readonly of: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** The states around data: placeholder, error, earlier data dimmed, a slow answer that can be stopped. */
export function Loaded<T>({ of, children }: LoadedProps<T>): JSX.Element | null {
  const { data, error } = of;
  const isLoaded = data !== null;
  // Where the reader left the page that they return to. Not once they have scrolled.
  useLayoutEffect(() => {
    const page = document.querySelector(PAGE);
    if (isLoaded && page !== null) page.scrollTop ||= Number(history.state);
  }, [isLoaded]);
  if (data === null || error?.code === MISTAKE) {
    if (error !== null) return <Failure error={error} retry={of.reload} />;
    return of.waiting ? <PlaceholderRows /> : null;
  }
  return (
    <>
      {error === null ? null : <Failure error={error} retry={of.reload} />}
      {of.slow ? <Slow of={of} /> : null}
      <div class={`loaded ${of.loading && of.stale ? 'stale' : ''}`}>{children(data)}</div>
    </>
  );
}

function Slow({ of }: { of: Resource<unknown> }): JSX.Element {
  return (
    <p class="notice" role="status">
      Still looking …{' '}
      <Button kind="quiet" onClick={of.stop}>
        stop
      </Button>
    </p>
  );
}

export function Failure({ error, retry }: { error: ApiError; retry: () => void }): JSX.Element {
  useEffect(() => {
    if (error.code !== MISTAKE) return;
    filterError.value = error;
    return () => {
      filterError.value = null;
    };
  }, [error]);
  // The rights of the reader may have changed since they were read.
  useEffect(() => {
    if (error.status === 403 || error.status === 404) loadMe().catch(() => undefined);
  }, [error]);
  if (error.code === MISTAKE) return <p class="empty">The filter has a mistake; see above.</p>;
  if (UNAVAILABLE.includes(error.code) && unavailable.value !== null) return <Waiting retry={retry} />;
  if (error.status === 403) return <NoRight what={error.message} hint={error.hint} />;
  if (error.status === 404) return <NotFound retry={retry} />;
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{titleOf(error)}</strong> {error.message} <code>{error.code}</code>
      </p>
      {error.hint === null ? null : <p class="muted">{error.hint}</p>}
      <p class="actions">
        <Button kind="plain" onClick={retry}>
          Try again
        </Button>
        {error.url === '' ? null : <CopyButton text={curlOf(error.url)} label="Copy the request as curl" />}
      </p>
    </div>
  );
}

function Waiting({ retry }: { retry: () => void }): JSX.Element {
  return (
    <p class="waiting muted">
      Waiting for an answer.{' '}
      <Button kind="plain" onClick={retry}>
        Try again
      </Button>
    </p>
  );
}

/** Shown alike for what does not exist and for what the reader may not see. */
function NotFound({ retry }: { retry: () => void }): JSX.Element {
  const { page, project, id } = route.value;
  const isTrace = page === 'traces' && id !== null;
  return (
    <div class="failure" role="alert">
      <p>
        <strong>Not found.</strong> {WHAT[page] ?? 'This'} is not stored
        {project === null ? '' : ` in ${visible(project)}`}, or not any more. What has just been sent may still arrive.
      </p>
      <p class="actions">
        <Button kind="plain" onClick={retry}>
          Try again
        </Button>
        {isTrace ? <Link href={`/t/${encodeURIComponent(id)}`}>Look in all projects</Link> : null}
        <Link href={project === null ? '/' : pageHref(page === 'conversations' ? page : 'traces')}>
          {page === 'conversations' ? 'All conversations' : 'All traces'}
        </Link>
      </p>
    </div>
  );
}

const WHAT: Readonly<Record<string, string>> = {
  traces: 'This trace',
  find: 'This trace',
  compare: 'One of the traces',
  conversations: 'This conversation',
};

function titleOf({ status, code }: ApiError): string {
  if (code === 'database_unavailable') return 'The database is unavailable.';
  if (code === 'page_failed') return 'The answer cannot be read.';
  if (status === 0) return 'No answer.';
  if (status === 504) return 'Took too long.';
  if (status === 429 || code === 'busy') return 'Busy.';
  return 'That did not work.';
}

/** Why a change failed; nothing while there is no problem. */
export function Problem({ text }: { text: string | null }): JSX.Element | null {
  if (text === null) return null;
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}

export function NoRight({ what, hint }: { what: string; hint: string | null }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <p>
        <strong>No right.</strong> {what} {hint}
      </p>
    </div>
  );
}

/** Shown while the daemon or its database does not answer. The pages try again by themselves. */
export function UnavailableBanner(): JSX.Element | null {
  const now = useNow(1_000);
  if (unavailable.value === null) return null;
  const { what, sinceMs } = unavailable.value;
  const lasting = now - sinceMs;
  return (
    <div class="banner">
      <span role="alert">The {what} does not answer.</span> The page tries again by itself
      {lasting < 1_000 ? '' : `, for ${age(lasting)} so far`}.
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}
