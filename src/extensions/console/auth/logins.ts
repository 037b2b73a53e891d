/** Opens and ends sessions, and makes links. */
import type { Actor, People, SessionLifetime } from '../../../component/capabilities/people.ts';
import type { ProjectAdministration } from '../../../component/capabilities/administration.ts';
import { networkOf } from '../../../net/client-network.ts';
import type { FailedLogins } from '../server/limits.ts';
import type { LoginControl } from '../server/route.ts';
import type { Arrival, Authentication } from './authentication.ts';
import type { SessionCookie } from './cookie.ts';
import { createSecret, hashOfSecret, LINK_LIFETIME_MS, linkOf } from './secrets.ts';

const LONGEST_AGENT = 200;
/** The list of projects is read again after this time. */
const PROJECTS_LIFE_MS = 2000;

interface LoginParts {
  readonly people: People;
  readonly administration: ProjectAdministration;
  readonly cookie: SessionCookie;
  readonly authentication: Authentication;
  readonly failed: FailedLogins;
  /** The origin for links in answers to a request with this Host. */
  readonly originFor: (host: string) => string;
  readonly now: () => number;
}

interface Visit extends Arrival {
  readonly host: string;
  readonly actor: Actor;
}

export class Logins {
  readonly #parts: LoginParts;
  #projects: { readonly names: ReadonlySet<string>; readonly readMs: number } | null = null;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  for(visit: Visit): LoginControl {
    return {
      open: (link) => this.#open(link, visit),
      close: () => this.#close(visit),
      invite: (person) => this.#invite(person, visit),
    };
  }

  async projectExists(name: string): Promise<boolean> {
    const nowMs = performance.now();
    const known = this.#projects;
    if (known !== null && nowMs - known.readMs < PROJECTS_LIFE_MS && known.names.has(name)) return true;
    const projects = await this.#parts.administration.listProjects();
    this.#projects = { names: new Set(projects.map((project) => project.name)), readMs: nowMs };
    return this.#projects.names.has(name);
  }

  async #open(link: string, { headers, address }: Visit): ReturnType<LoginControl['open']> {
    const { people, cookie, authentication, failed } = this.#parts;
    const client = networkOf(address);
    failed.check(client);
    const hash = hashOfSecret(link);
    const secret = createSecret();
    const agent = headers['user-agent']?.slice(0, LONGEST_AGENT) ?? null;
    const newSession = { hash: secret.hash, address: address === '' ? null : address, agent };
    const session = hash === null ? null : await people.useLink(hash, newSession);
    if (session === null) {
      failed.add(client);
      return null;
    }
    const { lifetime } = authentication;
    await people.removeExpiredSessions(lifetime satisfies SessionLifetime).catch(() => undefined);
    return { person: session.person, cookie: cookie.set(secret.text, lifetime.ageMs) };
  }

  async #close({ headers, actor }: Visit): Promise<string> {
    const { people, cookie, authentication } = this.#parts;
    const hash = authentication.sessionHashIn(headers.cookie);
    if (hash !== null) await people.endSession(hash, actor);
    return cookie.remove();
  }

  async #invite(person: string, { host, actor }: Visit): ReturnType<LoginControl['invite']> {
    const { people, originFor, now } = this.#parts;
    const secret = createSecret();
    const added = await people.addLink(person, { hash: secret.hash, lifetimeMs: LINK_LIFETIME_MS }, actor);
    if (!added) return null;
    return { link: linkOf(originFor(host), secret), expiresAt: new Date(now() + LINK_LIFETIME_MS) };
  }
}
