/** What a route of the console is, what its handler gets, and the replies that it can give. */
import type { ProjectAdministration } from '../../../component/capabilities/administration.ts';
import type { DaemonFacts } from '../../../component/capabilities/daemon-facts.ts';
import type { RefusedRequests } from '../../../component/capabilities/refused-requests.ts';
import type { Actor, People, Person, Role } from '../../../component/capabilities/people.ts';
import type { ReaderRow } from '../../../component/capabilities/postgres-reader.ts';
import type { ServiceStatus } from '../../../component/extension.ts';
import type { Logger } from '../../../component/logger.ts';
import { suggest } from '../../../component/nearest.ts';
import { ConsoleError } from '../errors.ts';
import type { McpThread } from '../mcp/thread.ts';
import type { RowThread } from './row-thread.ts';

/** The prefixes of paths. */
export const API = '/api/v1';
export const PROJECT = `${API}/projects/{project}`;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: Method;
  /**
   * Segments in braces are parameters: `/api/v1/projects/{project}/traces/{trace}`. They are percent-decoded. The
   * server checks the right to `{project}` before the handler runs, and answers 404 without it.
   */
  readonly path: string;
  /** The least role; `anyone`: without a login. */
  readonly role: Role | 'anyone';
  /** Whether a read token may use it. Only for routes that change nothing. */
  readonly readToken: boolean;
  /** Whether it changes something. A GET never does. */
  readonly changes: boolean;
  /** The parameters of the URL's query that it knows. Left out: others are ignored. */
  readonly query?: readonly string[];
  /** The members that the body of a change may have. */
  readonly body?: readonly string[];
  readonly handle: (context: RequestContext) => Promise<Reply> | Reply;
}

/** The sender of a request, after the login checks. */
export interface Caller {
  /** `cookie` and `proxy`: a person; `token`: a read token; `none`: the console has no login. */
  readonly by: 'cookie' | 'token' | 'proxy' | 'none';
  /** The id of the person, or the public id of the token. */
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Null: all projects. */
  readonly projects: readonly string[] | null;
  /** Whether content columns may be shown to this caller and searched by it. */
  readonly seesContent: boolean;
}

/** The reader, bound to the request: its abort signal, and the caller's limit of concurrent queries. */
export interface RequestReader {
  /** The schema of the readable views. */
  readonly views: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly ReaderRow[]>;
  /** For a statement with a fixed text, which is planned once. */
  prepared(text: string, values?: readonly unknown[]): Promise<readonly ReaderRow[]>;
  /** Batches of at most 500 rows. */
  stream(text: string, values?: readonly unknown[]): AsyncIterable<readonly ReaderRow[]>;
}

export interface RequestContext {
  readonly caller: Caller;
  /** The value of a path parameter. Throws for a name that the path of the route does not have. */
  parameter(name: string): string;
  /** The parameter `{project}`, which the caller may see. Throws when the path of the route does not have it. */
  readonly project: string;
  /** The parameters of the URL's query. */
  readonly query: URLSearchParams;
  /** Lower-case names. Without `cookie` and `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON object in the body of a changing request; empty without a body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Aborts when the client has disconnected or the console stops. */
  readonly signal: AbortSignal;
  readonly reader: RequestReader;
  /**
   * The reply to this request from the process that reads archived days. Null when the path has no trace, or PostgreSQL
   * has all of it. `project`: of the trace; null: any. Rejects with a `ConsoleError`.
   */
  archived(project: string | null): Promise<Reply | null>;
  /** As `archived`, for a request for a range of days. Null in a process that starts no others. */
  archivedDays(days: ArchivedDays): Promise<Reply | null>;
  /** The time from which on `reader` has the archived days, in nanoseconds; null: it reads PostgreSQL only. */
  readonly archivedFrom: bigint | null;
  /** The archived files that `reader` does not have, because they cannot be read. */
  readonly leftOut: LeftOutFiles | null;
  /** Changes are audited with the caller. */
  readonly administration: ProjectAdministration;
  readonly people: People;
  /** The origin of changes that `people` writes to the audit. */
  readonly actor: Actor;
  readonly login: LoginControl;
  /**
   * The body of a GET of another route that read tokens may use, as the same caller: a path with its query. Rejects
   * with a `ConsoleError`.
   */
  read(path: string): Promise<string>;
  readonly mcp: McpThread;
  /** For conversions of rows that may be long. */
  readonly rowThread: RowThread;
  /** Null in a process that does not know them. */
  readonly daemon: DaemonFacts | null;
  readonly service: ServiceStatus | null;
  /** Null in a process that receives nothing. */
  readonly refused: RefusedRequests | null;
  readonly logger: Logger;
  /** Unix milliseconds. */
  now(): number;
}

/** Files of the archive that are lost or damaged. */
export interface LeftOutFiles {
  /** None of their records is later, in nanoseconds. */
  readonly untilNs: bigint;
  /** Which files, in a sentence. */
  readonly why: string;
}

/** What a request needs of archived days. Times are in Unix nanoseconds. */
export interface ArchivedDays {
  readonly of: 'usage' | 'traces' | 'metrics' | 'conversation';
  readonly project: string;
  readonly from: bigint;
  readonly until: bigint;
  /** For usage: calls get the user, conversation or agent of spans above. For traces: content is needed. */
  readonly isDetailed: boolean;
  /** The id of one conversation, which is searched on all days. */
  readonly conversation?: string;
}

