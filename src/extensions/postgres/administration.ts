/**
 * Projects, keys, environment settings and single traces, for the command line and the console. Each function makes one
 * change, with its audit entry, or returns one list.
 */
import { inTransaction } from '../../component/in-transaction.ts';
import { createApiKey } from '../../pdata/api-key.ts';
import type { Plan } from '../../pdata/context.ts';
import { canNameEnvironment, ENVIRONMENT_HINT, normalizeEnvironment, UNPRINTABLE } from '../../pdata/environment.ts';
import type {
  DeletedTrace,
  EnvironmentRow,
  KeyRow,
  ProjectAdministration,
  ProjectRow,
} from '../../component/capabilities/administration.ts';
import { type Actor, COMMAND_LINE } from '../../component/capabilities/people.ts';
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import { UserError } from '../../errors.ts';
import { audited, type Change, writeAudit } from './audit.ts';
import { requestErasure } from './removal/archived.ts';
import { removeTrace } from './removal/trace.ts';
import { removeUnsent } from './removal/unsent.ts';
import { FOREIGN_KEY_VIOLATION, replaceError, UNIQUE_VIOLATION } from './sqlstate.ts';

/** Projects that only keys of the configuration name have counters, but no row until they are created. */
const LIST_PROJECTS = `
  SELECT p.name, p.plan, p.monthly_spans, p.created_at,
    coalesce((SELECT u.spans FROM sluice.usage_months u
      WHERE u.project = p.name AND u.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0) AS spans,
    (SELECT count(*) FROM sluice.api_keys k WHERE k.project = p.name AND k.revoked_at IS NULL)::int4 AS keys
  FROM (
    SELECT name, plan, monthly_spans, created_at FROM sluice.projects
    UNION ALL
    SELECT DISTINCT u.project, 'paid', NULL::int8, NULL::timestamptz FROM sluice.usage_months u
    WHERE NOT EXISTS (SELECT FROM sluice.projects q WHERE q.name = u.project)) p
  ORDER BY p.name`;

const FIRST_PROJECT = `created AS (
  INSERT INTO sluice.projects (name) SELECT $1::text WHERE NOT EXISTS (SELECT FROM sluice.projects)
  ON CONFLICT DO NOTHING RETURNING name)`;

/** Removes other spellings of the environment, which SQL may have stored, so that only one setting remains. */
const OTHER_SPELLINGS = `others AS (
  DELETE FROM sluice.environments WHERE project = $1 AND environment <> $2 AND lower(btrim(environment, E' \\t\\r\\n')) = $2)`;
const SET_ENVIRONMENT = `
  INSERT INTO sluice.environments (project, environment, settings) VALUES ($1, $2, $3)
  ON CONFLICT (project, environment) DO UPDATE SET settings = excluded.settings`;
/** Removing a large trace takes long, and the lock on its claim delays its senders. */
const DELETE_LIMITS = { statementTimeoutMs: 60_000, lockTimeoutMs: 5_000 };

const MAX_LABEL_LENGTH = 255;
const PROJECT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

type Connections = Pick<PostgresDatabase, 'query' | 'session'>;

export class Administration implements ProjectAdministration {
  readonly #database: Connections;
  readonly #by: Actor;

  constructor(database: Connections, by: Actor = COMMAND_LINE) {
    this.#database = database;
    this.#by = by;
  }

