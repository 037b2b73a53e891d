/** People of the console, their one-time links and sessions, and read tokens. Secrets arrive here as SHA-256 only. */
import { randomBytes } from 'node:crypto';
import type {
  Actor,
  NewSession,
  People,
  Person,
  PersonDraft,
  PersonRow,
  ReadTokenDraft,
  ReadTokenRow,
  Role,
  Session,
  SessionLifetime,
  SessionRow,
  StoredReadToken,
} from '../../component/capabilities/people.ts';
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import { UserError } from '../../errors.ts';
import { audited, type Change } from './audit.ts';
import { FOREIGN_KEY_VIOLATION, replaceError, UNIQUE_VIOLATION } from './sqlstate.ts';

type Row = Readonly<Record<string, unknown>>;

const ID_BYTES = 9;
/** A name is shown in lists and logs, and a header of a proxy may carry it. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u;
const PERSON = 'p.id, p.name, p.role, p.projects, p.sees_content';
/** The time of the last use is stored at most once in this time. */
const SEEN_MS = 60_000;

const LIST = `
  SELECT ${PERSON}, p.created_at, (SELECT max(seen_at) FROM sluice.console_sessions s WHERE s.person = p.id) AS seen_at,
    (SELECT coalesce(json_agg(json_build_object('id', s.id, 'created_at', s.created_at, 'seen_at', s.seen_at,
      'address', s.address, 'agent', s.agent) ORDER BY s.seen_at DESC), '[]')
      FROM sluice.console_sessions s WHERE s.person = p.id) AS sessions
  FROM sluice.people p ORDER BY p.name`;

/** An admin has all projects and sees content. Left out parts stay as they are. */
const CHANGE = `
  UPDATE sluice.people p SET
    role = coalesce($2, role),
    projects = CASE WHEN coalesce($2, role) = 'admin' THEN NULL WHEN $3 THEN $4::text[] ELSE projects END,
    sees_content = coalesce($2, role) = 'admin' OR coalesce($5, sees_content)
  WHERE id = $1`;

/** One statement, so that of two requests with one link only one gets a session. */
const USE_LINK = `
  WITH link AS (DELETE FROM sluice.console_links WHERE hash = $1 RETURNING person, expires_at),
  opened AS (
    INSERT INTO sluice.console_sessions (hash, id, person, address, agent)
    SELECT $2, $3, person, $4, $5 FROM link WHERE expires_at > now() RETURNING id, person),
  audit AS (
    INSERT INTO sluice.audit (person, actor, action, target)
    SELECT p.id, p.name, 'session.open', o.id FROM opened o JOIN sluice.people p ON p.id = o.person)
  SELECT o.id AS session, ${PERSON} FROM opened o JOIN sluice.people p ON p.id = o.person`;

const FIND_SESSION = `
  SELECT s.id AS session, s.seen_at < now() - $4::float8 * interval '1 millisecond' AS old, ${PERSON}
  FROM sluice.console_sessions s JOIN sluice.people p ON p.id = s.person
  WHERE s.hash = $1 AND s.created_at > now() - $2::float8 * interval '1 millisecond'
    AND s.seen_at > now() - $3::float8 * interval '1 millisecond'`;

export class PostgresPeople implements People {
  readonly #database: Pick<PostgresDatabase, 'query'>;

  constructor(database: Pick<PostgresDatabase, 'query'>) {
    this.#database = database;
  }

  async list(): Promise<readonly PersonRow[]> {
    const rows = await this.#rows(LIST);
    return rows.map((row) => ({
      ...personOf(row),
      createdAt: row['created_at'] as Date,
      seenAt: row['seen_at'] as Date | null,
      sessions: (row['sessions'] as readonly Row[]).map(sessionRowOf),
    }));
  }

