/** Projects, API keys, environments and single traces: what the command line and the console change and list. */
import type { Plan } from '../../pdata/context.ts';
import type { Capability } from './capability.ts';
import type { Actor } from './people.ts';

export interface ProjectRow {
  readonly name: string;
  readonly plan: Plan;
  readonly monthlySpans: number | null;
  /** Null: it has data, and was not created. Only keys of the configuration name it, so the plan is not known here. */
  readonly createdAt: Date | null;
  /** Spans stored in this UTC month. */
  readonly spansThisMonth: number;
  readonly activeKeys: number;
}

export interface KeyRow {
  readonly publicId: string;
  readonly project: string;
  /** Null: all environments. */
  readonly environment: string | null;
  readonly label: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface EnvironmentRow {
  readonly project: string;
  readonly environment: string;
  readonly settings: unknown;
}

export interface DeletedTrace {
  readonly spans: number;
  readonly logs: number;
  /** Requests that are not forwarded yet, from which its records were removed. */
  readonly outboxEntries: number;
}

/** Changes reject with a `UserError` when a value is not allowed or something does not exist. */
export interface ProjectAdministration {
  createProject(name: string, plan: Plan, monthlySpans: number | null): Promise<void>;
  setPlan(name: string, plan: Plan, monthlySpans: number | null): Promise<void>;
  listProjects(): Promise<readonly ProjectRow[]>;
  /** The text of the key is shown once and not stored. */
  createKey(
    project: string,
    environment: string | null,
    label: string | null,
  ): Promise<{ readonly text: string; readonly publicId: string }>;
  listKeys(project: string | null): Promise<readonly KeyRow[]>;
  /** With a project, only a key of that project. */
  revokeKey(publicId: string, project: string | null): Promise<void>;
  /** `captureContent` null: the configuration decides. */
  setEnvironment(project: string, environment: string, captureContent: boolean | null): Promise<void>;
  listEnvironments(project: string | null): Promise<readonly EnvironmentRow[]>;
  /** Deletes the spans, logs and the claim in one transaction. Null when the project has no such trace. */
  deleteTrace(project: string, traceId: string): Promise<DeletedTrace | null>;
}

/** `by` is written to the audit. */
export type AdministrationFor = (by: Actor) => ProjectAdministration;

export const ADMINISTRATION: Capability<AdministrationFor> = { name: 'administration' };
