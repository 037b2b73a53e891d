/**
 * Shared by the protocols of one receiver: the pipelines, and the metrics and log lines of acknowledgements and
 * refusals.
 */
import type { Logger } from '../../component/logger.ts';
import type { Counter, Histogram, Meter } from '../../component/meter.ts';
import { maskedError, maskSecrets } from '../../component/masked-text.ts';
import type { Pipeline } from '../../component/receiver.ts';
import { diagnosticOf, type RefusalDetails, Rejection, type Sender } from '../../errors.ts';
import type { Capabilities } from '../../component/capabilities/capability.ts';
import { REFUSED_REQUESTS } from '../../component/capabilities/refused-requests.ts';
import type { Signal } from '../../pdata/context.ts';
import type { ByteBudget } from './byte-budget.ts';

export interface ReceptionParts {
  readonly pipelines: ReadonlyMap<Signal, Pipeline>;
  readonly budgets: readonly ByteBudget[];
  readonly logger: Logger;
  readonly meter: Meter;
  readonly capabilities: Capabilities;
}

/** The origin of a refused request, for its log line. */
export interface Origin {
  /** Null before the request is admitted. */
  readonly sender: Sender | null;
  /** The address of the client, or of the proxy in front; null for a Unix domain socket. */
  readonly peer: string | null;
  /** The key of the request must not be in the log line, in whatever other place the client sends it too. */
  readonly authorization?: string | undefined;
}

const UNKNOWN: Sender = { project: null, key: null };

export class Reception {
  readonly pipelines: ReadonlyMap<Signal, Pipeline>;
  readonly logger: Logger;
  readonly #capabilities: Capabilities;
  readonly #refusals: Counter;
  readonly #acknowledged: Histogram;
  #inFlight = 0;

  constructor({ pipelines, budgets, logger, meter, capabilities }: ReceptionParts) {
    this.#capabilities = capabilities;
    this.pipelines = pipelines;
    this.logger = logger;
    this.#refusals = meter.counter('sluice_refusals', 'Requests refused, by signal and diagnostic code.');
    this.#acknowledged = meter.histogram(
      'sluice_acknowledge_seconds',
      'Time from the request line to the answer of accepted requests.',
      ACKNOWLEDGE_BOUNDS,
    );
    meter.gauge('sluice_bytes_in_flight', 'Bytes reserved by requests that are not answered yet.', () =>
      budgets.reduce((sum, { reservedBytes }) => sum + reservedBytes, 0),
    );
    meter.gauge('sluice_requests_in_flight', 'Requests that are not answered yet.', () => this.#inFlight);
  }

  begin(): void {
    this.#inFlight++;
  }

  end(): void {
    this.#inFlight--;
  }

  /** `started`: a time of `performance.now()`. */
  acknowledge(signal: Signal, started: number): void {
    this.#acknowledged.record((performance.now() - started) / 1000, { signal });
  }

  refuse(signal: Signal | 'none', rejection: Rejection, { sender, peer, authorization = '' }: Origin): void {
    const code = diagnosticOf(rejection.code);
    this.#refusals.add(1, { signal, code });
    const { project, key } = sender ?? rejection.sender ?? UNKNOWN;
    const who = { ...(project === null ? {} : { project }), ...(key === null ? {} : { key }), peer };
    const { refusal } = rejection;
    const details = maskedDetails(rejection.details, authorization.slice(authorization.indexOf(' ') + 1));
    this.logger.info({ signal, code, status: refusal.status, ...who, details }, 'request refused');
    const bytes = rejection.details.received_bytes ?? null;
    const { message } = refusal;
    const known = signal === 'none' ? null : signal;
    const cause = [details.cause, details.hint].filter((each) => each !== undefined).join('. ') || null;
    const seen = { code, message, cause, signal: known, project, key, bytes, address: peer };
    this.#capabilities.find(REFUSED_REQUESTS)?.add(seen);
  }

  /** The refusal for an error. An error other than a `Rejection` is a bug. */
  rejectionOf(error: unknown): Rejection {
    if (error instanceof Rejection) return error;
    this.logger.error({ error: maskedError(error) }, 'a request failed unexpectedly');
    return new Rejection('decode_failed');
  }
}

/** `received` is a text of the client. `expected` may be one that a client sent with an earlier trace. */
function maskedDetails({ expected, received, ...others }: RefusalDetails, key: string): RefusalDetails {
  return {
    ...others,
    ...(expected === undefined ? {} : { expected: maskSecrets(expected, key) }),
    ...(received === undefined ? {} : { received: maskSecrets(received, key) }),
  };
}

const ACKNOWLEDGE_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
