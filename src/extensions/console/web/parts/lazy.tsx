/** Pages that are loaded when they are first shown. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { asApiError } from '../data/resource.ts';
import type { ApiError } from '../data/api.ts';
import { Failure } from './states.tsx';

export interface Lazy<Props> {
  readonly Page: ComponentType<Props>;
  /** Loads it early. */
  prefetch(): void;
}

/** `Waiting` is shown until the page is loaded. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Waiting: ComponentType<Props> | null = null,
): Lazy<Props> {
  let found: ComponentType<Props> | null = null;
  const get = async (): Promise<ComponentType<Props>> => {
    found ??= await load();
    return found;
  };
  function Page(props: Props): JSX.Element | null {
    const [Loaded, setLoaded] = useState<ComponentType<Props> | null>(() => found);
    const [problem, setProblem] = useState<ApiError | null>(null);
    useEffect(() => {
      if (Loaded !== null) return;
      get().then(
        (page) => setLoaded(() => page),
        (failure: unknown) => setProblem(asApiError(failure)),
      );
    }, []);
    if (problem !== null) return <Failure error={problem} retry={() => location.reload()} />;
    const Shown = Loaded ?? Waiting;
    return Shown === null ? null : <Shown {...props} />;
  }
  return { Page, prefetch: () => void get().catch(() => undefined) };
}
