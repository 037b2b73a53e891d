/** Changes that a page asks the server for, and why the last one failed. */
import { useState } from 'preact/hooks';
import { reasonOf } from './resource.ts';

interface Changes {
  /** Null: the last change did not fail. */
  readonly problem: string | null;
  /** Runs the change. A failure becomes the problem. */
  readonly change: (act: () => Promise<unknown>) => Promise<void>;
}

/** `after` is called after each change, failed ones included: what is shown may be out of date. */
export function useChanges(after?: () => void): Changes {
  const [problem, setProblem] = useState<string | null>(null);
  const change = async (act: () => Promise<unknown>): Promise<void> => {
    setProblem(null);
    try {
      await act();
    } catch (failure) {
      setProblem(reasonOf(failure));
    }
    after?.();
  };
  return { problem, change };
}
