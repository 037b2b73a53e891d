/**
 * The OTLP/gRPC server, on node:http2 without a gRPC library. Unary calls need little of the protocol, and the contract
 * needs control over it: the key is checked before the message is read, bytes of all calls are limited while they
 * arrive, and a replay is recognized by the bytes as sent.
 */
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Component, Host } from '../../component/component.ts';
import type { ConnectionHandler, Listener } from '../../component/listening.ts';
import { CallPacing, PacedCalls } from './call-pacing.ts';
import { OpenConnections } from '../../net/open-connections.ts';
import { addressOf } from '../../net/address-of.ts';
import { ForeignClients } from './foreign-clients.ts';
import type { GrpcCalls } from './grpc-calls.ts';
import { ADMITTED_WINDOW_BYTES, firstStreams, GrpcSession, type SessionMark } from './grpc-session.ts';
import type { GrpcOptions } from './grpc-options.ts';
import { connectionLimit, listenRequest } from './listen-options.ts';
import { SessionStarts } from './session-starts.ts';
import { type Protocol, TlsTerminator } from '../../net/tls-terminator.ts';

type StreamArguments = [ServerHttp2Stream, IncomingHttpHeaders, number, readonly string[]];

/** The limit in megabytes of node:http2 for one connection's headers and frames. */
const SESSION_MEMORY_MB = 10;
/** Connections whose reading node:http2 has stopped for good are read on in this interval. */
const READ_ON_MS = 1_000;
/** NGHTTP2_ERR_BAD_CLIENT_MAGIC: the first bytes of a connection are not those of HTTP/2. */
const BAD_CLIENT_MAGIC = -903;

interface Beginning {
  /** Without TLS. */
  readonly connection: Socket;
  /** As the listener accepted it. */
  readonly accepted: Socket;
}

export class GrpcServer implements Component, ConnectionHandler {
  readonly #options: GrpcOptions;
  readonly #host: Host;
  readonly #calls: GrpcCalls;
  readonly #server: Http2Server;
  readonly #connections: OpenConnections;
  readonly #sessions = new Map<ServerHttp2Session, GrpcSession>();
  readonly #terminator: TlsTerminator | null;
  readonly #foreign: ForeignClients;
  #listener: Listener | null = null;
  #hasSuccessor = false;
  #isStopping = false;
  #timer: NodeJS.Timeout | null = null;
  readonly #pacing = new CallPacing();
  readonly #starts = new SessionStarts<Beginning>((beginning) => this.#start(beginning));
  /** The connection that is being passed to the server. */
  #beginning: Beginning | null = null;

  constructor(options: GrpcOptions, host: Host, calls: GrpcCalls) {
    this.#options = options;
    this.#host = host;
    this.#calls = calls;
    this.#connections = new OpenConnections(connectionLimit(options, host));
    this.#foreign = new ForeignClients(host.logger);
    this.#server = this.#createServer();
    const secured = (connection: Socket, accepted: Socket): void => this.#starts.add({ connection, accepted });
    const failed: Protocol['failed'] = (error, peer) => this.#foreign.reportTlsError(error, 'h2', peer);
    const protocol = { name: 'h2', failed, secured } as const;
    this.#terminator = options.tls === undefined ? null : new TlsTerminator(options.tls, host, protocol);
  }

  async start(): Promise<void> {
    this.#terminator?.start();
    this.#timer = setInterval(() => {
      for (const session of this.#sessions.values()) session.readOn();
    }, READ_ON_MS).unref();
    this.#listener = await this.#host.listeners.listen(listenRequest('grpc', this.#options, this.#host), this);
    const { address: endpoint } = this.#listener;
    this.#host.logger.info({ endpoint, tls: this.#terminator !== null }, 'listening for OTLP/gRPC');
  }

  accept(connection: Socket): void {
    // HTTP/2 does not use half-closed connections.
    connection.allowHalfOpen = false;
    if (!this.#connections.add(connection)) return;
    if (this.#terminator === null) this.#starts.add({ connection, accepted: connection });
    else this.#terminator.accept(connection);
  }

  /** The server creates the session synchronously, so that `#adopt` can read `#beginning`. */
  #start(beginning: Beginning): void {
    const { connection } = beginning;
    if (connection.destroyed) return;
    this.#beginning = beginning;
    this.#server.emit('connection', connection);
    this.#beginning = null;
  }

  /** With a successor, calls on open connections are still accepted until clients reconnect to the new server. */
  succeededBy(next: ConnectionHandler | null): void {
    this.#hasSuccessor = next !== null;
  }

  /** Stops accepting, waits for open calls, and cuts the rest when the deadline aborts. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopping = true;
    this.#terminator?.stop();
    this.#listener?.close();
    if (!this.#hasSuccessor) {
      this.#calls.stop();
      this.#terminator?.cutUnused();
    }
    for (const session of this.#sessions.values()) session.drain();
    await this.#connections.endBy(deadline);
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #createServer(): Http2Server {
    const server = createServer({
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: {
        maxConcurrentStreams: firstStreams(this.#options.max_concurrent_streams),
        maxHeaderListSize: this.#options.max_header_size,
        initialWindowSize: ADMITTED_WINDOW_BYTES,
      },
    });
    server.on('session', (session) => this.#adopt(session));
    // The types do not have the last argument.
    server.on('stream', (...args: unknown[]) => {
      const [stream, headers, , rawHeaders] = args as StreamArguments;
      // The client disconnected. Stored data stays stored.
      stream.on('error', () => undefined);
      const session = stream.session as ServerHttp2Session | undefined;
      const known = session === undefined ? undefined : this.#sessions.get(session);
      known?.begin(stream, () => this.#calls.serve(stream, { headers, rawHeaders }, known));
    });
    // node:http2 closes connections that are not HTTP/2. Without a listener an error would end the process.
    server.on('sessionError', () => undefined);
    server.on('error', () => undefined);
    return server;
  }

  #adopt(session: ServerHttp2Session): void {
    const { keepalive, read_timeout: prefaceMs, max_concurrent_streams: maxConcurrentStreams } = this.#options;
    const { connection, accepted } = this.#beginning ?? { connection: session.socket, accepted: null };
    const calls = new PacedCalls(connection, this.#pacing);
    const mark: SessionMark = (use, project) => {
      if (accepted !== null) this.#connections.mark(accepted, use, project);
    };
    this.#sessions.set(session, new GrpcSession(session, { keepalive, prefaceMs, maxConcurrentStreams, calls, mark }));
    // When the session reports the error, it does not know its client any more.
    const peer = addressOf(accepted ?? session.socket);
    session.once('error', (error: NodeJS.ErrnoException) => {
      if (error.errno === BAD_CLIENT_MAGIC) this.#foreign.report('http1', peer);
    });
    session.on('close', () => this.#sessions.delete(session));
    // The connection was accepted before the stop, and waited for its start or its TLS handshake.
    if (this.#isStopping) this.#sessions.get(session)?.drain();
  }
}
