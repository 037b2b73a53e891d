/** What a tool of the MCP server is, what it works with, and how a refusal reaches the model. */

/** Answers are cut to as many bytes of UTF-8. */
export const MAX_ANSWER_BYTES = 20 * 1024;

/** The query API as the caller of the tools. */
export interface Api {
  /** The body of the answer to a GET of a path below `/api/v1`. Rejects with an `ApiFault`. */
  get(path: string): Promise<string>;
}

/** The API refused a request. */
export class ApiFault extends Error {
  readonly code: string;
  readonly hint: string | null;
  /** The place of the fault in a filter. */
  readonly at: number | null;

  constructor(
    code: string,
    message: string,
    parts: { readonly hint?: string | null; readonly at?: number | null } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = parts.hint ?? null;
    this.at = parts.at ?? null;
  }
}

/** Postgres stores neither U+0000 nor halves of surrogate pairs. */
const UNUSABLE = /[\0\p{Cs}]/u;

/** The arguments of a tool cannot be used. */
export class ToolFault extends Error {}

/** What the tools of one server work with. */
export interface ToolScene {
  readonly api: Api;
  /** How a span became a row, as `sluice explain` shows it; null where the configuration is not at hand. */
  readonly explain: ((question: SpanQuestion) => Promise<string>) | null;
  /** Answers one SELECT on the views of a project; null: there is no such tool. */
  readonly sql: ((question: SqlQuestion) => Promise<SqlAnswer>) | null;
}

export interface SpanQuestion {
  readonly project: string;
  readonly trace: string;
  readonly span: string;
}

export interface SqlQuestion {
  readonly project: string;
  readonly statement: string;
}

export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly more: boolean;
}

/** A property of the arguments, as JSON Schema. */
export interface Argument {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, Argument>>;
  readonly required: readonly string[];
  run(values: ToolValues, scene: ToolScene): Promise<string>;
}

/** The checked arguments of one call. */
export class ToolValues {
  readonly #values: Readonly<Record<string, unknown>>;

  /** Throws a `ToolFault` for a missing, an unknown or a wrong argument. */
  constructor({ name, properties, required }: Tool, values: Readonly<Record<string, unknown>>) {
    for (const key of Object.keys(values))
      if (!Object.hasOwn(properties, key))
        throw new ToolFault(
          `${name} has no argument "${key.slice(0, 60)}"; it takes ${Object.keys(properties).join(', ')}`,
        );
    for (const key of required)
      if (values[key] === undefined) throw new ToolFault(`${name} needs the argument "${key}"`);
    for (const [key, argument] of Object.entries(properties)) checkArgument(key, argument, values[key]);
    this.#values = values;
  }

  /** Empty when it is not given. */
  text(name: string): string {
    return String(this.#values[name] ?? '');
  }

  count(name: string, byDefault: number): number {
    const value = this.#values[name];
    return typeof value === 'number' ? value : byDefault;
  }
}

function checkArgument(key: string, argument: Argument, value: unknown): void {
  if (value === undefined || value === null) return;
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, maxLength = 4096 } = argument;
  if (type === 'integer') {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < minimum || value > maximum)
      throw new ToolFault(`"${key}" is an integer from ${minimum} to ${maximum}`);
    return;
  }
  if (typeof value !== 'string' || value.length > maxLength)
    throw new ToolFault(`"${key}" is a text of at most ${maxLength} characters`);
  if (UNUSABLE.test(value)) throw new ToolFault(`"${key}" has a character that no stored text has`);
  if (argument.enum !== undefined && !argument.enum.includes(value))
    throw new ToolFault(`"${key}" is one of ${argument.enum.join(', ')}`);
}

/** The path of a resource of a project with its query. Empty parameters are left out. */
export function projectPath(
  project: string,
  segments: readonly string[],
  query: Readonly<Record<string, string>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const path = ['/api/v1/projects', project, ...segments].map((segment, at) =>
    at === 0 ? segment : encodeURIComponent(segment),
  );
  return given.length === 0 ? path.join('/') : `${path.join('/')}?${new URLSearchParams(given)}`;
}

/** Lines as long as they fit; the last line says how many were left out. */
export function fitLines(lines: readonly string[], bytes: number, rest: (left: number) => string): readonly string[] {
  const kept: string[] = [];
  let used = 0;
  for (const text of lines) {
    used += Buffer.byteLength(text) + 1;
    if (used > bytes) return [...kept, rest(lines.length - kept.length)];
    kept.push(text);
  }
  return kept;
}