  async createProject(name: string, plan: Plan, monthlySpans: number | null): Promise<void> {
    if (!PROJECT_NAME.test(name)) {
      throw new UserError(
        `"${name}" cannot be the name of a project`,
        'Use lower-case letters, digits, "-" and "_", up to 63 of them.',
      );
    }
    checkPlan(plan, monthlySpans);
    const exists = (): UserError =>
      new UserError(`the project "${name}" exists already`, 'See `sluice project list`.', 'exists');
    await this.#change({
      ...{ action: 'project.create', project: name, target: name, details: { plan, monthly_spans: monthlySpans } },
      text: 'INSERT INTO sluice.projects (name, plan, monthly_spans) VALUES ($1, $2, $3)',
      values: [name, plan, monthlySpans],
    }).catch(replaceError(UNIQUE_VIOLATION, exists));
  }

  /**
   * For the first start: creates a project with a key if there is no project, else returns null. It is one statement,
   * so only one of several starting replicas creates the project, and that one gets the key.
   */
  async createFirstProject(name: string, label: string): Promise<{ readonly text: string } | null> {
    const key = createApiKey();
    const rows = await this.#change({
      ...{ action: 'project.create', project: name, target: name, details: { key: key.publicId } },
      beside: FIRST_PROJECT,
      text: `INSERT INTO sluice.api_keys (public_id, project, hash, label)
        SELECT $2::text, name, $3::bytea, $4::text FROM created`,
      values: [name, key.publicId, key.hash, label],
    });
    return rows.length === 1 ? { text: key.text } : null;
  }

  async setPlan(name: string, plan: Plan, monthlySpans: number | null): Promise<void> {
    checkPlan(plan, monthlySpans);
    const rows = await this.#change({
      ...{ action: 'project.plan', project: name, target: name, details: { plan, monthly_spans: monthlySpans } },
      text: 'UPDATE sluice.projects SET plan = $2, monthly_spans = $3 WHERE name = $1',
      values: [name, plan, monthlySpans],
    });
    if (rows.length === 0) throw unknownProject(name);
  }

  async listProjects(): Promise<readonly ProjectRow[]> {
    const { rows } = await this.#database.query(LIST_PROJECTS);
    return rows.map((row) => ({
      name: String(row['name']),
      plan: row['plan'] === 'free' ? 'free' : 'paid',
      monthlySpans: row['monthly_spans'] === null ? null : Number(row['monthly_spans']),
      createdAt: row['created_at'] as Date | null,
      spansThisMonth: Number(row['spans']),
      activeKeys: Number(row['keys']),
    }));
  }

  /** The text of the key, which is shown once and not stored. */
  async createKey(
    project: string,
    environment: string | null,
    label: string | null,
  ): Promise<{ readonly text: string; readonly publicId: string }> {
    if (label !== null) checkLabel(label);
    const scope = environment === null ? null : environmentOf(environment);
    const key = createApiKey();
    await this.#change({
      ...{ action: 'key.create', project, target: key.publicId, details: { environment: scope, label } },
      text: 'INSERT INTO sluice.api_keys (public_id, project, environment, hash, label) VALUES ($1, $2, $3, $4, $5)',
      values: [key.publicId, project, scope, key.hash, label],
    }).catch(replaceError(FOREIGN_KEY_VIOLATION, () => unknownProject(project)));
    return { text: key.text, publicId: key.publicId };
  }

  async listKeys(project: string | null): Promise<readonly KeyRow[]> {
    const { rows } = await this.#database.query(
      'SELECT * FROM sluice.api_keys WHERE $1::text IS NULL OR project = $1 ORDER BY project, created_at, public_id',
      [project],
    );
    return rows.map((row) => ({
      publicId: String(row['public_id']),
      project: String(row['project']),
      environment: row['environment'] as string | null,
      label: row['label'] as string | null,
      createdAt: row['created_at'] as Date,
      revokedAt: row['revoked_at'] as Date | null,
    }));
  }

  /** Every replica refuses the key within seconds. Revoking twice is allowed. */
  async revokeKey(publicId: string, project: string | null = null): Promise<void> {
    const rows = await this.#change({
      ...{ action: 'key.revoke', project, target: publicId },
      text: `UPDATE sluice.api_keys SET revoked_at = coalesce(revoked_at, now())
        WHERE public_id = $1 AND ($2::text IS NULL OR project = $2)`,
      values: [publicId, project],
    });
    if (rows.length === 0)
      throw new UserError(
        `there is no key ${publicId}`,
        'See `sluice key list`; the id is the part between "slc_" and the next "_".',
        'unknown',
      );
  }

  /** `captureContent` null: the configuration decides again. */
  async setEnvironment(project: string, environment: string, captureContent: boolean | null): Promise<void> {
    const name = environmentOf(environment);
    const settings = captureContent === null ? {} : { capture_content: captureContent };
    await this.#change({
      ...{ action: 'environment.set', project, target: name, details: settings },
      beside: OTHER_SPELLINGS,
      text: SET_ENVIRONMENT,
      values: [project, name, JSON.stringify(settings)],
    }).catch(replaceError(FOREIGN_KEY_VIOLATION, () => unknownProject(project)));
  }

  async listEnvironments(project: string | null): Promise<readonly EnvironmentRow[]> {
    const { rows } = await this.#database.query(
      'SELECT project, environment, settings FROM sluice.environments WHERE $1::text IS NULL OR project = $1 ORDER BY project, environment',
      [project],
    );
    return rows.map((row) => ({
      project: String(row['project']),
      environment: String(row['environment']),
      settings: row['settings'],
    }));
  }

  async deleteTrace(project: string, traceId: string): Promise<DeletedTrace | null> {
    const removed = await this.#database.session(DELETE_LIMITS, (query) =>
      inTransaction(query, async () => {
        const trace = await removeTrace(query, { project, traceId });
        if (trace !== null) {
          await requestErasure(query, { project: trace.project, traceId });
          const details = { spans: trace.spans, logs: trace.logs };
          await writeAudit(query, this.#by, { action: 'trace.delete', project, target: traceId, details });
        }
        return trace;
      }),
    );
    // Also after an interruption. A large outbox takes longer than a query of the pool may.
    const outboxEntries = await this.#database.session(DELETE_LIMITS, (query) =>
      removeUnsent(query, { project, traceId }),
    );
    if (removed === null) return null;
    return { spans: removed.spans, logs: removed.logs, outboxEntries };
  }

  #change(change: Change): Promise<readonly Record<string, unknown>[]> {
    return audited((text, values) => this.#database.query(text, values), this.#by, change);
  }
}

/** Normalized as in requests, so that the setting is found. */
function environmentOf(text: string): string {
  const name = normalizeEnvironment(text);
  if (canNameEnvironment(name)) return name;
  throw new UserError(`${JSON.stringify(name)} cannot be the name of an environment`, ENVIRONMENT_HINT);
}

function checkLabel(label: string): void {
  if (label !== '' && label.length <= MAX_LABEL_LENGTH && !UNPRINTABLE.test(label)) return;
  throw new UserError(
    `${JSON.stringify(label)} cannot be the label of a key`,
    `Use 1 to ${MAX_LABEL_LENGTH} characters, none of them a control character.`,
  );
}

function checkPlan(plan: Plan, monthlySpans: number | null): void {
  if (plan === 'free' && monthlySpans === null)
    throw new UserError('the free plan needs a monthly quota', 'Add --monthly-spans N.');
  if (plan === 'paid' && monthlySpans !== null)
    throw new UserError('the paid plan has no quota', 'Leave out --monthly-spans, or use --plan free.');
}

function unknownProject(name: string): UserError {
  return new UserError(
    `there is no project "${name}"`,
    'Create it with `sluice project create`, or see `sluice project list`.',
    'unknown',
  );
}
