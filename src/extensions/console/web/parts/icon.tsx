/** Line icons on a grid of 24 units. */
import type { JSX } from 'preact';

const PATHS = {
  traces: 'M4 6h10M8 12h12M6 18h8',
  conversations: 'M4 5h16v11H9l-5 4z',
  usage: 'M5 20V10M12 20V4M19 20v-7',
  logs: 'M4 6h16M4 11h16M4 16h10',
  project:
    'M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2',
  status: 'M3 12h4l3-8 4 16 3-8h4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5l5 5L20 7',
  close: 'M6 6l12 12M18 6L6 18',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  exclude: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM6.5 6.5l11 11',
  open: 'M14 4h6v6M20 4l-9 9M10 5H5v14h14v-5',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  light: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3',
  dark: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z',
  system: 'M4 5h16v11H4zM9 20h6',
  help: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.5',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  error: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 20c1-4 4-6 8-6s7 2 8 6',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5L20 20',
  columns: 'M4 5h16v14H4zM9.5 5v14M14.5 5v14',
  compare: 'M9 4v16M15 4v16M9 8H4v8h5M15 8h5v8h-5',
  metrics: 'M4 4v16h16M7 15l4-5 3 3 5-7',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
