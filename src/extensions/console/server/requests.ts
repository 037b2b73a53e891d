/**
 * One request of the console: the checks of the sender, in a fixed order, then the page or a route. No handler runs
 * before the checks have passed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdministrationFor } from '../../../component/capabilities/administration.ts';
import type { DaemonFacts } from '../../../component/capabilities/daemon-facts.ts';
import { type Actor, type People, ROLES } from '../../../component/capabilities/people.ts';
import type { RefusedRequests } from '../../../component/capabilities/refused-requests.ts';
import type { PostgresReader } from '../../../component/capabilities/postgres-reader.ts';
import type { ServiceStatus } from '../../../component/extension.ts';
import type { Logger } from '../../../component/logger.ts';
import { maskedError } from '../../../component/masked-text.ts';
import type { McpThread } from '../mcp/thread.ts';
import type { RowThread } from './row-thread.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { Logins } from '../auth/logins.ts';
import { targetOf } from '../../../net/request-target.ts';
import { TELEMETRY_PLACE } from '../../../net/telemetry-place.ts';
import { ConsoleError } from '../errors.ts';
import { type ArchiveReaders, archivedTraceOf, type Loading, loadingOfDays } from './archive-readers.ts';
import { readBody } from './bodies.ts';
import { asConsoleError } from './failures.ts';
import type { Places } from './limits.ts';
import type { Names } from './names.ts';
import { RequestReaders } from './request-reader.ts';
import { API, type Caller, type Reply, type RequestContext } from './route.ts';
import { type Match, READS, type Router } from './router.ts';
import { send, sendError, sendFile, textOf } from './sending.ts';
import type { StaticFiles } from './static-files.ts';

const MAX_URL_LENGTH = 8 * 1024;
/** A client of `/mcp` that is refused requests paths below `/.well-known` to find a way to log in. */
const API_PATH = /^\/(?:api|tempo|jaeger|mcp|\.well-known)(?:\/|$)/u;
/** A file at the root that is not built, for example of an earlier version. Other paths are pages. */
const FILE_PATH = /^\/[^/]*\.[^/]*$/u;
/** Paths of OTLP/HTTP. The console's port is next to that of the receiver. */
const OTLP_PATH = /^\/v1\/(?:traces|logs|metrics)$/u;
/** Fetch-Metadata of requests that come from the console itself, or from the address bar. */
const OWN_SITE = new Set(['same-origin', 'none']);
const STREAMS = new Set<Reply['kind']>(['lines', 'events', 'download']);
/** A stream ends at most this long after the right to it was lost. */
const RECHECK_MS = 4000;
const HIDDEN_HEADERS = new Set(['cookie', 'authorization']);
/** The caller of a request without a login. */
const NO_ONE: Caller = { by: 'none', id: '', name: 'anyone', role: 'viewer', projects: [], seesContent: false };

export interface RequestParts {
  readonly names: Names;
  /** Null: the page is not served. */
  readonly files: StaticFiles | null;
  readonly router: Router;
  readonly authentication: Authentication;
  readonly logins: Logins;
  /** Whether requests without a credential have rights, so that requests from other sites must be refused. */
  readonly withoutLogin: boolean;
  readonly reader: PostgresReader;
  /** The number of connections that the reader has. */
  readonly connections: number;
  readonly administration: AdministrationFor;
  readonly people: People;
  readonly liveStreams: Places;
  /** Null in a process that starts no others. */
  readonly archived: ArchiveReaders | null;
  readonly mcp: McpThread;
  readonly rowThread: RowThread;
  daemon(): DaemonFacts | null;
  service(): ServiceStatus | null;
  refused(): RefusedRequests | null;
  readonly logger: Logger;
  readonly now: () => number;
}

type AskedBy = Pick<RequestContext, 'caller' | 'headers' | 'reader'>;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly host: string;
  readonly head: boolean;
  readonly signal: AbortSignal;
}

export class Requests {
  readonly #parts: RequestParts;
  readonly #readers: RequestReaders;
  readonly #open = new Set<AbortController>();

  constructor(parts: RequestParts) {
    this.#parts = parts;
    this.#readers = new RequestReaders(parts.reader, parts.connections);
  }

