/** The list of traces with its facets and its histogram. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../../../api/shapes/answers.ts';
import type { TopTraces, TraceRow } from '../../../api/shapes/traces.ts';
import { projectPath, type Query } from '../../data/api.ts';
import { type Search, useSearch } from '../../data/pages.ts';
import { useAnswer, useLater } from '../../data/resource.ts';
import { Button, Tabs } from '../../parts/basics.tsx';
import { Archived, ArchivedOffer, Found, Incomplete } from '../../parts/search.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useKeys } from '../../state/keys.ts';
import { clearPending, merge, missingIn, pending, takePending, useLive } from '../../state/live.ts';
import { parameter, setQuery } from '../../state/location.ts';
import { facetsShown } from '../../state/settings.ts';
import { exactly } from '../../text/figures.ts';
import { type Asked, useAsked } from '../../state/asked.ts';
import { ColumnsMenu } from './columns-menu.tsx';
import { Facets } from './facets.tsx';
import { HistogramBar } from './histogram.tsx';
import { NothingMatches } from './nothing.tsx';
import { SetUp } from './set-up.tsx';
import { TraceList } from './list.tsx';

const PAGE = 50;
/** What else the page asks for waits this long for the list: all questions share the processors of the daemon. */
const LIST_FIRST_MS = 300;
/** Newer rows that are held while the page is live. */
const MOST_LIVE = 1_000;
const SORTS = [
  ['newest', 'Newest'],
  ['cost', 'Costliest'],
  ['duration', 'Slowest'],
  ['tokens', 'Most tokens'],
  ['errors', 'Most errors'],
] as const;

export function TracesPage({ project }: { project: string }): JSX.Element {
  const asked = useAsked(project);
  const sort = parameter('sort') ?? 'newest';
  const path = projectPath(project, 'traces');
  const search = useSearch<TraceRow>(sort === 'newest' ? path : null, { ...asked.query, limit: PAGE });
  const isWaiting = sort === 'newest' && search.first.data === null && search.first.error === null;
  const isSlow = useLater(isWaiting, LIST_FIRST_MS);
  const mayAsk = isSlow || !isWaiting;
  const newest = useAnswer<Page<TraceRow>>(mayAsk && search.items.length === 0 ? path : null, { limit: 1 });
  const hasFacets = facetsShown.value === 'yes';
  const toggle = (): void => {
    facetsShown.value = hasFacets ? 'no' : 'yes';
  };
  useKeys({ f: toggle });
  const isNew = newest.data !== null && newest.data.items.length === 0 && newest.data.complete_from === undefined;
  if (isNew && asked.q === null) {
    const askAgain = (): void => {
      newest.renew();
      search.first.renew();
    };
    return <SetUp project={project} onArrival={askAgain} />;
  }
  return (
    <div class="traces-page">
      <h1 class="hidden-title">Traces</h1>
      <div class="list-bar">
        <Button kind="quiet" icon="filter" label="Facets (f)" pressed={hasFacets} onClick={toggle} />
        <Tabs
          legend="Order"
          options={SORTS}
          chosen={sort}
          onChoose={(value) => setQuery({ sort: value === 'newest' ? null : value })}
        />
        <HistogramBar asked={asked} mayAsk={mayAsk} />
        <ColumnsMenu />
      </div>
      <div class="list-body">
        {hasFacets ? <Facets asked={asked} mayAsk={mayAsk} /> : null}
        {sort === 'newest' ? (
          <NewestTraces
            asked={asked}
            stored={search}
            empty={
              newest.data === null && newest.error === null ? null : (
                <NothingMatches asked={asked} newest={newest.data?.items[0] ?? null} />
              )
            }
          />
        ) : (
          <TopList asked={asked} by={sort} />
        )}
      </div>
    </div>
  );
}

interface NewestProps {
  readonly asked: Asked;
  readonly stored: Search<TraceRow>;
  /** What is shown instead of rows. */
  readonly empty: ComponentChildren;
}

