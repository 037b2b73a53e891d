/** No trace matches: shows where the newest one is, and which terms of the search could be removed. */
import type { JSX } from 'preact';
import type { TraceRow } from '../../../api/shapes/traces.ts';
import { Link, Name } from '../../parts/basics.tsx';
import { Nothing } from '../../parts/nothing.tsx';
import type { Asked } from '../../state/asked.ts';
import { pageHref } from '../../state/location.ts';
import { dateTime, msOf } from '../../text/time.ts';

export function NothingMatches({ asked, newest }: { asked: Asked; newest: TraceRow | null }): JSX.Element {
  return (
    <Nothing title="No trace matches" q={asked.q}>
      {newest === null ? null : (
        <p>
          The newest trace of the project is{' '}
          <Link href={pageHref('traces', newest.trace_id)}>
            <Name text={newest.name} />
          </Link>
          , {dateTime(msOf(newest.start_time_unix_nano), false)}.
        </p>
      )}
    </Nothing>
  );
}
