/** Finds the caller of a request: by a read token, by the header of a trusted proxy, or by a session. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { People, Person, Role, SessionLifetime } from '../../../component/capabilities/people.ts';
import type { Logger } from '../../../component/logger.ts';
import { hashApiKey, publicIdOf, publicIdOfReadToken } from '../../../pdata/api-key.ts';
import { ConsoleError } from '../errors.ts';
import { type AuthOptions, parseRange } from '../options.ts';
import type { Caller } from '../server/route.ts';
import type { SessionCookie } from './cookie.ts';
import { hashOfSecret } from './secrets.ts';
import { DAY_MS } from '../../../pdata/time-units.ts';

const IDLE_MS = 7 * DAY_MS;
/** The interval of warnings about a header from an address that is not trusted. */
const WARNING_MS = 60_000;
const LONGEST_NAME = 100;
const TOKEN_HINT = 'Make a read token on the page of the project.';
/** A connection over a Unix domain socket has no address. */
const SOCKET_ADDRESS = '127.0.0.1';
const BEARER = /^Bearer +(\S+) *$/iu;
const BASIC = /^Basic +([A-Za-z0-9+/=_-]+) *$/iu;

export interface Arrival {
  readonly headers: IncomingHttpHeaders;
  /** Empty for a Unix domain socket. */
  readonly address: string;
}

interface AuthenticationParts {
  readonly options: AuthOptions;
  /** Whether every reader may see content. */
  readonly content: boolean;
  readonly people: People;
  readonly cookie: SessionCookie;
  readonly logger: Logger;
}

export class Authentication {
  readonly lifetime: SessionLifetime;
  readonly #parts: AuthenticationParts;
  readonly #trusted = new BlockList();
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: AuthenticationParts) {
    this.#parts = parts;
    const ageMs = parts.options.session_lifetime;
    this.lifetime = { ageMs, idleMs: Math.min(IDLE_MS, ageMs) };
    for (const range of parts.options.proxy.trusted.map(parseRange))
      if (range !== null) this.#trusted.addSubnet(range.address, range.bits, range.family);
  }

  /** Throws `login_required`. A wrong credential is not replaced by another one of the same request. */
  async callerOf(arrival: Arrival): Promise<Caller> {
    const { authorization } = arrival.headers;
    if (authorization !== undefined) return this.#byToken(authorization);
    const { options } = this.#parts;
    if (options.mode === 'none') return this.#anonymous();
    const named = options.mode === 'proxy' ? this.#nameByProxy(arrival) : null;
    if (named !== null) return this.#byProxy(named);
    return this.#bySession(arrival.headers.cookie);
  }

  /** The hash of the session's token in the cookie; null when there is none. */
  sessionHashIn(header: string | undefined): Uint8Array | null {
    const value = this.#parts.cookie.read(header);
    return value === null ? null : hashOfSecret(value);
  }

  async #bySession(header: string | undefined): Promise<Caller> {
    const hash = this.sessionHashIn(header);
    const session = hash === null ? null : await this.#parts.people.findSession(hash, this.lifetime);
    if (session === null) throw new ConsoleError('login_required');
    return this.#callerFor(session.person, 'cookie');
  }

  async #byToken(authorization: string): Promise<Caller> {
    const text = tokenIn(authorization);
    if (publicIdOf(text) !== null)
      throw new ConsoleError('login_required', {
        message: 'This is an ingest key, which only writes.',
        hint: TOKEN_HINT,
      });
    const publicId = publicIdOfReadToken(text);
    const token = publicId === null ? null : await this.#parts.people.findToken(publicId);
    const valid =
      token !== null && timingSafeEqual(token.hash, hashApiKey(text)) && token.revokedAt === null && !token.isExpired;
    if (!valid) throw new ConsoleError('login_required', { message: 'The read token is not valid.', hint: TOKEN_HINT });
    return {
      by: 'token',
      id: token.publicId,
      name: token.label ?? token.publicId,
      role: 'viewer',
      projects: [token.project],
      seesContent: this.#parts.content && token.seesContent,
    };
  }

  /** The name that a trusted proxy gave; null without one. */
  #nameByProxy({ headers, address }: Arrival): string | null {
    const name = headers[this.#parts.options.proxy.header.toLowerCase()];
    if (name === undefined) return null;
    const from = address === '' ? SOCKET_ADDRESS : address;
    if (this.#trusted.check(from, isIPv6(from) ? 'ipv6' : 'ipv4')) return typeof name === 'string' ? name : null;
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs >= WARNING_MS) {
      this.#warnedMs = nowMs;
      this.#parts.logger.warn(
        { address: from, option: 'auth.proxy.trusted' },
        'a header that names a person came from an address that is not trusted, and was ignored',
      );
    }
    return null;
  }

  async #byProxy(name: string): Promise<Caller> {
    if (name === '' || name.length > LONGEST_NAME) throw new ConsoleError('login_required');
    const known = await this.#parts.people.findByName(name);
    if (known !== null) return this.#callerFor(known, 'proxy');
    const { role } = this.#parts.options.proxy;
    const stranger = { id: '', name, role, projects: role === 'admin' ? null : [], seesContent: role === 'admin' };
    return this.#callerFor(stranger, 'proxy');
  }

  #anonymous(): Caller {
    const role: Role = this.#parts.options.anonymous_role;
    return this.#callerFor({ id: '', name: 'anyone', role, projects: null, seesContent: true }, 'none');
  }

  #callerFor({ id, name, role, projects, seesContent }: Person, by: Caller['by']): Caller {
    return { by, id, name, role, projects, seesContent: this.#parts.content && seesContent };
  }
}

/** The token of `Bearer`, or the password of `Basic`. Empty when it has neither form. */
function tokenIn(authorization: string): string {
  const bearer = BEARER.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  const basic = BASIC.exec(authorization)?.[1];
  if (basic === undefined) return '';
  const text = Buffer.from(basic, 'base64').toString('latin1');
  return text.slice(text.indexOf(':') + 1);
}