  /** Never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const leaving = new AbortController();
    this.#open.add(leaving);
    response.on('error', () => undefined);
    response.once('close', () => {
      this.#open.delete(leaving);
      leaving.abort();
    });
    const head = request.method === 'HEAD';
    try {
      await this.#answer(request, response, leaving);
    } catch (error) {
      this.#fail(error, response, { head, leaving });
    }
  }

  /** Ends the requests that are being served. */
  stop(): void {
    for (const leaving of this.#open) leaving.abort();
    this.#parts.archived?.stop();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, leaving: AbortController): Promise<void> {
    const exchange = this.#admit(request, response, leaving.signal);
    if (!API_PATH.test(exchange.path)) return this.#servePage(exchange);
    const match = this.#parts.router.find(request.method ?? '', exchange.path);
    const caller = await this.#authorize(exchange, match);
    const body = match.route.method === 'GET' ? {} : await readBody(request);
    const reply = await this.#replyTo(exchange, match, { caller, body });
    if (leaving.signal.aborted) throw leaving.signal.reason;
    await this.#send(exchange, reply, { caller, leaving });
  }

  async #replyTo(
    exchange: Exchange,
    match: Match,
    sender: { readonly caller: Caller; readonly body: Readonly<Record<string, unknown>> },
  ): Promise<Reply> {
    const context = this.#contextOf(exchange, match, sender);
    const { route, parameters } = match;
    if (route.changes) {
      const reply = await route.handle(context);
      const trace = archivedTraceOf(match);
      if (trace !== null) this.#parts.archived?.forget(trace);
      return reply;
    }
    // Routes of the APIs of Tempo and Jaeger find the project first.
    const reply = route.path.startsWith(API) ? await context.archived(parameters.get('project') ?? null) : null;
    return reply ?? route.handle(context);
  }

  async #archivedReply(
    exchange: Exchange,
    match: Match,
    context: AskedBy,
    project: string | null,
  ): Promise<Reply | null> {
    return this.#parts.archived?.answerForTrace(match, project, asking(exchange, context)) ?? null;
  }

  async #askArchive(exchange: Exchange, context: AskedBy, loading: Loading): Promise<Reply | null> {
    const { question, asker } = asking(exchange, context);
    return this.#parts.archived?.answer(loading, question, asker) ?? null;
  }

  /** The checks that need no login: the name of the console, and the site that the request comes from. */
  #admit(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Exchange {
    const { url = '', method = '', headers } = request;
    const target = targetOf(url);
    // Host is required in any case; the name in a target of absolute form replaces its value.
    const header = hostOf(request);
    const host = target?.authority ?? header;
    if (!this.#parts.names.allows(host))
      throw new ConsoleError('host_not_allowed', {
        hint: 'Add the name to the option allowed_hosts of the console, or set public_url.',
      });
    if (url.length > MAX_URL_LENGTH) throw new ConsoleError('url_too_long');
    if (target === null) throw new ConsoleError('request_invalid');
    if (method === 'POST' && OTLP_PATH.test(target.path))
      throw new ConsoleError('not_found', {
        message: 'The console does not receive telemetry.',
        hint: TELEMETRY_PLACE,
      });
    // A preflight request of another site. No answer allows it.
    if (method === 'OPTIONS') throw new ConsoleError('cross_origin');
    if (method !== 'GET' && method !== 'HEAD') this.#checkOrigin(request, host);
    const { path, query } = target;
    const isApi = API_PATH.test(path);
    if (isApi && isAmbient(request, this.#parts.withoutLogin)) {
      const site = headers['sec-fetch-site'];
      if (site !== undefined && !OWN_SITE.has(String(site))) throw new ConsoleError('cross_origin');
    }
    const head = method === 'HEAD';
    // The page reads its address itself, and shows what it cannot use.
    return { request, response, path, query: isApi ? queryOf(query) : new URLSearchParams(), host, head, signal };
  }

  #checkOrigin({ headers }: IncomingMessage, host: string): void {
    const { origin, authorization, cookie } = headers;
    if (origin === undefined && authorization !== undefined && cookie === undefined) return;
    if (origin !== undefined && this.#parts.names.isOwn(origin, host)) return;
    throw new ConsoleError('cross_origin', {
      hint: 'Behind a proxy, set public_url of the console to the address in the browser.',
    });
  }

  #servePage({ request, response, path, head }: Exchange): void {
    const { files } = this.#parts;
    const file = files?.find(path);
    if (files === null || (file === undefined && FILE_PATH.test(path))) throw new ConsoleError('not_found');
    if (request.method !== 'GET' && !head) throw new ConsoleError('method_not_allowed', { allow: READS });
    sendFile(response, file ?? files.index, { headers: request.headers, head });
  }

  async #authorize({ request }: Exchange, match: Match): Promise<Caller> {
    if (match.route.role === 'anyone') return NO_ONE;
    const caller = await this.#parts.authentication.callerOf(arrivalOf(request));
    await this.#checkRight(caller, match);
    return caller;
  }

  async #checkRight(caller: Caller, { route, parameters }: Match): Promise<void> {
    if (caller.by === 'token' && !route.readToken)
      throw new ConsoleError('forbidden', { message: 'A read token only reads.' });
    const project = parameters.get('project');
    if (project !== undefined && !(await this.#mayReach(caller, project))) throw new ConsoleError('not_found');
    if (route.role !== 'anyone' && ROLES.indexOf(caller.role) < ROLES.indexOf(route.role))
      throw new ConsoleError('forbidden');
  }

  async #read(exchange: Exchange, caller: Caller, url: string): Promise<string> {
    try {
      const { path = '', query = '' } = targetOf(url) ?? {};
      const match = this.#parts.router.find('GET', path);
      if (!match.route.readToken) throw new ConsoleError('forbidden');
      await this.#checkRight(caller, match);
      const asked = { ...exchange, path, query: new URLSearchParams(query) };
      return await textOf(await this.#replyTo(asked, match, { caller, body: {} }));
    } catch (error) {
      const answer = asConsoleError(error);
      if (answer.code === 'internal')
        this.#parts.logger.error({ error: maskedError(error) }, 'a request to the console failed');
      throw answer;
    }
  }

  /** A project that does not exist and one that the caller may not see are answered alike. */
  async #mayReach(caller: Caller, project: string): Promise<boolean> {
    return caller.projects === null ? this.#parts.logins.projectExists(project) : caller.projects.includes(project);
  }

  #contextOf(
    exchange: Exchange,
    match: Match,
    { caller, body }: { readonly caller: Caller; readonly body: Readonly<Record<string, unknown>> },
  ): RequestContext {
    const { request, query, host, signal } = exchange;
    const { administration, people, logins, daemon, service, refused, logger, now } = this.#parts;
    const actor: Actor = { id: caller.by === 'token' || caller.id === '' ? null : caller.id, name: caller.name };
    const parameter = (name: string): string => {
      const value = match.parameters.get(name);
      if (value === undefined) throw new Error(`the path of the route has no {${name}}`);
      return value;
    };
    const headers = visibleHeaders(request);
    const reader = this.#readers.for(`${caller.by}:${caller.id}`, signal);
    return {
      ...{ caller, query, body, signal, actor, people, logger, now, parameter, headers, reader },
      get project() {
        return parameter('project');
      },
      archived: (project) => this.#archivedReply(exchange, match, { caller, headers, reader }, project),
      archivedDays: (days) => this.#askArchive(exchange, { caller, headers, reader }, loadingOfDays(days)),
      archivedFrom: null,
      leftOut: null,
      read: (path) => this.#read(exchange, caller, path),
      mcp: this.#parts.mcp,
      rowThread: this.#parts.rowThread,
      administration: administration(actor),
      login: logins.for({ ...arrivalOf(request), host, actor }),
      daemon: daemon(),
      service: service(),
      refused: refused(),
    };
  }

  async #send(
    { request, response, head }: Exchange,
    reply: Reply,
    { caller, leaving }: { readonly caller: Caller; readonly leaving: AbortController },
  ): Promise<void> {
    if (!STREAMS.has(reply.kind) || head) return send(response, reply, { head });
    const leave = reply.kind === 'events' ? this.#parts.liveStreams.take() : () => undefined;
    const recheck = setInterval(() => {
      this.#parts.authentication.callerOf(arrivalOf(request)).then(
        (now) => sameRights(now, caller) || leaving.abort(),
        (error) => error instanceof ConsoleError && leaving.abort(),
      );
    }, RECHECK_MS);
    const cut = (): void => void response.destroy();
    leaving.signal.addEventListener('abort', cut, { once: true });
    try {
      await send(response, reply, { head });
    } finally {
      clearInterval(recheck);
      leaving.signal.removeEventListener('abort', cut);
      leave();
    }
  }

  #fail(
    error: unknown,
    response: ServerResponse,
    { head, leaving }: { readonly head: boolean; readonly leaving: AbortController },
  ): void {
    const answer = asConsoleError(error);
    if (answer.code === 'internal' && !leaving.signal.aborted)
      this.#parts.logger.error({ error: maskedError(error) }, 'a request to the console failed');
    // The body has begun, or the client has disconnected. The connection is cut, so that a client notices it.
    if (response.headersSent || leaving.signal.aborted) response.destroy();
    else sendError(response, answer, { head });
  }
}

