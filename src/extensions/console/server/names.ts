/**
 * The names and origins of the console. A page of another site can resolve its own name to this machine (DNS
 * rebinding), so a request must name the console in Host. Ports are ignored there, but not in Origin.
 */
import { isIP } from 'node:net';

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/@[\]]+)(?::\d{0,5})?$/u;
const LOOPBACK_NAME = /^(?:.+\.)?localhost$/u;

export interface NameOptions {
  readonly publicUrl: string;
  readonly allowedHosts: readonly string[];
  readonly tls: boolean;
}

export class Names {
  readonly #allowed: ReadonlySet<string>;
  readonly #publicOrigin: string | null;
  readonly #scheme: 'http' | 'https';

  constructor({ publicUrl, allowedHosts, tls }: NameOptions) {
    const url = publicUrl === '' ? null : new URL(publicUrl);
    this.#publicOrigin = url?.origin ?? null;
    this.#scheme = tls ? 'https' : 'http';
    this.#allowed = new Set([
      ...allowedHosts.map((name) => name.toLowerCase()),
      ...(url === null ? [] : [url.hostname]),
    ]);
  }

  /** Whether a request with this Host is for the console. */
  allows(host: string): boolean {
    const name = hostOf(host);
    if (name === null) return false;
    return isIP(name.replace(/^\[|\]$/gu, '')) !== 0 || LOOPBACK_NAME.test(name) || this.#allowed.has(name);
  }

  /** The origin for links: that of `public_url`, else the one that the browser uses. */
  originFor(host: string): string {
    return this.#publicOrigin ?? `${this.#scheme}://${host.toLowerCase()}`;
  }

  /** Whether an `Origin` is the console's own; `host` is the Host of the same request. */
  isOwn(origin: string, host: string): boolean {
    return origin === this.#publicOrigin || origin === `${this.#scheme}://${host.toLowerCase()}`;
  }
}

/** In lower case, without the port and a final point; null when it is not a name. */
function hostOf(host: string): string | null {
  return HOST.exec(host)?.[1]?.toLowerCase().replace(/\.$/u, '') ?? null;
}
