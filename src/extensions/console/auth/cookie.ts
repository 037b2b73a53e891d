/** The cookie of a session. */

const SECURE_NAME = '__Host-sluice';

export class SessionCookie {
  readonly #name: string;
  readonly #secure: boolean;

  /** The port distinguishes the cookies of several consoles on one host: browsers ignore ports. */
  constructor({ secure, port }: { readonly secure: boolean; readonly port: number }) {
    this.#secure = secure;
    this.#name = secure ? SECURE_NAME : `sluice_${port}`;
  }

  /** The value in a `Cookie` header, or null. */
  read(header: string | undefined): string | null {
    for (const part of (header ?? '').split(';')) {
      const at = part.indexOf('=');
      if (at > 0 && part.slice(0, at).trim() === this.#name) return part.slice(at + 1).trim();
    }
    return null;
  }

  set(value: string, lifetimeMs: number): string {
    return this.#format(value, Math.floor(lifetimeMs / 1000));
  }

  remove(): string {
    return this.#format('', 0);
  }

  #format(value: string, maxAge: number): string {
    const secure = this.#secure ? '; Secure' : '';
    return `${this.#name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
  }
}
