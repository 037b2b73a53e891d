/**
 * Serves one call over gRPC, in the order of the HTTP contract: method, admit, encoding, message, inflate, deliver,
 * answer. The same strict decoder reads gRPC messages and HTTP bodies; no library decodes them before.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { maskedError } from '../../component/masked-text.ts';
import type { Admission, Delivery, Pipeline } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import type { Signal } from '../../pdata/context.ts';
import { readBody } from './body.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import { addressOf } from '../../net/address-of.ts';
import { answerAccepted, answerForeign, answerRefused } from './grpc-answer.ts';
import { FRAME_HEAD_BYTES, unframe } from './grpc-message.ts';
import { InFlight } from './in-flight.ts';
import { compressionOf } from './compression.ts';
import { requireContentEncoding } from './media-type.ts';
import type { GrpcOptions } from './grpc-options.ts';
import { isRepeated, requireOneKey } from './one-reading.ts';
import type { Reception } from './reception.ts';
import { replayKey } from './replay-key.ts';

const METHODS: ReadonlyMap<string, Signal> = new Map([
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'traces'],
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'logs'],
  ['/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', 'metrics'],
]);

const MIB = 1048576;
/** Also `application/grpc+proto`, and parameters. Another suffix is another serialization. */
const MEDIA_TYPE = /^application\/grpc(?:\+proto)?(?:;|$)/iu;

/** The metadata of a call from node:http2: repeated values joined, and as received. */
export interface CallHead {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

/** The connection of a call. */
export interface CallConnection {
  /** A call of this project was admitted. */
  admitted(project: string): void;
  /** Bytes of the message of an admitted call have arrived. */
  received(bytes: number): void;
}

export class GrpcCalls {
  readonly inFlight = new InFlight();
  readonly #options: GrpcOptions;
  readonly #reception: Reception;
  readonly #budget: ByteBudget;
  readonly #maxMessageBytes: number;
  #stopping = false;

  constructor(options: GrpcOptions, reception: Reception, budget: ByteBudget) {
    this.#options = options;
    this.#reception = reception;
    this.#budget = budget;
    this.#maxMessageBytes = options.max_recv_msg_size_mib * MIB;
  }

  /** From now on calls are refused with `shutting_down`. */
  stop(): void {
    this.#stopping = true;
  }

  /** Never rejects. Resolves with whether the call was refused for a reason of the client. */
  async serve(stream: ServerHttp2Stream, head: CallHead, connection: CallConnection): Promise<boolean> {
    const { headers } = head;
    this.inFlight.begin();
    this.#reception.begin();
    try {
      if (headers[':method'] === 'POST' && isGrpc(head)) return isOfClient(await this.#call(stream, head, connection));
      answerForeign(stream);
      return true;
    } catch (error) {
      this.#reception.logger.error({ error: maskedError(error) }, 'a call failed in the receiver');
      stream.destroy();
      return false;
    } finally {
      this.inFlight.end();
      this.#reception.end();
    }
  }

  /** Resolves with the refusal; null when the call was stored. */
  async #call(stream: ServerHttp2Stream, head: CallHead, connection: CallConnection): Promise<Rejection | null> {
    const signal = METHODS.get(head.headers[':path'] ?? '');
    const pipeline = signal === undefined ? undefined : this.#reception.pipelines.get(signal);
    if (pipeline === undefined) {
      const rejection = new Rejection('not_found');
      this.#reception.refuse('none', rejection, { sender: null, peer: peerOf(stream) });
      answerRefused(stream, rejection);
      return rejection;
    }
    return this.#export(stream, head, { pipeline, connection });
  }

  async #export(
    stream: ServerHttp2Stream,
    { headers, rawHeaders }: CallHead,
    { pipeline, connection }: { readonly pipeline: Pipeline; readonly connection: CallConnection },
  ): Promise<Rejection | null> {
    const started = performance.now();
    const { signal } = pipeline;
    const { authorization } = headers;
    let reservation: Reservation | null = null;
    let admission: Admission | null = null;
    let refusal: Rejection | undefined;
    try {
      if (this.#stopping) throw new Rejection('shutting_down');
      requireOneKey(rawHeaders);
      admission = await pipeline.admit({ signal, transport: 'grpc', authorization });
      connection.admitted(admission.project);
      stream.on('data', ({ length }: Buffer) => connection.received(length));
      reservation = this.#budget.open(admission.project);
      const acceptance = await admission.deliver(await this.#read(stream, headers, signal, reservation));
      answerAccepted(stream, signal, acceptance);
      this.#reception.acknowledge(signal, started);
      return null;
    } catch (error) {
      refusal = this.#reception.rejectionOf(error);
      this.#reception.refuse(signal, refusal, {
        sender: admission?.sender ?? null,
        peer: peerOf(stream),
        authorization,
      });
      answerRefused(stream, refusal);
      return refusal;
    } finally {
      admission?.release(refusal);
      reservation?.close();
    }
  }

  /** A separate method, so that references to the message end before the call is delivered. */
  async #read(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    signal: Signal,
    reservation: Reservation,
  ): Promise<Delivery> {
    const announced = requireContentEncoding(textOf(headers['grpc-encoding']));
    const limits = { bytes: this.#maxMessageBytes + FRAME_HEAD_BYTES, timeoutMs: this.#options.read_timeout };
    const { raw, contentEncoding } = unframe(await readBody(stream, null, limits, reservation), announced);
    if (raw.length === 0) throw new Rejection('empty_payload');
    return {
      body: raw,
      gzip: compressionOf(raw, contentEncoding, this.#maxMessageBytes),
      release: () => reservation.close(),
      encoding: 'protobuf',
      replayKey: replayKey(signal, { mediaType: 'application/grpc', contentEncoding }, raw),
      maxNestingDepth: this.#options.max_nesting_depth,
    };
  }
}

const isOfClient = (rejection: Rejection | null): boolean => rejection !== null && rejection.refusal.status < 500;

/** Null when the connection has ended: node:http2 then refuses access to its socket. */
function peerOf({ session }: ServerHttp2Stream): string | null {
  return session === undefined || session.destroyed ? null : addressOf(session.socket);
}

function isGrpc({ headers, rawHeaders }: CallHead): boolean {
  return MEDIA_TYPE.test(headers['content-type'] ?? '') && !isRepeated(rawHeaders, 'content-type');
}

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'object' ? header.join(',') : header;
