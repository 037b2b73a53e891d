/** The `console` extension: a page and an API over stored data, with people, roles and read tokens. */
import type { Socket } from 'node:net';
import { ADMINISTRATION } from '../../component/capabilities/administration.ts';
import { CONSOLE, CONSOLE_APPLICATION, type ConsoleAddress } from '../../component/capabilities/console.ts';
import { DAEMON_FACTS } from '../../component/capabilities/daemon-facts.ts';
import { OWN_COMMANDS } from '../../component/capabilities/own-commands.ts';
import { PEOPLE } from '../../component/capabilities/people.ts';
import { REFUSED_REQUESTS } from '../../component/capabilities/refused-requests.ts';
import { POSTGRES_READER, type ReaderPool } from '../../component/capabilities/postgres-reader.ts';
import type { Capability } from '../../component/capabilities/capability.ts';
import type { Host } from '../../component/component.ts';
import { parseEndpoint } from '../../component/endpoint.ts';
import { defineExtension, type Extension, SERVICE_STATUS } from '../../component/extension.ts';
import type { Listener } from '../../component/listening.ts';
import { maskedError } from '../../component/masked-text.ts';
import { UserError } from '../../errors.ts';
import { TlsTerminator } from '../../net/tls-terminator.ts';
import { ROUTES } from './api/routes.ts';
import { Authentication } from './auth/authentication.ts';
import { SessionCookie } from './auth/cookie.ts';
import { Logins } from './auth/logins.ts';
import { baseUrlOf } from './base-url.ts';
import { McpThread } from './mcp/thread.ts';
import { CONSOLE_SCHEMA, type ConsoleOptions, checkConsole } from './options.ts';
import { ArchiveReaders } from './server/archive-readers.ts';
import { ConsoleServer, type Serve } from './server/console-server.ts';
import { FailedLogins, Places } from './server/limits.ts';
import { Names } from './server/names.ts';
import { Requests } from './server/requests.ts';
import type { Route } from './server/route.ts';
import { Router } from './server/router.ts';
import { RowThread } from './server/row-thread.ts';
import { StaticFiles } from './server/static-files.ts';

const LIVE_STREAMS = 20;
/** Connections that are accepted beyond the limit while others are closed for them. */
const HEADROOM = 32;
const CONSOLE_ID = { id: null, name: 'the console' };

class Console implements Extension {
  readonly #options: ConsoleOptions;
  readonly #host: Host;
  readonly #mcp: McpThread;
  readonly #rowThread = new RowThread();
  readonly #address: { current: ConsoleAddress | null } = { current: null };
  #reader: ReaderPool | null = null;
  #requests: Requests | null = null;
  #server: ConsoleServer | null = null;
  #terminator: TlsTerminator | null = null;
  #listener: Listener | null = null;

  constructor(options: ConsoleOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#mcp = new McpThread((error) => host.logger.error({ error: maskedError(error) }, 'the thread of /mcp failed'));
    host.capabilities.offer(CONSOLE, { address: () => this.#address.current });
  }

  async start(): Promise<void> {
    const { endpoint, max_connections: most, ui, query } = this.#options;
    const { url, connections, timeout: timeoutMs } = query;
    const reader = this.#find(POSTGRES_READER).open({
      url,
      connections,
      timeoutMs,
      applicationName: CONSOLE_APPLICATION,
    });
    this.#reader = reader;
    const files = ui ? await StaticFiles.read() : null;
    this.#server = this.#createServer();
    const request = { endpoint, option: `extensions.${this.#host.id}.endpoint`, maxConnections: most + HEADROOM };
    const server = this.#server;
    const early: Socket[] = [];
    const gate = { accept: (connection: Socket): void => void early.push(connection) };
    const accept = (connection: Socket): void =>
      this.#requests === null ? gate.accept(connection) : server.accept(connection);
    this.#listener = await this.#host.listeners.listen(request, { accept });
    // The name of the cookie needs the port, which may be chosen only now.
    this.#requests = this.#createRequests(reader, files, this.#listener.address);
    for (const connection of early) server.accept(connection);
    const { address } = this.#listener;
    const login = this.#options.auth.mode !== 'none';
    this.#address.current = { endpoint: address, url: baseUrlOf(this.#options, address), login };
    this.#host.logger.info({ endpoint: address }, 'the console is open');
  }

