/**
 * The OTLP/HTTP server on node:http. It owns connections, not requests: when a reload starts another server on the same
 * endpoint, open connections stay open and the new server serves their requests, unless the TLS options differ.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Component, Host } from '../../component/component.ts';
import { HttpConnections } from '../../net/http-connections.ts';
import type { ConnectionHandler, Listener } from '../../component/listening.ts';
import type { Exchange, HttpRequests } from './http-requests.ts';
import type { HttpOptions } from './http-options.ts';
import { connectionLimit, listenRequest } from './listen-options.ts';
import { ForeignClients } from './foreign-clients.ts';
import { MalformedRequests } from './malformed-requests.ts';
import { isAmbiguous } from './one-reading.ts';
import { RequestPacing } from '../../net/request-pacing.ts';
import { TlsTerminator } from '../../net/tls-terminator.ts';

/**
 * The interval at which Node checks the time limits of headers and bodies. Its default of 30 s is too long for them.
 */
const TIMEOUT_CHECK_MS = 1000;
/** Node's own limit on a whole request applies later than our limit on the body. */
const REQUEST_TIMEOUT_SLACK_MS = 5000;

export class HttpServer implements Component, ConnectionHandler {
  readonly #options: HttpOptions;
  readonly #host: Host;
  readonly #requests: HttpRequests;
  readonly #malformed: MalformedRequests;
  readonly #pacing: RequestPacing;
  readonly #foreign: ForeignClients;
  /** The first are its own, the others those of stopped servers before it. */
  readonly #connections: HttpConnections[];
  readonly #terminator: TlsTerminator | null;
  #listener: Listener | null = null;
  #successor: HttpServer | null = null;

  constructor(options: HttpOptions, host: Host, requests: HttpRequests) {
    this.#options = options;
    this.#host = host;
    this.#requests = requests;
    this.#malformed = new MalformedRequests((rejection, connection) => requests.note(rejection, connection));
    this.#foreign = new ForeignClients(host.logger);
    const server = this.#createServer();
    this.#pacing = new RequestPacing(server, {
      isAmbiguous,
      refuseTunnel: (connection) => this.#malformed.refuseTunnel(connection),
    });
    const secured = (connection: Socket, accepted: Socket = connection): void => {
      server.emit('connection', connection);
      this.#pacing.adopt(connection, (use, project) => connections.mark(accepted, use, project));
    };
    this.#terminator =
      options.tls === undefined
        ? null
        : new TlsTerminator(options.tls, host, {
            name: 'http/1.1',
            failed: (error, peer) => this.#foreign.reportTlsError(error, 'http/1.1', peer),
            secured,
          });
    const beginning = this.#terminator ?? { accept: (connection: Socket): void => secured(connection) };
    const connections = new HttpConnections(server, beginning, connectionLimit(options, host));
    this.#connections = [connections];
  }

  async start(): Promise<void> {
    this.#terminator?.start();
    this.#listener = await this.#host.listeners.listen(listenRequest('http', this.#options, this.#host), this);
    const { address: endpoint } = this.#listener;
    this.#host.logger.info({ endpoint, tls: this.#terminator !== null }, 'listening for OTLP/HTTP');
  }

  accept(connection: Socket): void {
    this.#connections[0]?.accept(connection);
  }

  succeededBy(next: ConnectionHandler | null): void {
    this.#successor = next instanceof HttpServer && next.#hasSameTls(this) ? next : null;
  }

  /** Stops accepting, waits for requests in flight, and cuts the rest when the deadline aborts. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#terminator?.stop();
    this.#listener?.close();
    if (this.#successor !== null) {
      // Not earlier, because the start of the successor may still fail.
      this.#successor.#inherit(this.#connections);
      return this.#requests.inFlight.idle(deadline);
    }
    this.#requests.stop();
    // A connection whose next request was not read yet would count as idle, and be reset.
    await this.#pacing.caughtUp(deadline);
    // After a failed reload, requests of the connections of the earlier server are in progress here.
    const ends = this.#connections.map((connections) => connections.close(deadline));
    await Promise.all([...ends, this.#requests.inFlight.idle(deadline)]);
  }

  /** Connections are kept only when the TLS options are the same. */
  #hasSameTls(other: HttpServer): boolean {
    return JSON.stringify(other.#options.tls) === JSON.stringify(this.#options.tls);
  }

  #inherit(connections: readonly HttpConnections[]): void {
    for (const each of connections) {
      this.#connections.push(each);
      void each.ended().then(() => this.#disown(each));
    }
  }

  /** Closes an earlier server after its last connection has ended. */
  #disown(connections: HttpConnections): void {
    const at = this.#connections.indexOf(connections);
    if (at > 0) this.#connections.splice(at, 1);
    void connections.cut();
  }

  #serve(exchange: Exchange): void {
    if (this.#successor !== null) this.#successor.#serve(exchange);
    else void this.#requests.serve(exchange);
  }

  /** Whether answers on connections of this server close them: when it stops, and no other server serves them. */
  #isClosing(): boolean {
    return this.#successor === null ? this.#requests.isStopping : this.#successor.#isClosing();
  }

  #createServer(): Server {
    const server = createServer({
      headersTimeout: this.#options.read_header_timeout,
      requestTimeout: this.#options.read_timeout + REQUEST_TIMEOUT_SLACK_MS,
      keepAliveTimeout: this.#options.idle_timeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: this.#options.max_header_size,
      requireHostHeader: false,
      noDelay: true,
    });
    // Only the size of the headers is limited: a limit on their number drops headers silently.
    server.maxHeadersCount = 0;
    // A client that has finished sending gets its answers. The console has streams, which end with their client.
    Object.assign(server, { httpAllowHalfOpen: true });
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      const connection = this.#pacing.begin(request, response);
      if (connection === null) return;
      this.#malformed.begin(response);
      const isBroken = (): boolean => this.#malformed.isBroken(request);
      this.#serve({ request, response, connection, isBroken, isClosing: () => this.#isClosing() });
    };
    server.on('request', serve);
    server.on('checkContinue', serve);
    server.on('checkExpectation', serve);
    server.on('clientError', (error, socket) => {
      this.#foreign.reportHttpError(error, socket as Socket);
      this.#malformed.refuse(error, socket as Socket);
    });
    return server;
  }
}
