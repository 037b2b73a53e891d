/** Nothing was found: shows what could be changed in the search. */
import type { ComponentChildren, JSX } from 'preact';
import { parameter, setQuery } from '../state/location.ts';
import { termsOf, withoutTerm } from '../text/filter-text.ts';
import { DEFAULT_FROM, rangeName } from '../text/time.ts';
import { visible } from '../text/visible.ts';
import { Button } from './basics.tsx';

const LONGER = [
  ['-7d', 'last 7 days'],
  ['-30d', 'last 30 days'],
] as const;

interface NothingProps {
  /** "No trace matches". */
  readonly title: string;
  /** Null: the page has no filter. */
  readonly q: string | null;
  /** Further advice, below the title. */
  readonly children?: ComponentChildren;
}

export function Nothing({ title, q, children }: NothingProps): JSX.Element {
  const env = parameter('env');
  const from = parameter('from') ?? DEFAULT_FROM;
  return (
    <>
      <h2>{title}</h2>
      <p>
        Nothing in {rangeName(parameter('from'), parameter('to'))}
        {q === null || q === '' ? '' : ' for this filter'}.
      </p>
      {children}
      <p class="actions">
        {LONGER.filter(([start]) => start !== from || parameter('to') !== null).map(([start, name]) => (
          <Button key={start} onClick={() => setQuery({ from: start, to: null })}>
            {name}
          </Button>
        ))}
        {termsOf(q ?? '').map((term) => (
          <Button key={term} onClick={() => setQuery({ q: withoutTerm(q ?? '', term) })}>
            without <code>{visible(term)}</code>
          </Button>
        ))}
        {env === null ? null : <Button onClick={() => setQuery({ env: null })}>all environments</Button>}
      </p>
    </>
  );
}