  async stop(): Promise<void> {
    this.#terminator?.stop();
    this.#listener?.close();
    this.#requests?.stop();
    await this.#server?.stop();
    await this.#mcp.stop();
    await this.#rowThread.stop();
    await this.#reader?.close();
  }

  /** With TLS, HTTP gets the connections after their handshake. */
  #createServer(): ConsoleServer {
    const serve: Serve = (request, response) => this.#serving().serve(request, response);
    const { tls, max_connections: most } = this.#options;
    const limit = Math.ceil(most / this.#host.workers);
    if (tls === undefined) return new ConsoleServer(serve, limit);
    const terminator = new TlsTerminator(tls, this.#host, {
      name: 'http/1.1',
      failed: () => undefined,
      secured: (connection) => this.#server?.serve(connection),
    });
    terminator.start();
    this.#terminator = terminator;
    return new ConsoleServer(serve, limit, terminator);
  }

  #serving(): Requests {
    if (this.#requests === null) throw new Error('the console has not started');
    return this.#requests;
  }

  #createRequests(reader: ReaderPool, files: StaticFiles | null, address: string): Requests {
    const { auth, content, public_url: publicUrl, allowed_hosts: allowedHosts } = this.#options;
    const { logger, capabilities } = this.#host;
    const now = (): number => this.#host.now();
    const people = this.#find(PEOPLE);
    const commands = capabilities.find(OWN_COMMANDS);
    const administration = this.#find(ADMINISTRATION);
    const tls = this.#options.tls !== undefined;
    const secure = tls || publicUrl.startsWith('https:');
    const cookie = new SessionCookie({ secure, port: parseEndpoint(address)?.port ?? 0 });
    const names = new Names({ publicUrl, allowedHosts, tls });
    const authentication = new Authentication({ options: auth, content, people, cookie, logger });
    const logins = new Logins({
      ...{ people, cookie, authentication, now },
      administration: administration(CONSOLE_ID),
      failed: new FailedLogins(() => performance.now()),
      originFor: (host) => names.originFor(host),
    });
    return new Requests({
      ...{ names, files, authentication, logins, reader, administration, people, logger, now },
      router: new Router(this.#routes()),
      withoutLogin: auth.mode === 'none',
      connections: this.#options.query.connections,
      liveStreams: new Places(LIVE_STREAMS),
      archived: commands === undefined ? null : new ArchiveReaders(commands, logger),
      mcp: this.#mcp,
      rowThread: this.#rowThread,
      daemon: () => capabilities.find(DAEMON_FACTS) ?? null,
      service: () => capabilities.find(SERVICE_STATUS) ?? null,
      refused: () => capabilities.find(REFUSED_REQUESTS) ?? null,
    });
  }

  #routes(): readonly Route[] {
    const { tempo, jaeger } = this.#options;
    return ROUTES.filter(
      ({ path }) => (tempo || !path.startsWith('/tempo/')) && (jaeger || !path.startsWith('/jaeger/')),
    );
  }

  #find<T>(capability: Capability<T>): T {
    const found = this.#host.capabilities.find(capability);
    if (found !== undefined) return found;
    throw new UserError(
      `extensions.${this.#host.id} needs the postgres extension`,
      'Add postgres to service.extensions.',
    );
  }
}

export const consoleExtension = defineExtension<ConsoleOptions>({
  type: 'console',
  summary: 'Shows what is stored, in a browser and by an API; manages projects, keys and people.',
  stability: 'alpha',
  placement: 'primary',
  requires: ['postgres'],
  schema: CONSOLE_SCHEMA,
  example: 'endpoint: 127.0.0.1:4319',
  check: checkConsole,
  create: (options, host) => new Console(options, host),
});
