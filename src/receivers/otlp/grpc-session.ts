/**
 * Keepalive of one HTTP/2 connection: idle time, age, pings to the peer, and limits on the peer's pings and on calls
 * that it resets. Names and defaults are the Collector's, which are grpc-go's.
 */
import { randomInt } from 'node:crypto';
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { PacedCalls } from './call-pacing.ts';
import type { KeepaliveOptions } from './grpc-options.ts';
import { HOUR_MS } from '../../pdata/time-units.ts';

/** The age varies by a tenth, so that clients that connected together do not reconnect together. */
const AGE_SPREAD = 10;
/** A peer may ping too early this many times before it is disconnected. */
const MAX_STRIKES = 2;
/** The minimum time between pings without open calls, unless `permit_without_stream`. */
const IDLE_PING_INTERVAL_MS = 2 * HOUR_MS;

/**
 * A peer may reset this many calls before they are answered, plus some each second: protection from rapid reset
 * attacks. A connection without an admitted call gets the lower limit, because it may be one of many.
 */
const MAX_RESETS = 100;
const FIRST_RESETS = 20;
const RESETS_PER_SECOND = 20;
/**
 * A peer with this many open calls beyond the limit is disconnected. node:http2 applies the limit itself, but only
 * after the peer has acknowledged it.
 */
const MAX_OVER_LIMIT = 100;
/**
 * The limit of concurrent calls before the first admitted one, because calls that begin and break off together block
 * the process.
 */
const FIRST_CALLS = 16;
/**
 * The flow-control window of a connection after the first admitted call, for a good rate with a long round-trip time.
 * Before, it is 64 KiB, the default of RFC 9113 §6.9.2.
 */
export const ADMITTED_WINDOW_BYTES = 1_048_576;
/** The time between GOAWAY and the end of the connection. */
const GOAWAY_GRACE_MS = 500;

/** Records the use of the connection and its project for the connection limit. */
export type SessionMark = (use: 'idle' | 'working', project: string) => void;

/** The limit of concurrent calls that a new connection announces. */
export const firstStreams = (maxConcurrentStreams: number): number => Math.min(maxConcurrentStreams, FIRST_CALLS);

export interface SessionParts {
  readonly keepalive: KeepaliveOptions;
  /** A connection without a SETTINGS frame of the peer is cut after this time. */
  readonly prefaceMs: number;
  readonly maxConcurrentStreams: number;
  readonly calls: PacedCalls;
  readonly mark: SessionMark;
}

export class GrpcSession {
  readonly #session: ServerHttp2Session;
  readonly #options: KeepaliveOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #idleTimer: NodeJS.Timeout | null = null;
  #calls = 0;
  readonly #paced: PacedCalls;
  #strikes = 0;
  #lastPing = 0;
  #resetsLeft = FIRST_RESETS;
  #resetsSince = performance.now();
  #isRejected = false;
  readonly #maxConcurrentStreams: number;
  readonly #maxCalls: number;
  readonly #mark: SessionMark;
  /** The project of the last admitted call; null before it. */
  #project: string | null = null;

