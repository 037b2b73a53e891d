/**
 * The care for one HTTP/2 connection: how long it may idle and live, whether its peer still answers, and what the peer may ask
 * for in vain: pings, and calls that it resets. The words and defaults are the Collector's, which are grpc-go's.
 */
import { randomInt } from 'node:crypto';
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { KeepaliveOptions } from './grpc-options.ts';

/** A connection's age is spread by a tenth, so that clients that came together do not leave together. */
const AGE_SPREAD = 10;
/** A peer may ask too often this many times before it is sent away. */
const MAX_STRIKES = 2;
/** Without calls and without leave to ask, a peer may do so this often. */
const IDLE_PING_INTERVAL_MS = 2 * 3_600_000;

/** Calls that a peer resets before they are answered, at first and then for each second: a rapid reset is cut off. */
const MOST_RESETS = 100;
const RESETS_PER_SECOND = 20;
/** A peer that is sent away has this long to read why. */
const FAREWELL_MS = 500;

/** Tells those that count connections what this one is used for, and by which project. */
export type SessionMark = (use: 'idle' | 'working', project: string) => void;

export interface SessionParts {
  readonly keepalive: KeepaliveOptions;
  /** A peer that does not greet within this is no client: its connection is cut. */
  readonly greetingMs: number;
  readonly mark: SessionMark;
}

export class GrpcSession {
  readonly #session: ServerHttp2Session;
  readonly #options: KeepaliveOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #idleTimer: NodeJS.Timeout | null = null;
  #calls = 0;
  #strikes = 0;
  #lastPing = 0;
  #resetsLeft = MOST_RESETS;
  #resetsSince = performance.now();
  #isSentAway = false;
  readonly #mark: SessionMark;
  /** Of the last admitted call; null before it. */
  #project: string | null = null;

  constructor(session: ServerHttp2Session, { keepalive, greetingMs, mark }: SessionParts) {
    this.#session = session;
    this.#options = keepalive;
    this.#mark = mark;
    session.on('error', () => undefined); // A broken connection is the client's affair; its calls end by themselves.
    session.on('ping', () => this.#judgePing());
    session.on('close', () => this.#forgetTimers());
    this.#watchGreeting(greetingMs);
    this.#watchAge();
    this.#watchPeer();
    this.#watchIdleness();
  }

  /** A call has begun. False when it must not be served, because the peer is sent away. */
  begin(stream: ServerHttp2Stream): boolean {
    if (this.#isSentAway) {
      stream.destroy();
      return false;
    }
    this.#calls++;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    stream.once('close', () => this.#end(stream));
    return true;
  }

  /** A call of this project was admitted. */
  admitted(project: string): void {
    this.#project = project;
    this.#mark('working', project);
  }

  #end(stream: ServerHttp2Stream): void {
    this.#calls--;
    if (stream.headersSent) this.#strikes = 0;
    else this.#judgeReset();
    if (this.#calls > 0) return;
    if (this.#project !== null) this.#mark('idle', this.#project);
    this.#watchIdleness();
  }

  /**
   * Tells the peer to go elsewhere, and closes once every call is answered. A call that is under way meanwhile was not begun
   * here, as the peer learns from the same message, and its library sends it again by itself.
   */
  drain(): void {
    if (!this.#session.closed) this.#session.close();
  }

  destroy(): void {
    this.#session.destroy();
  }

  #watchGreeting(greetingMs: number): void {
    const greeting = this.#after(greetingMs, () => this.destroy());
    this.#session.once('remoteSettings', () => this.#cancel(greeting));
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

  #watchIdleness(): void {
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

  /** Answering is cheap, but not free: a peer that asks too often is told so, as grpc-go does. */
  #judgePing(): void {
    const { min_time: minimum, permit_without_stream: permitted } = this.#options.enforcement_policy;
    const now = performance.now();
    const wanted = this.#calls > 0 || permitted ? minimum : IDLE_PING_INTERVAL_MS;
    const tooSoon = this.#lastPing > 0 && now - this.#lastPing < wanted;
    this.#lastPing = now;
    if (!tooSoon) return;
    this.#strikes++;
    if (this.#strikes > MAX_STRIKES) this.#sendAway('too_many_pings');
  }

  /** Beginning a call costs much more than resetting it. */
  #judgeReset(): void {
    const now = performance.now();
    const regained = ((now - this.#resetsSince) / 1000) * RESETS_PER_SECOND;
    this.#resetsLeft = Math.min(MOST_RESETS, this.#resetsLeft + regained) - 1;
    this.#resetsSince = now;
    if (this.#resetsLeft < 0) this.#sendAway('too_many_resets');
  }

  #sendAway(reason: string): void {
    if (this.#isSentAway || this.#session.destroyed) return;
    this.#isSentAway = true;
    this.#session.removeAllListeners('ping');
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, undefined, Buffer.from(reason));
    this.#session.close();
    this.#after(FAREWELL_MS, () => this.destroy());
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

  #forgetTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
  }
}

/** The longest a timer can wait: an age and its spread may be more. */
const MAX_TIMER_MS = 2 ** 31 - 1;
