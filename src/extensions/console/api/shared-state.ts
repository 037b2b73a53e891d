/** State that the requests of one console share. */
import { LivePolls } from './live-polls.ts';
import { RecentAnswers } from './recent-answers.ts';

export interface SharedState {
  readonly recent: RecentAnswers;
  readonly live: LivePolls;
  /** Projects in which several spans report one call, and until when that is assumed, in milliseconds. */
  readonly repeats: Map<string, number>;
}

const STATES = new WeakMap<object, SharedState>();

/** The state that belongs to a capability, so consoles of several services in one process stay apart. */
export function sharedStateOf(owner: object): SharedState {
  const known = STATES.get(owner);
  if (known !== undefined) return known;
  const state = { recent: new RecentAnswers(), live: new LivePolls(), repeats: new Map<string, number>() };
  STATES.set(owner, state);
  return state;
}