function NewestTraces({ asked, stored, empty }: NewestProps): JSX.Element {
  const { project, query } = asked;
  const { search, archived } = useArchived(projectPath(project, 'traces'), query, stored);
  const [added, setAdded] = useState<{ of: unknown; rows: readonly TraceRow[] }>({ of: null, rows: [] });
  const live = added.of === query ? added.rows : [];
  const { error } = search.first;
  const restart = (): void => {
    clearPending();
    setAdded({ of: null, rows: [] });
    search.first.reload();
  };
  useLive({
    project,
    query: { q: asked.q, env: query['env'] },
    active: asked.isOpenEnd && error === null,
    onGap: restart,
  });
  const showPending = (): void => {
    // Traces without a row are loaded with the list: too many in one event, or in objects only.
    if (pending.value.length === 0) restart();
    else {
      setAdded({ of: query, rows: merge(pending.value, live).slice(0, MOST_LIVE) });
      takePending();
    }
  };
  // A trace that is older than the last loaded one is loaded with its page.
  const oldest = search.more ? BigInt(search.items.at(-1)?.start_time_unix_nano ?? 0) : 0n;
  const fresh = live.filter((row) => BigInt(row.start_time_unix_nano) >= oldest);
  // Traces between these and the pages below were dropped.
  const isFull = live.length >= MOST_LIVE;
  const rows = isFull ? live : fresh.length === 0 ? search.items : merge(fresh, search.items);
  // Traces before the last row are loaded with their page, or by the button below.
  const last = isFull || search.more ? BigInt(rows.at(-1)?.start_time_unix_nano ?? 0) : 0n;
  const foot = isFull ? (
    <>
      <span>the newest {exactly(MOST_LIVE)} shown</span>
      <Button kind="quiet" onClick={restart}>
        show older ones
      </Button>
    </>
  ) : null;
  return (
    <Found search={search} count={rows.length} archived={archived} empty={empty}>
      <TraceList
        rows={rows}
        search={isFull ? null : search}
        archived={archived}
        foot={foot}
        missing={missingIn(rows, last)}
        showPending={showPending}
      />
    </Found>
  );
}

/**
 * The search, continued in the archive when the reader asks for it: by a search of its own for what is older than the
 * newest archived day, of which PostgreSQL may have late traces.
 */
function useArchived(path: string, query: Query, stored: Search<TraceRow>) {
  const [wanted, setWanted] = useState<Query | null>(null);
  const before = stored.more ? null : stored.completeFrom;
  const isWanted = wanted === query && before !== null;
  const older = useSearch<TraceRow>(isWanted ? path : null, {
    ...query,
    to: before !== null && BigInt(query['to'] ?? before) > BigInt(before) ? before : (query['to'] ?? before),
    archived: 'true',
    limit: PAGE,
  });
  const { data, error, loading, reload } = older.first;
  if (isWanted && data !== null) {
    const newer = stored.items.filter((row) => BigInt(row.start_time_unix_nano) >= BigInt(before));
    const search = { ...older, first: stored.first, items: [...newer, ...older.items] };
    return { search, archived: <Archived before={older.completeFrom} unread={older.unread} /> };
  }
  // Archived days were wanted for this list: a part of them may be in it.
  if (before !== null && stored.unread !== null) {
    const archived = <Incomplete before={before} unread={stored.unread} again={stored.first.reload} />;
    return { search: stored, archived };
  }
  const archived = (
    <>
      {error === null ? null : (
        <p class="bad-text" role="alert">
          {error.message}
        </p>
      )}
      <ArchivedOffer
        before={before}
        words={['shown', 'Show them', 'Reading archived days …']}
        isReading={isWanted && loading}
        read={() => (isWanted ? reload() : setWanted(query))}
      />
    </>
  );
  return { search: stored, archived };
}

function TopList({ asked, by }: { asked: Asked; by: string }): JSX.Element {
  const { project, range } = asked;
  const top = useAnswer<TopTraces>(projectPath(project, 'traces', 'top'), { ...range, by });
  if (asked.q !== null)
    return (
      <Empty>
        <h2>This order has no filter</h2>
        <p>The highest figures are of all traces of the range.</p>
        <p class="actions">
          <Button onClick={() => setQuery({ sort: null })}>newest first, with the filter</Button>
          <Button onClick={() => setQuery({ q: null })}>without the filter</Button>
        </p>
      </Empty>
    );
  if (top.error?.code === 'range_invalid')
    return (
      <Empty>
        <h2>The range is too long for this order</h2>
        <p>{top.error.message}</p>
        <p class="actions">
          <Button onClick={() => setQuery({ from: '-24h', to: null })}>last 24 h</Button>
          <Button onClick={() => setQuery({ sort: null })}>newest first</Button>
        </p>
      </Empty>
    );
  return (
    <Loaded of={top}>
      {({ items, complete_from: before, unread }) =>
        items.length === 0 ? (
          <Empty>
            <NothingMatches asked={asked} newest={null} />
            <Archived before={before ?? null} unread={unread ?? null} />
          </Empty>
        ) : (
          <TraceList
            rows={items}
            search={null}
            archived={null}
            foot={
              <>
                <span>{exactly(items.length)} shown, the first 100 of the range</span>
                <Archived before={before ?? null} unread={unread ?? null} />
              </>
            }
            missing={0}
            showPending={null}
          />
        )
      }
    </Loaded>
  );
}
