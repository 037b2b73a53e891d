/** Stored API keys, projects and environment settings, and notifications of their changes. */
import type { KeyDirectory, StoredKey } from '../../component/capabilities/key-directory.ts';
import type { EnvironmentPrivacy, Project } from '../../pdata/context.ts';
import { normalizeEnvironment } from '../../pdata/environment.ts';
import type { Announcements } from './announcements.ts';
import type { Database } from './database.ts';
import type { DatabaseWatch } from './watch.ts';

const PROJECT = `
  p.name, p.plan, p.monthly_spans,
  (SELECT jsonb_object_agg(e.environment, e.settings) FROM sluice.environments e WHERE e.project = p.name) AS settings`;

const FIND_KEY = `
  SELECT k.hash, k.environment, k.revoked_at IS NOT NULL AS revoked, ${PROJECT}
  FROM sluice.api_keys k JOIN sluice.projects p ON p.name = k.project WHERE k.public_id = $1`;

const FIND_PROJECT = `SELECT ${PROJECT} FROM sluice.projects p WHERE p.name = $1`;

export class PostgresKeyDirectory implements KeyDirectory {
  readonly #database: Database;
  readonly #announcements: Announcements;
  readonly #watch: DatabaseWatch;

  constructor(database: Database, announcements: Announcements, watch: DatabaseWatch) {
    this.#database = database;
    this.#announcements = announcements;
    this.#watch = watch;
  }

  isUnavailable(): boolean {
    return this.#watch.unavailable;
  }

  isUnavailableAfter(error: unknown, check: 'wait' | 'start'): Promise<boolean> {
    return this.#watch.isUnavailableAfter(error, check);
  }

  async findKey(publicId: string): Promise<StoredKey | null> {
    const [row] = (await this.#database.query(FIND_KEY, [publicId])).rows;
    if (row === undefined) return null;
    const environment = row['environment'] === null ? null : normalizeEnvironment(String(row['environment']));
    return {
      hash: row['hash'] as Buffer,
      revoked: row['revoked'] === true,
      credential: { project: projectOf(row), environment, keyId: publicId },
    };
  }

  findProject(name: string): Promise<Project | null> {
    return findProject(this.#database, name);
  }

  onChange(changed: () => void): () => void {
    return this.#announcements.on('sluice_keys', changed);
  }
}

export async function findProject(database: Pick<Database, 'query'>, name: string): Promise<Project | null> {
  const [row] = (await database.query(FIND_PROJECT, [name])).rows;
  return row === undefined ? null : projectOf(row);
}

function projectOf(row: Record<string, unknown>): Project {
  return Object.freeze({
    name: String(row['name']),
    plan: row['plan'] === 'free' ? 'free' : 'paid',
    monthlySpans: row['plan'] === 'free' ? Number(row['monthly_spans']) : null,
    privacy: privacyOf(row['settings']),
  });
}

/** `invalid` unless each environment's settings are an object whose `capture_content` is true, false or absent. */
function privacyOf(settings: unknown): Project['privacy'] {
  const environments = new Map<string, EnvironmentPrivacy>();
  for (const [environment, value] of Object.entries((settings ?? {}) as Record<string, unknown>)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'invalid';
    const { capture_content: capture = null, ...rest } = value as Record<string, unknown>;
    if ((capture !== null && typeof capture !== 'boolean') || Object.keys(rest).length > 0) return 'invalid';
    // SQL may have written the name in any spelling. If two spellings mean the same environment, the one that forbids
    // content applies.
    const name = normalizeEnvironment(environment);
    const other = environments.get(name)?.captureContent ?? null;
    environments.set(name, { captureContent: capture === false || other === false ? false : (capture ?? other) });
  }
  return environments;
}
