/** Whether the window is as narrow as a phone. The style sheet has the same border. */
import { signal } from '@preact/signals';

const NARROW = '(max-width: 760px)';

export const isNarrow = signal(false);

export function startWidth(): void {
  const query = matchMedia(NARROW);
  isNarrow.value = query.matches;
  query.addEventListener('change', () => (isNarrow.value = query.matches));
}
