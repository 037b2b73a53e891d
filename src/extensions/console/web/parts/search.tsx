/** What the pages of a bounded search have in common: their states, and the line below the rows. */
import type { ComponentChildren, JSX } from 'preact';
import type { PartOfRange } from '../../api/shapes/answers.ts';
import type { Search } from '../data/pages.ts';
import { exactly, plural } from '../text/figures.ts';
import { dateTime, msOf, shortTime } from '../text/time.ts';
import { Button } from './basics.tsx';
import { Empty, Loaded } from './states.tsx';

interface FoundProps {
  readonly search: Search<unknown>;
  readonly count?: number;
  readonly archived?: JSX.Element | null;
  /** Shown when nothing was found in the whole range. */
  readonly empty: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Found({
  search,
  count = search.items.length,
  archived = <Archived before={search.completeFrom} unread={search.unread} />,
  empty,
  children,
}: FoundProps): JSX.Element {
  return (
    <Loaded of={search.first}>
      {() =>
        count === 0 && !search.more ? (
          <Empty>
            {empty}
            {archived}
          </Empty>
        ) : (
          children
        )
      }
    </Loaded>
  );
}

interface ArchivedProps {
  readonly before: string | null;
  /** Why what is earlier, or a part of it, was not read; null: it was not asked for, or is too much. */
  readonly unread: string | null;
}

/** Which part of the range an answer does not have. */
export function Archived({ before, unread }: ArchivedProps): JSX.Element | null {
  if (before === null) return null;
  if (unread !== null) return <Incomplete before={before} unread={unread} />;
  return (
    <p class="muted">
      Days before {dateTime(msOf(before), false)} are archived and not shown here: use <code>sluice traces</code>,{' '}
      <code>usage</code> or <code>export</code>.
    </p>
  );
}

interface IncompleteProps {
  readonly before: string | null;
  readonly unread: string;
  /** Asks again. */
  again?(): void;
}

/** What an answer does not have although it was wanted. `before`: null for a trace. */
export function Incomplete({ before, unread, again }: IncompleteProps): JSX.Element {
  return (
    <p class="bad-text" role="alert">
      {before === null ? 'This is incomplete.' : `Before ${dateTime(msOf(before), false)} this is incomplete.`} {unread}{' '}
      {again === undefined ? null : (
        <Button kind="quiet" onClick={again}>
          Try again
        </Button>
      )}
    </p>
  );
}

/** What an answer other than the list does not have; null: nothing. */
export function missingText({ complete_from: from, unread }: PartOfRange): string | null {
  if (from === undefined) return null;
  const before = dateTime(msOf(from), false);
  if (unread !== undefined) return `Before ${before} this is incomplete. ${unread}`;
  return `Days before ${before} are archived and not counted here.`;
}

interface ArchivedOfferProps {
  readonly before: string | null;
  /** What is not done with the days, the label of the button, and the text while they are read. */
  readonly words: readonly [done: string, offer: string, reading: string];
  readonly isReading: boolean;
  read(): void;
}

/** Which part of the range an answer does not have, and a button to read it from the archive. */
export function ArchivedOffer({ before, words, isReading, read }: ArchivedOfferProps): JSX.Element | null {
  const [done, offer, reading] = words;
  if (before === null) return null;
  return (
    <p class="muted">
      Archived days before {dateTime(msOf(before), false)} are not {done}.{' '}
      {isReading ? (
        <span role="status">{reading}</span>
      ) : (
        <Button kind="quiet" onClick={read}>
          {offer}
        </Button>
      )}
    </p>
  );
}

interface SearchFootProps {
  readonly search: Search<unknown>;
  readonly count?: number;
  /** The noun for what was read, in the singular. */
  readonly what: string;
  /** The text about archived days, instead of the one about how they are read elsewhere. */
  readonly archived?: JSX.Element | null;
}

/** How far back the search has read, and a button to continue it. */
export function SearchFoot({
  search,
  count = search.items.length,
  what,
  archived = <Archived before={search.completeFrom} unread={search.unread} />,
}: SearchFootProps): JSX.Element {
  return (
    <>
      <span>
        {exactly(count)} shown · looked at {plural(search.examined, what)}
        {search.reached === null ? '' : ` back to ${shortTime(msOf(search.reached))}`}
      </span>
      {search.error === null ? null : <span class="bad-text">{search.error.message}</span>}
      {search.continuing ? (
        <span role="status">looking back …</span>
      ) : search.more ? (
        <Button kind="quiet" onClick={search.next}>
          continue
        </Button>
      ) : (
        <span class="muted">end of the range</span>
      )}
      {search.more ? null : archived}
    </>
  );
}
