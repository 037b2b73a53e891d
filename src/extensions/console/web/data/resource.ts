/** Loading for a component: the states of a request, the last answer while a new one is on its way, and retries. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get, type Query, unavailable, UNREACHABLE, urlOf } from './api.ts';

/** No placeholder is shown before this time. */
export const PLACEHOLDER_AFTER_MS = 150;
const SLOW_AFTER_MS = 2_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;

export interface Resource<T> {
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
  /** The first answer takes so long that a placeholder should be shown. */
  readonly waiting: boolean;
  /** The data is of an earlier request. */
  readonly stale: boolean;
  readonly slow: boolean;
  reload(): void;
  /** Loads again, unless an answer is on its way: it may take longer than the interval between two calls. */
  renew(): void;
  stop(): void;
}

interface State<T> {
  /** The question that `data` answers. */
  readonly key: string | null;
  /** The question that `error` is of. */
  readonly asked: string | null;
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
}

const NOTHING = { key: null, asked: null, data: null, error: null, loading: false };

/** Loads when the key changes; a null key loads nothing. */
export function useResource<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<State<T>>(NOTHING);
  const [attempt, setAttempt] = useState(0);
  const failures = useRef(0);
  const running = useRef<AbortController | null>(null);
  const loader = useRef(load);
  loader.current = load;
  // The request begins before the page is painted.
  useLayoutEffect(() => {
    if (key === null) return setState(NOTHING);
    const controller = new AbortController();
    running.current = controller;
    let stopWaiting = (): void => undefined;
    // The failure of another question is none of this one.
    setState((before) => ({ ...before, asked: key, error: before.asked === key ? before.error : null, loading: true }));
    loader.current(controller.signal).then(
      (data) => {
        failures.current = 0;
        if (!controller.signal.aborted) setState({ key, asked: key, data, error: null, loading: false });
      },
      (failure: unknown) => {
        if (controller.signal.aborted) return;
        const error = asApiError(failure);
        setState((before) => ({ ...before, error, loading: false }));
        if (isTemporary(error)) {
          stopWaiting = retryAfter(failures.current++, () => setAttempt((n) => n + 1));
        }
      },
    );
    return () => {
      controller.abort();
      stopWaiting();
    };
  }, [key, attempt]);
  const reload = useCallback(() => setAttempt((n) => n + 1), []);
  const renew = (): void => {
    if (!state.loading) reload();
  };
  const stop = useCallback(() => {
    running.current?.abort();
    setState((before) => ({ ...before, loading: false }));
  }, []);
  const waiting = useLater(state.loading && state.data === null, PLACEHOLDER_AFTER_MS);
  const slow = useLater(state.loading, SLOW_AFTER_MS);
  return { ...state, waiting, slow, stale: state.data !== null && state.key !== key, reload, renew, stop };
}

/** Calls `retry` after each temporary failure, for data that `useResource` does not load. */
export function useRetry(error: ApiError | null, retry: () => void): void {
  const failures = useRef(0);
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(
    () => (error === null || !isTemporary(error) ? undefined : retryAfter(failures.current++, () => latest.current())),
    [error],
  );
}

/**
 * Calls `retry` once: after a time that grows with the failures before, or as soon as another request has found that
 * the daemon and its database answer again. Otherwise the parts of a page would return one by one. Returns a function
 * that cancels the retry.
 */
export function retryAfter(failures: number, retry: () => void): () => void {
  const timer = setTimeout(retry, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures));
  let wasUnavailable = unavailable.value !== null;
  const unsubscribe = unavailable.subscribe((now) => {
    if (now === null && wasUnavailable) retry();
    wasUnavailable = now !== null;
  });
  return () => {
    clearTimeout(timer);
    unsubscribe();
  };
}

/** `too_many`: other tabs ask at the same time. */
const TEMPORARY: readonly string[] = ['database_unavailable', 'busy', 'too_many', UNREACHABLE];
const isTemporary = ({ status, code }: ApiError): boolean => status === 0 || TEMPORARY.includes(code);

export function asApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  const message = failure instanceof Error ? failure.message : String(failure);
  return new ApiError(0, '', { code: 'page_failed', message });
}

/** Why a change failed, and what helps. */
export function reasonOf(failure: unknown): string {
  const { message, hint } = asApiError(failure);
  return `${message} ${hint ?? ''}`;
}

/** The answer to a request. With a null path nothing is loaded. */
export const useAnswer = <T>(path: string | null, query: Query = {}): Resource<T> =>
  useResource(path === null ? null : urlOf(path, query), (signal) => get<T>(path ?? '', query, signal));

/** True once the condition has held for a time. */
export function useLater(condition: boolean, ms: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!condition) return setLate(false);
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [condition, ms]);
  return late && condition;
}

/** The present time, renewed each interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), everyMs);
  return now;
}

/** Calls `act` each interval. It may be another function each time. */
export function useInterval(act: () => void, everyMs: number): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const timer = setInterval(() => latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
