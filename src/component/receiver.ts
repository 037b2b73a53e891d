/** A receiver accepts requests and hands each to the pipeline of its signal; the promise it gets back is the acknowledgement. */
import type { Encoding, RequestInfo, Signal } from '../pdata/context.ts';
import type { Rejection } from '../errors.ts';
import type { Quota } from './capabilities/ledger.ts';
import type { Component, Declaration, Host } from './component.ts';

/** What bounds the expanding of a body. */
export interface Expansion {
  /** Most bytes there may be. */
  readonly limitBytes: number;
  /** Told how many they are said to be before room is taken, and how many they are; the last time counts. May throw a `Rejection`. */
  reserve(bytes: number): void;
}

/** A body that is still compressed when it is delivered. */
export interface Compression extends Expansion {
  /** How many bytes its sender says they are; a guess, for planning. */
  readonly expectedBytes: number;
}

/** One request's body, read. */
export interface Delivery {
  /** The pipeline drops it once its pass is over. Nothing else should hold it: rows can wait for their commit for long. */
  body: Uint8Array;
  /** Called once the pass is over: the memory of the body may be used again. */
  release?(): void;
  /** When the body is gzip: then it is expanded in the pass, where it is indexed. Right for small bodies only: it blocks. */
  readonly gzip: Compression | null;
  readonly encoding: Encoding;
  /** Identifies the raw bytes; see `Claim.replayKey`. */
  readonly replayKey: Uint8Array;
  /** AnyValue nesting allowed. */
  readonly maxNestingDepth: number;
}

/** A request past `admit`, waiting for its body. */
export interface Admission {
  /** The project the request belongs to, for shares among projects; empty when no processor finds one out. */
  readonly project: string;
  /**
   * The body's way through the pass and the commit. The bytes must not change until the promise settles.
   * Resolves when everything is durable; rejects with a `Rejection` otherwise.
   */
  deliver(delivery: Delivery): Promise<Acceptance>;
  /**
   * The request is over, delivered or not; `refusal` is what it was refused with, if it was. A pipeline that a reload replaced
   * is stopped once its last request is.
   */
  release(refusal?: Rejection): void;
}

export interface Acceptance {
  readonly replayed: boolean;
  readonly quota: Quota | null;
}

/** One signal's pipeline as its receivers see it. */
export interface Pipeline {
  readonly signal: Signal;
  /** Headers only: authentication. Throws a `Rejection`. */
  admit(request: RequestInfo): Promise<Admission>;
}

export interface Receiver extends Component {}

export interface ReceiverDefinition<Options> extends Declaration<Options> {
  readonly kind: 'receiver';
  readonly signals: readonly Signal[];
  /** `pipelines` has an entry for each signal this receiver is used for. A reload changes it: look in it for every request. */
  create(options: Options, host: Host, pipelines: ReadonlyMap<Signal, Pipeline>): Receiver;
}

export function defineReceiver<Options>(
  definition: Omit<ReceiverDefinition<Options>, 'kind'>,
): ReceiverDefinition<Options> {
  return { kind: 'receiver', ...definition };
}
