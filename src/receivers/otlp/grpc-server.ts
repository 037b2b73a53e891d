/**
 * The OTLP/gRPC server, on node:http2. The protocol of a call that has one message each way is small, and speaking it here
 * keeps what the contract promises: a key is checked before a message is read, what is read is bounded for all calls together
 * while it arrives, and a replay is recognised by the bytes that were sent.
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
import { OpenConnections } from '../../net/open-connections.ts';
import type { GrpcCalls } from './grpc-calls.ts';
import { GrpcSession, type SessionMark } from './grpc-session.ts';
import type { GrpcOptions } from './grpc-options.ts';
import { connectionLimit, listenRequest } from './listen-options.ts';
import { TlsTerminator } from './tls-terminator.ts';

type StreamArguments = [ServerHttp2Stream, IncomingHttpHeaders, number, readonly string[]];

/** What a client may send ahead on one connection before any of its calls is admitted. */
const STRANGER_WINDOW_BYTES = 65_535;
/** And afterwards: enough for a good rate over long distances. */
const WINDOW_BYTES = 1_048_576;
/** Megabytes that node:http2 keeps for one connection's headers and frames. */
const SESSION_MEMORY_MB = 10;

export class GrpcServer implements Component, ConnectionHandler {
  readonly #options: GrpcOptions;
  readonly #host: Host;
  readonly #calls: GrpcCalls;
  readonly #server: Http2Server;
  readonly #connections: OpenConnections;
  readonly #sessions = new Map<ServerHttp2Session, GrpcSession>();
  readonly #terminator: TlsTerminator | null;
  #listener: Listener | null = null;
  #hasSuccessor = false;
  /** The connection that is being given to the server. */
  #accepted: Socket | null = null;

  constructor(options: GrpcOptions, host: Host, calls: GrpcCalls) {
    this.#options = options;
    this.#host = host;
    this.#calls = calls;
    this.#connections = new OpenConnections(connectionLimit(options, host));
    this.#server = this.#createServer();
    const secured = (connection: Socket, accepted: Socket | null): void => this.#begin(connection, accepted);
    this.#terminator = options.tls === undefined ? null : new TlsTerminator(options.tls, host, { name: 'h2', secured });
  }

  async start(): Promise<void> {
    this.#terminator?.start();
    this.#listener = await this.#host.listeners.listen(listenRequest('grpc', this.#options, this.#host), this);
    const { address: endpoint } = this.#listener;
    this.#host.logger.info({ endpoint, tls: this.#terminator !== null }, 'listening for OTLP/gRPC');
  }

  accept(connection: Socket): void {
    // HTTP/2 has no use for a connection that is closed on one side.
    connection.allowHalfOpen = false;
    if (!this.#connections.add(connection)) return;
    if (this.#terminator === null) this.#begin(connection, connection);
    else this.#terminator.accept(connection);
  }

  /** The session is made while the server is given the connection. */
  #begin(connection: Socket, accepted: Socket | null): void {
    this.#accepted = accepted;
    this.#server.emit('connection', connection);
    this.#accepted = null;
  }

  /** Clients are sent away from open connections without losing a call, and come back to the new server. */
  succeededBy(next: ConnectionHandler | null): void {
    this.#hasSuccessor = next !== null;
  }

  /** Stops accepting, lets what is in flight finish, and cuts the rest when the deadline aborts. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#terminator?.stop();
    this.#listener?.close();
    if (!this.#hasSuccessor) this.#calls.stop();
    for (const session of this.#sessions.values()) session.drain();
    await this.#connections.endBy(deadline);
  }

  #createServer(): Http2Server {
    const server = createServer({
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: {
        maxConcurrentStreams: this.#options.max_concurrent_streams,
        maxHeaderListSize: this.#options.max_header_size,
        initialWindowSize: WINDOW_BYTES,
      },
    });
    server.on('session', (session) => this.#adopt(session));
    // The types leave out the last argument.
    server.on('stream', (...args: unknown[]) => {
      const [stream, headers, , rawHeaders] = args as StreamArguments;
      const session = stream.session as ServerHttp2Session | undefined;
      const care = session === undefined ? undefined : this.#sessions.get(session);
      if (care?.begin(stream) === false) return;
      void this.#calls.serve(stream, { headers, rawHeaders }, (project) => {
        care?.admitted(project);
        trust(stream);
      });
    });
    // What is not HTTP/2 closes by itself; no fault of one connection may end the process.
    server.on('sessionError', () => undefined);
    server.on('error', () => undefined);
    return server;
  }

  #adopt(session: ServerHttp2Session): void {
    const { keepalive, read_timeout: greetingMs } = this.#options;
    const accepted = this.#accepted;
    const mark: SessionMark = (use, project) => {
      if (accepted !== null) this.#connections.mark(accepted, use, project);
    };
    this.#sessions.set(session, new GrpcSession(session, { keepalive, greetingMs, mark }));
    session.on('close', () => this.#sessions.delete(session));
  }
}

/** A client whose key was good may send further ahead. */
function trust({ session }: ServerHttp2Stream): void {
  if (
    session !== undefined &&
    !session.destroyed &&
    (session.state.effectiveLocalWindowSize ?? 0) <= STRANGER_WINDOW_BYTES
  )
    session.setLocalWindowSize(WINDOW_BYTES);
}
