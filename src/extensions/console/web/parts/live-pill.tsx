/** The switch of the live list. */
import type { JSX } from 'preact';
import { useKeys } from '../state/keys.ts';
import { connected, liveOn } from '../state/live.ts';
import { hasTurn } from '../state/stream-turns.ts';

export function LivePill(): JSX.Element {
  const toggle = (): void => {
    liveOn.value = !liveOn.value;
  };
  useKeys({ l: toggle });
  const state = liveOn.value ? (connected.value ? 'on' : 'waiting') : 'off';
  const waiting = hasTurn.value ? 'not connected' : 'in the four windows used last';
  return (
    <button
      type="button"
      class={`button quiet live ${state}`}
      aria-pressed={liveOn.value}
      title={`Live (l): ${state === 'waiting' ? waiting : state}`}
      onClick={toggle}
    >
      <span class="dot" aria-hidden="true" />
      Live
    </button>
  );
}
