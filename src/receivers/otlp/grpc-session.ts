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
  readonly #timers: NodeJS.Timeout[] = [];
  #idleTimer: NodeJS.Timeout | null = null;
  #calls = 0;
  #strikes = 0;
  #lastPing = 0;

  constructor(session: ServerHttp2Session, options: KeepaliveOptions) {
    this.#session = session;
    this.#options = options;
    session.on('error', () => undefined); // A broken connection is the client's affair; its calls end by themselves.
    session.on('ping', () => this.#judgePing());
    session.on('close', () => this.#forgetTimers());
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
      const silent = setTimeout(() => this.destroy(), timeout).unref();
      this.#timers.push(silent);
      const asked = this.#session.ping(() => {
        clearTimeout(silent);
        this.#timers.splice(this.#timers.indexOf(silent), 1);
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

  #after(milliseconds: number, act: () => void): void {
    const timer = setTimeout(
      () => {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        if (!this.#session.destroyed) act();
      },
      Math.min(milliseconds, MAX_TIMER_MS),
    ).unref();
    this.#timers.push(timer);
  }

  #forgetTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
  }
}

/** The longest a timer can wait; a longer time is no different to anybody. */
const MAX_TIMER_MS = 2 ** 31 - 1;