  async create(draft: PersonDraft, by: Actor): Promise<Person> {
    if (!NAME.test(draft.name))
      throw new UserError(
        `${JSON.stringify(draft.name)} cannot be the name of a person`,
        'Use 1 to 100 letters, digits, spaces and the characters . _ @ + -.',
      );
    const role = draft.role ?? 'viewer';
    const admin = role === 'admin';
    const projects = admin ? null : (draft.projects ?? null);
    const seesContent = admin || draft.seesContent !== false;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const exists = (): UserError => new UserError(`a person called "${draft.name}" exists already`, null, 'exists');
    await this.#change(by, {
      ...{ action: 'person.create', project: null, target: draft.name, details: { id, role, projects, seesContent } },
      text: 'INSERT INTO sluice.people (id, name, role, projects, sees_content) VALUES ($1, $2, $3, $4, $5)',
      values: [id, draft.name, role, projects, seesContent],
    }).catch(replaceError(UNIQUE_VIOLATION, exists));
    return { id, name: draft.name, role, projects, seesContent };
  }

  async change(id: string, draft: Omit<PersonDraft, 'name'>, by: Actor): Promise<Person | null> {
    const { role = null, projects, seesContent = null } = draft;
    const [row] = await this.#change(by, {
      ...{ action: 'person.change', project: null, target: id, details: draft },
      text: CHANGE,
      values: [id, role, projects !== undefined, projects ?? null, seesContent],
      returning: PERSON,
    });
    return row === undefined ? null : personOf(row);
  }

  async findByName(name: string): Promise<Person | null> {
    const [row] = await this.#rows(`SELECT ${PERSON} FROM sluice.people p WHERE p.name = $1`, [name]);
    return row === undefined ? null : personOf(row);
  }

  async remove(id: string, by: Actor): Promise<boolean> {
    const rows = await this.#change(by, {
      ...{ action: 'person.remove', project: null, target: id },
      text: 'DELETE FROM sluice.people WHERE id = $1',
      values: [id],
    });
    return rows.length > 0;
  }

  async addLink(
    id: string,
    link: { readonly hash: Uint8Array; readonly lifetimeMs: number },
    by: Actor,
  ): Promise<boolean> {
    await this.#rows('DELETE FROM sluice.console_links WHERE expires_at < now()');
    const rows = await this.#change(by, {
      ...{ action: 'link.create', project: null, target: id },
      text: `INSERT INTO sluice.console_links (hash, person, expires_at)
        SELECT $2::bytea, id, now() + $3::float8 * interval '1 millisecond' FROM sluice.people WHERE id = $1`,
      values: [id, link.hash, link.lifetimeMs],
    });
    return rows.length > 0;
  }

  async useLink(hash: Uint8Array, { hash: session, address, agent }: NewSession): Promise<Session | null> {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const [row] = await this.#rows(USE_LINK, [hash, session, id, address, agent]);
    return row === undefined ? null : { id: String(row['session']), person: personOf(row) };
  }

  async findSession(hash: Uint8Array, { ageMs, idleMs }: SessionLifetime): Promise<Session | null> {
    const [row] = await this.#rows(FIND_SESSION, [hash, ageMs, idleMs, SEEN_MS]);
    if (row === undefined) return null;
    if (row['old'] === true)
      await this.#touch('UPDATE sluice.console_sessions SET seen_at = now() WHERE hash = $1', hash);
    return { id: String(row['session']), person: personOf(row) };
  }

  async endSession(hash: Uint8Array, by: Actor): Promise<void> {
    await this.#change(by, {
      ...{ action: 'session.end', project: null, target: by.name },
      text: 'DELETE FROM sluice.console_sessions WHERE hash = $1',
      values: [hash],
    });
  }

  async removeExpiredSessions({ ageMs, idleMs }: SessionLifetime): Promise<void> {
    await this.#rows(
      `DELETE FROM sluice.console_sessions WHERE created_at < now() - $1::float8 * interval '1 millisecond'
        OR seen_at < now() - $2::float8 * interval '1 millisecond'`,
      [ageMs, idleMs],
    );
  }

  async listTokens(project: string): Promise<readonly ReadTokenRow[]> {
    const rows = await this.#rows(
      'SELECT * FROM sluice.read_tokens WHERE project = $1 ORDER BY created_at, public_id',
      [project],
    );
    return rows.map(tokenOf);
  }

  async addToken(
    { project, label, seesContent, expiresAt }: ReadTokenDraft,
    { publicId, hash }: { readonly publicId: string; readonly hash: Uint8Array },
    by: Actor,
  ): Promise<void> {
    const details = { label, sees_content: seesContent, expires_at: expiresAt };
    const unknown = (): UserError => new UserError(`there is no project "${project}"`, null, 'unknown');
    await this.#change(by, {
      ...{ action: 'token.create', project, target: publicId, details },
      text: `INSERT INTO sluice.read_tokens (public_id, project, hash, label, sees_content, expires_at, created_by, creator)
        VALUES ($1, $2, $3, $4, $5, $6, (SELECT id FROM sluice.people WHERE id = $7), $8)`,
      values: [publicId, project, hash, label, seesContent, expiresAt, by.id, by.name],
    }).catch(replaceError(FOREIGN_KEY_VIOLATION, unknown));
  }

  async findToken(publicId: string): Promise<StoredReadToken | null> {
    const [row] = await this.#rows(
      `SELECT *, used_at IS NULL OR used_at < now() - $2::float8 * interval '1 millisecond' AS old,
          coalesce(expires_at <= now(), false) AS expired
        FROM sluice.read_tokens WHERE public_id = $1`,
      [publicId, SEEN_MS],
    );
    if (row === undefined) return null;
    if (row['old'] === true)
      await this.#touch('UPDATE sluice.read_tokens SET used_at = now() WHERE public_id = $1', publicId);
    return { ...tokenOf(row), hash: row['hash'] as Uint8Array, isExpired: row['expired'] === true };
  }

  async revokeToken(project: string, publicId: string, by: Actor): Promise<boolean> {
    const rows = await this.#change(by, {
      ...{ action: 'token.revoke', project, target: publicId },
      text: `UPDATE sluice.read_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE project = $1 AND public_id = $2`,
      values: [project, publicId],
    });
    return rows.length > 0;
  }

  async #rows(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#database.query(text, values)).rows;
  }

  #change(by: Actor, change: Change): Promise<readonly Row[]> {
    return audited((text, values) => this.#database.query(text, values), by, change);
  }

  /** A database that accepts no writes for some time still serves readers. */
  async #touch(text: string, value: unknown): Promise<void> {
    await this.#database.query(text, [value]).catch(() => undefined);
  }
}

function personOf(row: Row): Person {
  return {
    id: String(row['id']),
    name: String(row['name']),
    role: row['role'] as Role,
    projects: row['projects'] as readonly string[] | null,
    seesContent: row['sees_content'] === true,
  };
}

function sessionRowOf(row: Row): SessionRow {
  return {
    id: String(row['id']),
    createdAt: new Date(String(row['created_at'])),
    seenAt: new Date(String(row['seen_at'])),
    address: row['address'] as string | null,
    agent: row['agent'] as string | null,
  };
}

function tokenOf(row: Row): ReadTokenRow {
  return {
    publicId: String(row['public_id']),
    project: String(row['project']),
    label: row['label'] as string | null,
    seesContent: row['sees_content'] === true,
    createdBy: row['created_by'] as string | null,
    creator: String(row['creator']),
    createdAt: row['created_at'] as Date,
    expiresAt: row['expires_at'] as Date | null,
    revokedAt: row['revoked_at'] as Date | null,
    usedAt: row['used_at'] as Date | null,
  };
}