  constructor(session: ServerHttp2Session, { keepalive, prefaceMs, maxConcurrentStreams, calls, mark }: SessionParts) {
    this.#session = session;
    this.#options = keepalive;
    this.#paced = calls;
    this.#maxConcurrentStreams = maxConcurrentStreams;
    this.#maxCalls = maxConcurrentStreams + MAX_OVER_LIMIT;
    this.#mark = mark;
    session.on('error', () => undefined); // The calls of a broken connection end by themselves.
    session.on('ping', () => this.#countPing());
    session.on('close', () => this.#clearTimers());
    this.#watchPreface(prefaceMs);
    this.#watchAge();
    this.#watchPeer();
    this.#watchIdle();
  }

  /**
   * A call has begun. Calls `serve` for it, which resolves with whether the call was refused for a reason of the
   * client. Does not call it when the peer is being disconnected, has too many open calls, or has reset the call.
   */
  begin(stream: ServerHttp2Stream, serve: () => Promise<boolean>): void {
    if (this.#calls >= this.#maxCalls) this.#cut('too_many_calls');
    if (this.#isRejected) {
      stream.destroy();
      return;
    }
    this.#calls++;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    stream.once('close', () => this.#end(stream));
    this.#paced.begin(() => {
      if (!stream.destroyed) void serve().then((isRefused) => this.#paced.end(isRefused));
    });
  }

  /** A call of this project was admitted. */
  admitted(project: string): void {
    if (this.#project === null && !this.#session.destroyed) {
      this.#resetsLeft += MAX_RESETS - FIRST_RESETS;
      this.#session.setLocalWindowSize(ADMITTED_WINDOW_BYTES);
      if (this.#maxConcurrentStreams > FIRST_CALLS)
        this.#session.settings({ maxConcurrentStreams: this.#maxConcurrentStreams });
    }
    this.#project = project;
    this.#mark('working', project);
  }

  /** Bytes of the message of an admitted call have arrived. */
  received(bytes: number): void {
    this.#paced.received(bytes);
  }

  #end(stream: ServerHttp2Stream): void {
    this.#calls--;
    if (stream.headersSent) this.#strikes = 0;
    else this.#countReset();
    if (this.#calls > 0) return;
    if (this.#project !== null) this.#mark('idle', this.#project);
    this.#watchIdle();
  }

  /**
   * Sends GOAWAY, and closes when every call is answered. GOAWAY names the last accepted call, so that the peer's
   * library sends later calls again on another connection.
   */
  drain(): void {
    // node:http2 throws when a session ends before it has read the bytes that its connection had received.
    setImmediate(() => {
      if (!this.#session.closed) this.#session.close();
    });
  }

  destroy(): void {
    this.#session.destroy();
  }

  readOn(): void {
    this.#paced.readOn();
  }

  #watchPreface(prefaceMs: number): void {
    const timer = this.#after(prefaceMs, () => this.destroy());
    this.#session.once('remoteSettings', () => this.#cancel(timer));
  }

  #watchAge(): void {
    const { max_connection_age: age, max_connection_age_grace: grace } = this.#options.server_parameters;
    if (age === 0) return;
    const spread = Math.floor(age / AGE_SPREAD);
    this.#after(age + (spread > 0 ? randomInt(-spread, spread + 1) : 0), () => {
      this.drain();
      if (grace > 0) this.#after(grace, () => this.destroy());
    });
  }

  #watchIdle(): void {
    const { max_connection_idle: idle } = this.#options.server_parameters;
    if (idle > 0 && !this.#session.closed) this.#idleTimer = setTimeout(() => this.drain(), idle).unref();
  }

  #watchPeer(): void {
    const { time, timeout } = this.#options.server_parameters;
    if (time === 0) return;
    this.#after(time, () => {
      const silent = this.#after(timeout, () => this.destroy());
      const asked = this.#session.ping(() => {
        this.#cancel(silent);
        if (!this.#session.closed) this.#watchPeer();
      });
      if (!asked) this.destroy();
    });
  }

  /** Disconnects a peer that pings too often, as grpc-go does. */
  #countPing(): void {
    const { min_time: minimum, permit_without_stream: permitted } = this.#options.enforcement_policy;
    const now = performance.now();
    const wanted = this.#calls > 0 || permitted ? minimum : IDLE_PING_INTERVAL_MS;
    const tooSoon = this.#lastPing > 0 && now - this.#lastPing < wanted;
    this.#lastPing = now;
    if (!tooSoon) return;
    this.#strikes++;
    if (this.#strikes > MAX_STRIKES) this.#disconnect('too_many_pings');
  }

  /** Limits resets, because starting a call costs the server much more than a reset costs the peer. */
  #countReset(): void {
    const now = performance.now();
    const regained = ((now - this.#resetsSince) / 1000) * RESETS_PER_SECOND;
    const most = this.#project === null ? FIRST_RESETS : MAX_RESETS;
    this.#resetsLeft = Math.min(most, this.#resetsLeft + regained) - 1;
    this.#resetsSince = now;
    if (this.#resetsLeft < 0) this.#cut('too_many_resets');
  }

  /** Ends the connection at once: the calls of the bytes that were read already must not begin. */
  #cut(reason: string): void {
    if (this.#isRejected || this.#session.destroyed) return;
    this.#isRejected = true;
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, undefined, Buffer.from(reason));
    this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #disconnect(reason: string): void {
    if (this.#isRejected || this.#session.destroyed) return;
    this.#isRejected = true;
    this.#session.removeAllListeners('ping');
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, undefined, Buffer.from(reason));
    this.#session.close();
    this.#after(GOAWAY_GRACE_MS, () => this.destroy());
  }

  #after(milliseconds: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        if (!this.#session.destroyed) act();
      },
      Math.min(milliseconds, MAX_TIMER_MS),
    ).unref();
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
  }
}

/** The longest delay of a timer. An age with its variation may be longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
