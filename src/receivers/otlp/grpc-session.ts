/**
 * The care for one HTTP/2 connection: how long it may idle and live, whether its peer still answers, and how often that peer
 * may ask. The words and defaults are the Collector's, which are grpc-go's.
 */
import { randomInt } from 'node:crypto';
import { constants, type ServerHttp2Session } from 'node:http2';
import type { KeepaliveOptions } from './grpc-options.ts';

/** A connection's age is spread by a tenth, so that clients that came together do not leave together. */
const AGE_SPREAD = 10;
/** A peer may ask too often this many times before it is sent away. */
const MAX_STRIKES = 2;
/** Without calls and without leave to ask, a peer may do so this often. */
const IDLE_PING_INTERVAL_MS = 2 * 3_600_000;

export class GrpcSession {
  readonly #session: ServerHttp2Session;
  readonly #options: KeepaliveOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #idleTimer: NodeJS.Timeout | null = null;
  #calls = 0;
  #strikes = 0;
  #lastPing = 0;

  /** Who does not greet within `greetingMs` is no client: its connection is cut. */
  constructor(session: ServerHttp2Session, options: KeepaliveOptions, greetingMs: number) {
    this.#session = session;
    this.#options = options;
    session.on('error', () => undefined); // A broken connection is the client's affair; its calls end by themselves.
    session.on('ping', () => this.#judgePing());
    session.on('close', () => this.#forgetTimers());
    this.#watchGreeting(greetingMs);
    this.#watchAge();
    this.#watchPeer();
    this.#watchIdleness();
  }

  begin(): void {
    this.#calls++;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
  }

  end(): void {
    this.#calls--;
    this.#strikes = 0;
    if (this.#calls === 0) this.#watchIdleness();
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

  /** Answering is cheap, but not free: who asks too often is told so, as grpc-go does. */
  #judgePing(): void {
    const { min_time: minimum, permit_without_stream: permitted } = this.#options.enforcement_policy;
    const now = performance.now();
    const wanted = this.#calls > 0 || permitted ? minimum : IDLE_PING_INTERVAL_MS;
    const tooSoon = this.#lastPing > 0 && now - this.#lastPing < wanted;
    this.#lastPing = now;
    if (!tooSoon) return;
    this.#strikes++;
    if (this.#strikes <= MAX_STRIKES) return;
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, undefined, Buffer.from('too_many_pings'));
    this.#session.close();
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
