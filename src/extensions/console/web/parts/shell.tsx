/** The frame of every page: the rail, the bar on top, the keys that work everywhere. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useChanges } from '../data/change.ts';
import { copyText } from '../data/clipboard.ts';
import { nextTheme, theme, zone } from '../state/settings.ts';
import { logOut, may, me } from '../state/session.ts';
import { useKeys } from '../state/keys.ts';
import { hrefWith, open, pageHref, parameter, route } from '../state/location.ts';
import { limitsOf, zoneName } from '../text/time.ts';
import { visible } from '../text/visible.ts';
import { Button, Link } from './basics.tsx';
import { Menu } from './dialog.tsx';
import { EnvironmentMenu } from './environment-menu.tsx';
import { FilterBox } from './filter-box.tsx';
import { HelpDialog } from './help.tsx';
import { Icon, type IconName } from './icon.tsx';
import { LivePill } from './live-pill.tsx';
import { Palette } from './palette.tsx';
import { RangeMenu } from './range-menu.tsx';
import { Problem, UnavailableBanner } from './states.tsx';

interface Entry {
  readonly page: string;
  readonly name: string;
  readonly key: string;
  readonly icon: IconName;
  readonly admin?: true;
}

const PAGES: readonly Entry[] = [
  { page: 'traces', name: 'Traces', key: 'g t', icon: 'traces' },
  { page: 'conversations', name: 'Conversations', key: 'g c', icon: 'conversations' },
  { page: 'usage', name: 'Usage', key: 'g u', icon: 'usage' },
  { page: 'logs', name: 'Logs', key: 'g l', icon: 'logs' },
  { page: 'metrics', name: 'Metrics', key: 'g m', icon: 'metrics' },
  { page: 'project', name: 'Project', key: 'g p', icon: 'project' },
  { page: 'status', name: 'Status', key: 'g s', icon: 'status', admin: true },
];
const FILTERED = ['traces', 'conversations', 'logs', 'usage'];
const LIVE = ['traces', 'logs'];
const RANGED = [...FILTERED, 'metrics'];
const THEME_ICON = { system: 'system', light: 'light', dark: 'dark' } as const;

const visiblePages = (): readonly Entry[] => PAGES.filter(({ admin }) => admin !== true || may('admin'));

export function Shell({ children }: { children: ComponentChildren }): JSX.Element {
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const goTo = Object.fromEntries(visiblePages().map(({ key, page }) => [key, () => open(pageHref(page))]));
  useKeys({
    ...goTo,
    '?': () => setHelp(true),
    'Ctrl K': () => setPalette(true),
    '/': () => document.querySelector<HTMLInputElement>('[data-search]')?.focus(),
    t: () => document.getElementById('range')?.click(),
    z: toggleZone,
    y: () => void copyText(location.href),
    Y: () => void copyText(absoluteLink()),
  });
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to the content
      </button>
      <TopBar showHelp={() => setHelp(true)} />
      <Rail />
      <div class="page">
        <UnavailableBanner />
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      {help ? <HelpDialog onClose={() => setHelp(false)} /> : null}
      {palette ? <Palette pages={visiblePages()} onClose={() => setPalette(false)} /> : null}
    </div>
  );
}

function toggleZone(): void {
  zone.value = zone.value === 'utc' ? 'local' : 'utc';
}

/** The current address, with the start and end that a relative range like "last 24 h" has now. */
function absoluteLink(): string {
  const [from, to] = limitsOf(parameter('from'), parameter('to'), String);
  return location.origin + hrefWith({ from, to }) + location.hash;
}

function Rail(): JSX.Element {
  const { page } = route.value;
  return (
    <nav class="rail" aria-label="Pages">
      {visiblePages().map((entry) => (
        <Link
          key={entry.page}
          href={pageHref(entry.page)}
          current={entry.page === page}
          title={`${entry.name} (${entry.key})`}
        >
          <Icon name={entry.icon} size={20} />
          <span>{entry.name}</span>
        </Link>
      ))}
    </nav>
  );
}

function TopBar({ showHelp }: { showHelp: () => void }): JSX.Element {
  const { page, id } = route.value;
  const isList = id === null;
  return (
    <header class="top">
      <Link href="/" class="brand" label="Sluice">
        <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
          <rect width="16" height="16" rx="3" />
          <path d="M4 3v10M8 3v5m0 3v2m4-10v2m0 3v5" />
        </svg>
      </Link>
      <ProjectMenu />
      {isList && RANGED.includes(page) ? <EnvironmentMenu /> : null}
      {isList && FILTERED.includes(page) ? <FilterBox key={page} /> : <span class="stretch" />}
      {isList && RANGED.includes(page) ? <RangeMenu /> : null}
      {isList && LIVE.includes(page) ? <LivePill /> : null}
      <span class="tools">
        <Button kind="quiet" title="Time zone (z)" onClick={toggleZone}>
          {zoneName()}
        </Button>
        <Button kind="quiet" icon={THEME_ICON[theme.value]} label={`Theme: ${theme.value}`} onClick={nextTheme} />
        <Button kind="quiet" icon="help" label="Keys and help" onClick={showHelp} />
        <PersonMenu />
      </span>
    </header>
  );
}

function ProjectMenu(): JSX.Element {
  const { project, page } = route.value;
  const target = PAGES.some((each) => each.page === page) ? page : 'traces';
  return (
    <Menu label="Project" text={visible(project ?? 'no project')} class="projects">
      {(close) =>
        (me.value?.projects ?? []).map((name) => (
          <button
            type="button"
            key={name}
            aria-current={name === project ? 'true' : undefined}
            onClick={() => {
              close();
              open(`/p/${encodeURIComponent(name)}/${target}`);
            }}
          >
            {visible(name)}
          </button>
        ))
      }
    </Menu>
  );
}

function PersonMenu(): JSX.Element | null {
  const person = me.value;
  const { problem, change } = useChanges();
  if (person === null) return null;
  return (
    <Menu label="You" text="" icon="person" class="person">
      {() => (
        <>
          <p class="muted">
            {visible(person.name)}, {person.role}
            {person.sees_content ? '' : ', without content'}
            <br />
            {person.version === '' ? '' : `Sluice ${person.version}`}
          </p>
          {person.by === 'cookie' ? (
            <button type="button" onClick={() => void change(logOut)}>
              Log out
            </button>
          ) : null}
          <Problem text={problem} />
        </>
      )}
    </Menu>
  );
}
