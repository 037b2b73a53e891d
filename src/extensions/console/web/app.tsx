/** The page for the present address. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { loggedIn } from './data/api.ts';
import { useResource } from './data/resource.ts';
import { Link, Name } from './parts/basics.tsx';
import { Guard } from './parts/guard.tsx';
import { lazy } from './parts/lazy.tsx';
import { Shell } from './parts/shell.tsx';
import { UnavailableBanner, Empty, Loaded } from './parts/states.tsx';
import { FindPage } from './pages/find.tsx';
import { LoginPage } from './pages/login.tsx';
import { TracesPage } from './pages/traces/page.tsx';
import { type Route, open, parameter, route } from './state/location.ts';
import { loadMe, may, me } from './state/session.ts';
import { lastProject } from './state/settings.ts';

const trace = lazy(async () => (await import('./pages/trace/page.tsx')).TracePage);
const others = () => import('./pages/others.ts');
const compare = lazy(async () => (await others()).ComparePage);
const conversations = lazy(async () => (await others()).ConversationsPage);
const conversation = lazy(async () => (await others()).ConversationPage);
const usage = lazy(async () => (await others()).UsagePage);
const logs = lazy(async () => (await others()).LogsPage);
const metrics = lazy(async () => (await others()).MetricsPage);
const project = lazy(async () => (await others()).ProjectPage);
const newProject = lazy(async () => (await others()).NewProject);
const status = lazy(async () => (await others()).StatusPage);
/** Loads what is likely to be shown next, once the list is there. */
const PREFETCH_MS = 1_000;

export function App(): JSX.Element {
  const { page } = route.value;
  if (page === 'login' || loggedIn.value === false) return <LoginPage />;
  return <Known />;
}

/** Called when the server has reported which person reads. */
function Known(): JSX.Element {
  const known = useResource(me.value === null ? 'me' : null, loadMe);
  useEffect(() => {
    if (me.value !== null && route.value.page === '') open(homeOf(me.value.projects), true);
  }, [me.value, route.value]);
  if (me.value === null) {
    return (
      <main class="narrow-page">
        <UnavailableBanner />
        <Loaded of={known}>{() => null}</Loaded>
      </main>
    );
  }
  if (me.value.projects.length === 0) {
    return (
      <main class="narrow-page">
        <h1>No project</h1>
        {may('admin') ? <newProject.Page /> : <p>Ask an admin for access.</p>}
      </main>
    );
  }
  return (
    <Shell>
      <Guard>
        <CurrentPage />
      </Guard>
    </Shell>
  );
}

function homeOf(projects: readonly string[]): string {
  const project = projects.includes(lastProject.value) ? lastProject.value : projects[0];
  return project === undefined ? '/' : `/p/${encodeURIComponent(project)}/traces`;
}

function CurrentPage(): JSX.Element | null {
  const current = route.value;
  const isFirst = useRef(true);
  useEffect(() => {
    if (current.project !== null) lastProject.value = current.project;
    document.title = titleOf(current);
    // What had the focus is gone with the page before.
    if (!isFirst.current && document.activeElement === document.body) document.getElementById('content')?.focus();
    isFirst.current = false;
  }, [current]);
  useEffect(() => {
    const timer = setTimeout(trace.prefetch, PREFETCH_MS);
    return () => clearTimeout(timer);
  }, []);
  return pageOf(current);
}

const titleOf = ({ page, project, id }: Route): string =>
  [id?.slice(0, 40), page, project?.slice(0, 40), 'Sluice'].filter((each) => each != null && each !== '').join(' · ');

function pageOf({ page, project: name, id }: Route): JSX.Element | null {
  if (page === '') return null;
  if (page === 'find' && id !== null) return <FindPage id={id} />;
  const first = parameter('a');
  if (page === 'compare' && name === null && first !== null) return <FindPage id={first} />;
  if (name === null) return <Unknown />;
  if (me.value?.projects.includes(name) === false) return <UnknownProject key={name} name={name} />;
  switch (page) {
    case 'traces':
      return id === null ? <TracesPage key={name} project={name} /> : <trace.Page key={id} project={name} id={id} />;
    case 'conversations':
      return id === null ? (
        <conversations.Page key={name} project={name} />
      ) : (
        <conversation.Page key={id} project={name} id={id} />
      );
    case 'compare':
      return <compare.Page project={name} />;
    case 'usage':
      return <usage.Page project={name} />;
    case 'logs':
      return <logs.Page project={name} />;
    case 'metrics':
      return <metrics.Page key={name} project={name} />;
    case 'project':
      return <project.Page project={name} />;
    case 'status':
      return <status.Page />;
    default:
      return <Unknown />;
  }
}

/** The project may have been created since the person was read. */
function UnknownProject({ name }: { name: string }): JSX.Element {
  const known = useResource(`me ${name}`, loadMe);
  return (
    <Loaded of={known}>
      {({ projects }) => (
        <Empty>
          <h1>
            There is no project <Name text={name} />
          </h1>
          <p>It was not created, or you may not see it. Your projects:</p>
          <ul>
            {projects.map((each) => (
              <li key={each}>
                <Link href={`/p/${encodeURIComponent(each)}/traces`}>
                  <Name text={each} />
                </Link>
              </li>
            ))}
          </ul>
        </Empty>
      )}
    </Loaded>
  );
}

function Unknown(): JSX.Element {
  return (
    <Empty>
      <h1>There is no such page</h1>
      <p>
        <Link href="/">Traces</Link>
      </p>
    </Empty>
  );
}
