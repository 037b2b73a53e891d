/**
 * The closed list of errors of the console's API. The code decides the status; the message may be made more precise
 * where the error is raised.
 */

interface ErrorEntry {
  readonly status: number;
  readonly message: string;
  readonly hint: string | null;
}

const entry = (status: number, message: string, hint: string | null = null): ErrorEntry => ({ status, message, hint });

export const CONSOLE_ERRORS = {
  filter_invalid: entry(400, 'The filter cannot be read.'),
  cursor_invalid: entry(400, 'The cursor belongs to another filter.', 'Begin again without a cursor.'),
  range_invalid: entry(400, 'The range of time cannot be used.'),
  body_invalid: entry(400, 'The body of the request cannot be used.'),
  request_invalid: entry(400, 'The request cannot be read.'),
  login_required: entry(401, 'Log in first.', 'Run `sluice console` and open the link that it prints.'),
  forbidden: entry(403, 'Your role does not allow this.', 'Ask an admin.'),
  cross_origin: entry(403, 'The request came from another site.'),
  not_found: entry(404, 'Not found'),
  method_not_allowed: entry(405, 'This path does not have this method.'),
  request_timeout: entry(408, 'The request was not received in time.'),
  exists: entry(409, 'It exists already.'),
  body_too_large: entry(413, 'The body of the request is too large.'),
  url_too_long: entry(414, 'The address is too long.'),
  host_not_allowed: entry(421, 'This name is not a name of the console.'),
  too_many: entry(429, 'There are too many requests at once.', 'Try again soon.'),
  headers_too_large: entry(431, 'The headers of the request are too large.'),
  internal: entry(500, 'The request could not be answered.', 'The log of the daemon has the reason.'),
  database_unavailable: entry(503, 'The database cannot be reached.'),
  archive_unavailable: entry(503, 'The archive cannot be read.', 'The log of the daemon has the reason.'),
  busy: entry(503, 'All connections for reading are in use.', 'Try again soon.'),
  took_too_long: entry(504, 'The database took too long.', 'Try again soon, or ask for a shorter range of time.'),
} as const satisfies Record<string, ErrorEntry>;

export type ConsoleErrorCode = keyof typeof CONSOLE_ERRORS;

export interface ConsoleErrorParts {
  readonly message?: string;
  readonly hint?: string;
  /** The place of the fault in a filter, in characters. */
  readonly at?: number;
  /** For `method_not_allowed`: the methods that the path has. */
  readonly allow?: readonly string[];
}

/** A request to the console is refused. */
export class ConsoleError extends Error {
  readonly code: ConsoleErrorCode;
  readonly hint: string | null;
  readonly at: number | null;
  readonly allow: readonly string[];

  constructor(code: ConsoleErrorCode, parts: ConsoleErrorParts = {}) {
    super(parts.message ?? CONSOLE_ERRORS[code].message);
    this.code = code;
    this.hint = parts.hint ?? CONSOLE_ERRORS[code].hint;
    this.at = parts.at ?? null;
    this.allow = parts.allow ?? [];
  }

  get status(): number {
    return CONSOLE_ERRORS[this.code].status;
  }

  /** The body of the answer. */
  toJSON(): { readonly error: Readonly<Record<string, unknown>> } {
    return {
      error: {
        code: this.code,
        message: this.message,
        ...(this.at === null ? {} : { at: this.at }),
        ...(this.hint === null ? {} : { hint: this.hint }),
      },
    };
  }
}
