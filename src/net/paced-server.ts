/**
 * An HTTP server of small requests without a port of its own. Requests of one connection share a limited rate after the
 * first ones, so that a client that pipelines thousands of them does not block the process.
 */
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { HttpConnections } from './http-connections.ts';
import { RequestPacing } from './request-pacing.ts';

/** A further connection replaces the oldest, so that clients that stay connected do not shut out a probe. */
const MOST_CONNECTIONS = 100;

/** A request has one line and a few headers. A client that takes longer to send it is no probe and no scraper. */
const REQUEST_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 8 * 1024;

/** The result takes the connections of a listener. */
export function servePaced(serve: RequestListener): HttpConnections {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES });
  const pacing = new RequestPacing(server);
  server.on('request', (request, response) => {
    if (pacing.begin(request, response) !== null) serve(request, response);
  });
  const accept = (connection: Socket): void => {
    server.emit('connection', connection);
    pacing.adopt(connection);
  };
  return new HttpConnections(server, { accept }, MOST_CONNECTIONS);
}
