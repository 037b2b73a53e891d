/** No trace matches: where the newest one is, and what could be left out of the search. */
import type { JSX } from 'preact';
import type { TraceRow } from '../../../api/shapes.ts';
import { Button, Link, Name } from '../../parts/basics.tsx';
import { pageHref, parameter, setQuery } from '../../state/location.ts';
import { visible } from '../../text/visible.ts';
import { termsOf, withoutTerm } from '../../text/filter-text.ts';
import { dateTime, msOf, rangeName } from '../../text/time.ts';
import type { Asked } from '../../state/asked.ts';

export function NothingMatches({ asked, newest }: { asked: Asked; newest: TraceRow | null }): JSX.Element {
  const q = asked.q ?? '';
  const env = parameter('env');
  return (
    <>
      <h2>No trace matches</h2>
      <p>
        Nothing in {rangeName(parameter('from'), parameter('to'))}
        {q === '' ? '' : ' for this filter'}.
      </p>
      {newest === null ? null : (
        <p>
          The newest trace of the project is{' '}
          <Link href={pageHref('traces', newest.trace_id)}>
            <Name text={newest.name} />
          </Link>
          , {dateTime(msOf(newest.start_time_unix_nano), false)}.
        </p>
      )}
      <p class="actions">
        <Button onClick={() => setQuery({ from: '-7d', to: null })}>last 7 days</Button>
        <Button onClick={() => setQuery({ from: '-30d', to: null })}>last 30 days</Button>
        {termsOf(q).map((term) => (
          <Button key={term} onClick={() => setQuery({ q: withoutTerm(q, term) })}>
            without <code>{visible(term)}</code>
          </Button>
        ))}
        {env === null ? null : <Button onClick={() => setQuery({ env: null })}>all environments</Button>}
      </p>
    </>
  );
}
