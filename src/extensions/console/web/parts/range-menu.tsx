/** The range of time: presets that stay relative in links, or two exact times. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { parameter, setQuery } from '../state/location.ts';
import { zone } from '../state/settings.ts';
import { DEFAULT_FROM, PRESETS, dateTime, rangeName, rangeOf, zoneName } from '../text/time.ts';
import { Button } from './basics.tsx';
import { Menu } from './dialog.tsx';

export function RangeMenu(): JSX.Element {
  const from = parameter('from');
  const to = parameter('to');
  return (
    <Menu label="Range of time (t)" text={rangeName(from, to)} id="range" class="range">
      {(close) => (
        <>
          {PRESETS.map((value) => (
            <button
              type="button"
              key={value}
              aria-current={value === (from ?? DEFAULT_FROM) && to === null ? 'true' : undefined}
              onClick={() => {
                close();
                setQuery({ from: value, to: null });
              }}
            >
              {rangeName(value, null)}
            </button>
          ))}
          <Exact from={from} to={to} close={close} />
        </>
      )}
    </Menu>
  );
}

function Exact({ from, to, close }: { from: string | null; to: string | null; close: () => void }): JSX.Element {
  const { fromMs, toMs } = rangeOf(from, to, Date.now());
  // A local time can be two moments, when summer time ends: one that is not changed stays itself.
  const msOf = (text: string, ms: number): number => (text === inputOf(ms) ? ms : msOfInput(text));
  const [start, setStart] = useState(inputOf(fromMs));
  const [end, setEnd] = useState(inputOf(toMs));
  const [first, last] = [msOf(start, fromMs), msOf(end, toMs)];
  // An input without a time has the zone of the other one.
  const zones = new Set([first || last, last || first].map((ms) => zoneName(ms || Date.now())));
  const apply = (event: Event): void => {
    event.preventDefault();
    // Not for two equal times, or one that is no time.
    if (!(first - last)) return;
    close();
    setQuery({ from: String(Math.min(first, last)), to: String(Math.max(first, last)) });
  };
  return (
    <form class="exact" onSubmit={apply}>
      <label>
        from
        <input type="datetime-local" step="1" value={start} onInput={(event) => setStart(event.currentTarget.value)} />
      </label>
      <label>
        to
        <input type="datetime-local" step="1" value={end} onInput={(event) => setEnd(event.currentTarget.value)} />
      </label>
      <p class="muted">{[...zones].join(' – ')}</p>
      <Button onClick={apply}>Apply</Button>
    </form>
  );
}

const inputOf = (ms: number): string => dateTime(ms, false).replace(' ', 'T');
const msOfInput = (text: string): number => Date.parse(zone.value === 'utc' ? `${text}Z` : text);