/** The login of the request, and links for others. */
export interface LoginControl {
  /** Consumes the token of a link. Null when it is unknown, used or expired. */
  open(link: string): Promise<{ readonly person: Person; readonly cookie: string } | null>;
  /** Ends the session. Returns the value of `Set-Cookie`. */
  close(): Promise<string>;
  /** A new link for a person. Null when there is no such person. */
  invite(person: string): Promise<{ readonly link: string; readonly expiresAt: Date } | null>;
}

interface ReplyBase {
  /** Default: 200. */
  readonly status?: number;
  /** `Set-Cookie` and the like. The security headers are added by the server and cannot be replaced. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A value that becomes JSON. */
export interface JsonReply extends ReplyBase {
  readonly kind: 'json';
  readonly value: unknown;
}

/** JSON text that the database made; it is not parsed. */
export interface JsonTextReply extends ReplyBase {
  readonly kind: 'json_text';
  readonly text: string;
}

/**
 * NDJSON with back-pressure. Each piece is one or more whole lines with their line ends; the next one is taken when the
 * client has read. When `pieces` fails before its first piece, the error is answered as usual; later the connection is
 * cut, so the client sees a body without its end.
 */
export interface LinesReply extends ReplyBase {
  readonly kind: 'lines';
  readonly pieces: AsyncIterable<string>;
}

export interface ServerEvent {
  readonly event: string;
  readonly id?: string;
  /** One line, usually JSON text. */
  readonly data: string;
}

/** Server-sent events, until the iteration ends or the client disconnects. */
export interface EventsReply extends ReplyBase {
  readonly kind: 'events';
  readonly events: AsyncIterable<ServerEvent>;
}

export interface TextReply extends ReplyBase {
  readonly kind: 'text';
  readonly text: string;
}

/** Bytes of another media type, for example protobuf for Grafana. */
export interface BytesReply extends ReplyBase {
  readonly kind: 'bytes';
  readonly type: 'application/protobuf' | 'application/x-protobuf';
  readonly bytes: Uint8Array;
}

/** A file to save. The name is made of `[a-z0-9.-]`; other characters are removed. */
export interface DownloadReply extends ReplyBase {
  readonly kind: 'download';
  readonly name: string;
  readonly type: 'application/json' | 'application/x-ndjson' | 'application/x-protobuf' | 'text/csv' | 'text/plain';
  readonly pieces: AsyncIterable<string | Uint8Array>;
}

/** Status 204. */
export interface EmptyReply extends ReplyBase {
  readonly kind: 'empty';
}

export type Reply =
  | JsonReply
  | JsonTextReply
  | LinesReply
  | EventsReply
  | TextReply
  | BytesReply
  | DownloadReply
  | EmptyReply;

export const json = (value: unknown, status = 200): JsonReply => ({ kind: 'json', value, status });
export const jsonText = (text: string): JsonTextReply => ({ kind: 'json_text', text });
export const lines = (pieces: AsyncIterable<string>): LinesReply => ({ kind: 'lines', pieces });
export const events = (events: AsyncIterable<ServerEvent>): EventsReply => ({ kind: 'events', events });
export const text = (text: string, status = 200): TextReply => ({ kind: 'text', text, status });
export const EMPTY: EmptyReply = { kind: 'empty' };

type Handle = Route['handle'];
/** A message has at most this many characters of a name. */
const SHOWN_NAME = 64;

const FOR_READERS = { role: 'viewer', readToken: true, changes: false } as const;

/**
 * A GET that viewers and read tokens may use. `query`: the parameters that it knows. Another one refuses the request:
 * with a misspelt one ignored, the answer would be about more than was asked for.
 */
export const readRoute = (path: string, query: readonly string[], handle: Handle): Route => ({
  ...foreignRoute(path, (context) => {
    checkParameters(context.query, query);
    return handle(context);
  }),
  query,
});

/** As `readRoute`, in the API of another product, whose clients send more than Sluice knows. */
export const foreignRoute = (path: string, handle: Handle): Route => ({ ...FOR_READERS, method: 'GET', path, handle });

function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of query.keys()) {
    const shown = JSON.stringify(name.slice(0, SHOWN_NAME));
    if (!known.includes(name)) {
      const hint = suggest(name, known, 'parameters') ?? 'This path has no parameters.';
      throw new ConsoleError('request_invalid', { message: `There is no parameter ${shown} here.`, hint });
    }
    if (seen.has(name))
      throw new ConsoleError('request_invalid', { message: `The parameter ${shown} is given twice.` });
    seen.add(name);
  }
}

/** A GET for people only, from a role upwards. */
export const personRoute = (path: string, role: Role, handle: Handle): Route => ({
  method: 'GET',
  path,
  role,
  readToken: false,
  changes: false,
  handle,
});

/** A POST that changes nothing: viewers and read tokens may use it. */
export const questionRoute = (path: string, handle: Handle): Route => ({
  ...FOR_READERS,
  method: 'POST',
  path,
  handle,
});

/**
 * A route that changes something, from a role upwards. `body`: the members that its body may have. A request with
 * another one is refused. If a misspelt member were ignored, a key would be for all environments, or a person would see
 * all projects.
 */
export const changeRoute = (
  method: Exclude<Method, 'GET'>,
  path: string,
  { role, body = [] }: { readonly role: Route['role']; readonly body?: readonly string[] },
  handle: Handle,
): Route => ({
  method,
  path,
  role,
  readToken: false,
  changes: true,
  body,
  handle: (context) => {
    checkMembers(context.body, body);
    return handle(context);
  },
});

function checkMembers(body: RequestContext['body'], known: readonly string[]): void {
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `The body cannot have ${JSON.stringify(unknown.slice(0, SHOWN_NAME))}.`;
  throw new ConsoleError('body_invalid', { message, hint: suggest(unknown, known, 'members') ?? 'It has no members.' });
}
