/** `/t/{trace_id}`: finds the project of a trace and opens it there. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TracePlace } from '../../api/shapes.ts';
import { useAnswer } from '../data/resource.ts';
import { Loaded } from '../parts/states.tsx';
import { open, place } from '../state/location.ts';

export function FindPage({ id }: { id: string }): JSX.Element {
  const found = useAnswer<TracePlace>(`/traces/${encodeURIComponent(id)}`);
  useEffect(() => {
    if (found.data === null) return;
    const { project, trace_id } = found.data;
    const { hash } = place.value;
    open(`/p/${encodeURIComponent(project)}/traces/${trace_id}${hash === '' ? '' : `#${hash}`}`, true);
  }, [found.data]);
  return (
    <div class="narrow-page">
      <Loaded of={found}>{() => <p>Opening …</p>}</Loaded>
    </div>
  );
}
