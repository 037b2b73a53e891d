/**
 * People, their one-time links and sessions, and read tokens. Secrets are stored as SHA-256 only; the caller creates
 * and hashes them. The `postgres` extension offers it.
 */
import type { Capability } from './capability.ts';

/** In ascending order of rights. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Null: all projects. Always null for an admin. */
  readonly projects: readonly string[] | null;
  readonly seesContent: boolean;
}

export interface PersonRow extends Person {
  readonly createdAt: Date;
  /** The last use of a session; null without a session. */
  readonly seenAt: Date | null;
  readonly sessions: readonly SessionRow[];
}

export interface SessionRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly address: string | null;
  readonly agent: string | null;
}

/** A person that is created, or the changed parts of one that exists. */
export interface PersonDraft {
  readonly name: string;
  readonly role?: Role;
  readonly projects?: readonly string[] | null;
  readonly seesContent?: boolean;
}

/** Milliseconds. A session ends when it is not used for `idleMs`, and at the age of `ageMs`. */
export interface SessionLifetime {
  readonly ageMs: number;
  readonly idleMs: number;
}

export interface NewSession {
  readonly hash: Uint8Array;
  readonly address: string | null;
  readonly agent: string | null;
}

export interface Session {
  readonly id: string;
  readonly person: Person;
}

export interface ReadTokenRow {
  readonly publicId: string;
  readonly project: string;
  readonly label: string | null;
  readonly seesContent: boolean;
  /** The id of the person that created it; null when the person was removed. */
  readonly createdBy: string | null;
  /** Their name at that time. */
  readonly creator: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly usedAt: Date | null;
}

export interface ReadTokenDraft {
  readonly project: string;
  readonly label: string | null;
  readonly seesContent: boolean;
  readonly expiresAt: Date | null;
}

export interface StoredReadToken extends ReadTokenRow {
  readonly hash: Uint8Array;
  /** By the clock of the database. */
  readonly isExpired: boolean;
}

/** The origin of a change, for the audit: the id and the name of a person, or a command of the command line. */
export interface Actor {
  readonly id: string | null;
  readonly name: string;
}

/** The actor of changes that are made without the console. */
export const COMMAND_LINE: Actor = { id: null, name: 'the command line' };

/** Each change is stored in one transaction with its audit entry. */
export interface People {
  list(): Promise<readonly PersonRow[]>;
  /** Creates the person of this name. Rejects with a `UserError` when the name is taken. */
  create(draft: PersonDraft, by: Actor): Promise<Person>;
  /** The changes also apply to open sessions. Null when there is no such person. */
  change(id: string, draft: Omit<PersonDraft, 'name'>, by: Actor): Promise<Person | null>;
  findByName(name: string): Promise<Person | null>;
  /** Also ends their sessions. False when there is no such person. */
  remove(id: string, by: Actor): Promise<boolean>;
  /** Stores a one-time link. False when there is no such person. */
  addLink(id: string, link: { readonly hash: Uint8Array; readonly lifetimeMs: number }, by: Actor): Promise<boolean>;
  /** Consumes the link and opens a session. Null when the link is unknown, used or expired. */
  useLink(hash: Uint8Array, session: NewSession): Promise<Session | null>;
  findSession(hash: Uint8Array, lifetime: SessionLifetime): Promise<Session | null>;
  endSession(hash: Uint8Array, by: Actor): Promise<void>;
  removeExpiredSessions(lifetime: SessionLifetime): Promise<void>;
  listTokens(project: string): Promise<readonly ReadTokenRow[]>;
  addToken(
    draft: ReadTokenDraft,
    secret: { readonly publicId: string; readonly hash: Uint8Array },
    by: Actor,
  ): Promise<void>;
  /** Null when there is no such token. */
  findToken(publicId: string): Promise<StoredReadToken | null>;
  /** False when the project has no such token. */
  revokeToken(project: string, publicId: string, by: Actor): Promise<boolean>;
}

export const PEOPLE: Capability<People> = { name: 'people' };
