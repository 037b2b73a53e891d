/**
 * The limits on requests that both protocols have: the same bounds and defaults, described in the terms of each
 * protocol.
 */
import { timerOption } from '../../component/longest-wait.ts';

export interface LimitOptions {
  readonly max_nesting_depth: number;
  /** Bytes. */
  readonly max_in_flight_size: number;
  readonly max_header_size: number;
  /** Milliseconds. */
  readonly read_timeout: number;
}

interface LimitDescriptions {
  readonly inFlight: string;
  readonly headers: string;
}

export const sizeLimits = ({ inFlight, headers }: LimitDescriptions) => ({
  max_nesting_depth: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 32,
    description: 'Deepest nesting of an attribute value or log body.',
  },
  max_in_flight_size: {
    type: 'integer',
    format: 'byte_size',
    minimum: 1048576,
    default: '64MiB',
    description: inFlight,
  },
  max_header_size: {
    type: 'integer',
    format: 'byte_size',
    minimum: 1024,
    maximum: 1048576,
    default: '16KiB',
    description: headers,
  },
});

export const readTimeout = (description: string) => timerOption(100, '30s', description);
