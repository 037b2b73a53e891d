/** Deleting traces, after a confirmation. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DeletedTraceShape } from '../../api/shapes/management.ts';
import { projectPath, send } from '../data/api.ts';
import { reasonOf } from '../data/resource.ts';
import { plural } from '../text/figures.ts';
import { Button, Name } from './basics.tsx';
import { Dialog } from './dialog.tsx';

interface DeletedOf {
  readonly trace_id: string;
  readonly name: string | null;
  readonly span_count: number;
}

interface DeleteProps {
  readonly project: string;
  readonly traces: readonly DeletedOf[];
  /** With the ids of the traces that are gone. */
  readonly onClose: (gone: readonly string[]) => void;
}

interface Progress {
  readonly gone: readonly string[];
  readonly spans: number;
  readonly logs: number;
  readonly waiting: number;
  readonly state: 'asking' | 'running' | 'ended';
  readonly problem: string | null;
}

const NOTHING: Progress = { gone: [], spans: 0, logs: 0, waiting: 0, state: 'asking', problem: null };

export function DeleteTraces({ project, traces, onClose }: DeleteProps): JSX.Element {
  const [progress, setProgress] = useState(NOTHING);
  const [first] = traces;
  /** One after the other; the first failure ends it. */
  const remove = async (): Promise<void> => {
    let done: Progress = { ...NOTHING, state: 'running' };
    setProgress(done);
    try {
      for (const { trace_id } of traces) {
        const gone = await send<DeletedTraceShape>('DELETE', projectPath(project, 'traces', trace_id));
        done = {
          ...done,
          gone: [...done.gone, trace_id],
          spans: done.spans + gone.spans,
          logs: done.logs + gone.logs,
          waiting: done.waiting + gone.outbox_entries,
        };
        setProgress(done);
      }
    } catch (failure) {
      done = { ...done, problem: reasonOf(failure) };
    }
    setProgress({ ...done, state: 'ended' });
  };
  const what = traces.length === 1 ? 'this trace' : plural(traces.length, 'trace');
  return (
    <Dialog title={`Delete ${what}`} onClose={() => onClose(progress.gone)}>
      <p>
        {traces.length === 1 ? (
          <>
            All spans and log records of <Name text={first?.name ?? 'log records only'} /> are deleted from the
            database.
          </>
        ) : (
          <>
            {plural(
              traces.reduce((sum, { span_count }) => sum + span_count, 0),
              'span',
            )}{' '}
            of {what}, and their log records, are deleted from the database.
          </>
        )}{' '}
        This cannot be undone.
      </p>
      {progress.state === 'asking' ? (
        <p class="actions">
          <Button kind="danger" icon="trash" onClick={() => void remove()}>
            Delete
          </Button>
        </p>
      ) : (
        <p role="status">
          {plural(progress.spans, 'span')} and {plural(progress.logs, 'log record')} of{' '}
          {plural(progress.gone.length, 'trace')} are deleted{progress.state === 'running' ? ' …' : '.'}
          {progress.waiting === 0
            ? ''
            : ` Records were removed from ${plural(progress.waiting, 'request')} that wait to be forwarded.`}
        </p>
      )}
      {progress.problem === null ? null : <p class="bad-text">{progress.problem}</p>}
    </Dialog>
  );
}
