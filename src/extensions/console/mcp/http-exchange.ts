/** One request to `/mcp`: streamable HTTP without a session, in either revision of the protocol. */
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { makeServer, type ServerParts } from './server.ts';

export interface McpRequest {
  /** The headers of the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly version: string;
}

export interface McpAnswer {
  readonly status: number;
  /** JSON; empty: there is no body. */
  readonly text: string;
}

/** Only its path is read. */
const ADDRESS = 'http://sluice.localhost/mcp';
const METHOD_NOT_FOUND = -32_601;

export async function exchange({ headers, body }: McpRequest, parts: ServerParts): Promise<McpAnswer> {
  // A stream of changes: nothing changes here.
  if (body['method'] === 'subscriptions/listen') return refuse(body['id']);
  const request = new Request(ADDRESS, { method: 'POST', headers: { ...headers }, body: JSON.stringify(body) });
  const response = (await isLegacyRequest(request, body))
    ? await answerLegacy(request, body, parts)
    : await createMcpHandler(() => makeServer(parts), { legacy: 'reject' }).fetch(request, { parsedBody: body });
  return { status: response.status, text: await response.text() };
}

/** As JSON: an answer has no messages before its result. */
async function answerLegacy(request: Request, body: unknown, parts: ServerParts): Promise<Response> {
  const server = makeServer(parts);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

function refuse(id: unknown): McpAnswer {
  const error = { code: METHOD_NOT_FOUND, message: 'There are no subscriptions here.' };
  return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error }) };
}