/** The request in the form for the process that reads archived days. */
function asking({ path, query, signal }: Exchange, { caller, headers, reader }: AskedBy) {
  const { projects, seesContent } = caller;
  return { question: { path: `${path}?${query}`, headers, projects, seesContent }, asker: { reader, signal } };
}

/** Throws for U+0000, which no stored text has and PostgreSQL does not take. */
function queryOf(text: string): URLSearchParams {
  const query = new URLSearchParams(text);
  for (const [name, value] of query)
    if (value.includes('\0'))
      throw new ConsoleError('request_invalid', { message: `\`${name}\` has the character U+0000.` });
  return query;
}

function hostOf({ rawHeaders }: IncomingMessage): string {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
  const [host] = hosts;
  if (host === undefined || hosts.length > 1)
    throw new ConsoleError('request_invalid', { message: 'The request must have one Host.' });
  return host;
}

/** Whether the browser itself, not the page, gives the request its rights. */
function isAmbient({ headers }: IncomingMessage, withoutLogin: boolean): boolean {
  return withoutLogin || headers.authorization === undefined;
}

function sameRights(now: Caller, before: Caller): boolean {
  return (
    now.id === before.id &&
    now.seesContent === before.seesContent &&
    now.role === before.role &&
    JSON.stringify(now.projects) === JSON.stringify(before.projects)
  );
}

function visibleHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      HIDDEN_HEADERS.has(name) || value === undefined ? [] : [[name, String(value)]],
    ),
  );
}

const arrivalOf = ({ headers, socket }: IncomingMessage) => ({ headers, address: socket.remoteAddress ?? '' });
