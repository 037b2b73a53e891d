/** The model calls, tool steps and retrievals of a trace as one conversation. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StepRow, Steps } from '../../../api/shapes/steps.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button } from '../../parts/basics.tsx';
import { FindText } from '../../parts/find-text.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { Thread } from '../../parts/thread.tsx';
import { seesContent } from '../../state/session.ts';
import { MarkdownSwitch } from '../../parts/text-block.tsx';
import type { TraceRef } from './trace-ref.ts';

export function MessagesView({ trace }: { trace: TraceRef }): JSX.Element {
  const path = projectPath(trace.project, 'traces', trace.id, 'steps');
  const [after, setAfter] = useState<string | null>(null);
  const [earlier, setEarlier] = useState<readonly StepRow[]>([]);
  useEffect(() => {
    setAfter(null);
    setEarlier([]);
  }, [path]);
  const steps = useAnswer<Steps>(path, { after });
  return (
    <div class="thread-page">
      <div class="thread-bar">
        {seesContent.value ? (
          <FindText isPart={steps.data !== null && steps.data.next !== null} />
        ) : (
          <span class="muted">Without the right to content: names and figures only.</span>
        )}
        <MarkdownSwitch />
      </div>
      <Loaded of={steps}>
        {({ items, next }) => {
          const all = steps.stale ? earlier : [...earlier, ...items];
          return (
            <>
              {all.length === 0 ? (
                <Empty>This trace has no model call, tool step or retrieval.</Empty>
              ) : (
                <Thread steps={all} />
              )}
              {next === null ? null : (
                <Button
                  onClick={() => {
                    setEarlier(all);
                    setAfter(next);
                  }}
                >
                  More steps
                </Button>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}
