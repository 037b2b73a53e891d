/** `/t/{trace_id}` and `/compare?a={trace_id}`: finds the project of a trace and opens the page there. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TracePlace } from '../../api/shapes/traces.ts';
import { useAnswer } from '../data/resource.ts';
import { Loaded } from '../parts/states.tsx';
import { open, place, route } from '../state/location.ts';

export function FindPage({ id }: { id: string }): JSX.Element {
  const found = useAnswer<TracePlace>(`/traces/${encodeURIComponent(id)}`);
  useEffect(() => {
    if (found.data === null) return;
    const { project, trace_id } = found.data;
    const { hash, query } = place.value;
    const page = route.value.page === 'compare' ? `compare?${query}` : `traces/${trace_id}`;
    open(`/p/${encodeURIComponent(project)}/${page}${hash === '' ? '' : `#${hash}`}`, true);
  }, [found.data]);
  return (
    <div class="narrow-page">
      <Loaded of={found}>{() => <p>Opening …</p>}</Loaded>
    </div>
  );
}
