/** The list that a trace was opened from, for the keys that open the next and the previous trace. */
import { signal } from '@preact/signals';

export const neighbours = signal<readonly string[]>([]);

export function neighbourOf(id: string, by: 1 | -1): string | null {
  const at = neighbours.value.indexOf(id);
  return at < 0 ? null : (neighbours.value[at + by] ?? null);
}
