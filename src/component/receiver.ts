/**
 * A receiver accepts requests and passes each to the pipeline of its signal. The returned promise is the
 * acknowledgement.
 */
import type { Encoding, RequestInfo, Signal } from '../pdata/context.ts';
import type { Rejection, Sender } from '../errors.ts';
import type { Quota } from './capabilities/ledger.ts';
import type { Component, Declaration, Host } from './component.ts';

/** The compression of a body that is delivered compressed. */
export interface Compression {
  /** Most expanded bytes. */
  readonly limitBytes: number;
  /** The expanded size that the sender declares; an estimate. */
  readonly expectedBytes: number;
}

/** The body of one request after it was read. */
export interface Delivery {
  /**
   * The pipeline drops it after the pass. Nothing else should hold it, because rows may wait for their commit for long.
   */
  body: Uint8Array;
  /** Called after the pass: the memory of the body may be reused. */
  release?(): void;
  /** Set for a gzip body, which is expanded in the pass. */
  gzip: Compression | null;
  readonly encoding: Encoding;
  /** Identifies the raw bytes; see `Claim.replayKey`. */
  readonly replayKey: Uint8Array;
  /** Allowed nesting of AnyValue. */
  readonly maxNestingDepth: number;
}

/** An admitted request that waits for its body. */
export interface Admission {
  /** The project of the request, for fair sharing; empty when no processor finds it. */
  readonly project: string;
  /** For the log line of a refusal. */
  readonly sender: Sender;
  /**
   * Runs the pass and the commit. The bytes must not change until the promise settles. Resolves when everything is
   * durable; rejects with a `Rejection` otherwise.
   */
  deliver(delivery: Delivery): Promise<Acceptance>;
  /**
   * Ends the request, delivered or not; `refusal` is the reason if it was refused. A pipeline that a reload replaced
   * stops after its last request has ended.
   */
  release(refusal?: Rejection): void;
}

export interface Acceptance {
  readonly replayed: boolean;
  readonly quota: Quota | null;
}

/** The pipeline of one signal, for its receivers. */
export interface Pipeline {
  readonly signal: Signal;
  /** Headers only: authentication. Throws a `Rejection`, with the sender if it is known. */
  admit(request: RequestInfo): Promise<Admission>;
}

export interface Receiver extends Component {}

export interface ReceiverDefinition<Options> extends Declaration<Options> {
  readonly kind: 'receiver';
  readonly signals: readonly Signal[];
  /** `pipelines` has an entry for each signal of this receiver. A reload changes it, so read it for every request. */
  create(options: Options, host: Host, pipelines: ReadonlyMap<Signal, Pipeline>): Receiver;
}

export function defineReceiver<Options>(
  definition: Omit<ReceiverDefinition<Options>, 'kind'>,
): ReceiverDefinition<Options> {
  return { kind: 'receiver', ...definition };
}
