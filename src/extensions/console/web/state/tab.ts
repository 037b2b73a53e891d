/** Whether the tab is shown. A hidden one holds no stream: a browser has six connections to a host for all tabs. */
import { signal } from '@preact/signals';

export const isTabShown = signal(true);

export function startTab(): void {
  const read = (): void => {
    isTabShown.value = document.visibilityState === 'visible';
  };
  read();
  document.addEventListener('visibilitychange', read);
}
