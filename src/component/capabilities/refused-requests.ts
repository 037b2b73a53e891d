/** The last requests that receivers refused, without their bodies. The daemon offers it; receivers add to it. */
import type { Signal } from '../../pdata/context.ts';
import type { Capability } from './capability.ts';

export interface RefusedRequest {
  /** Unix milliseconds. */
  readonly timeMs: number;
  /** The diagnostic code. */
  readonly code: string;
  /** The public message. */
  readonly message: string;
  /** What the log line tells beyond the public message; no text of the client. */
  readonly cause: string | null;
  /** Null before the route is known. */
  readonly signal: Signal | null;
  readonly project: string | null;
  /** The public id of the key. */
  readonly key: string | null;
  readonly bytes: number | null;
  readonly address: string | null;
}

export interface RefusedRequests {
  add(request: Omit<RefusedRequest, 'timeMs'>): void;
  /** The newest first. */
  list(): readonly RefusedRequest[];
}

export const REFUSED_REQUESTS: Capability<RefusedRequests> = { name: 'refused-requests' };
