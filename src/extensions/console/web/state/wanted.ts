/** The text that the reader looks for in messages, in lower case. What is folded unfolds where it has the text. */
import { signal } from '@preact/signals';

export const wantedText = signal('');

/** Whether a text, or a value of JSON with its names, has the wanted text. */
export function isWanted(value: unknown): boolean {
  const wanted = wantedText.value;
  return wanted !== '' && holds(value, wanted);
}

function holds(value: unknown, wanted: string): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).some(([name, each]) => holds(name, wanted) || holds(each, wanted));
  return String(value).toLowerCase().includes(wanted);
}
