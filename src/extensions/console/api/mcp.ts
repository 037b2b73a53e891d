/** `POST /mcp`: tools for coding agents, by the Model Context Protocol. */
import { EMPTY, jsonText, questionRoute, type Route } from '../server/route.ts';

/** The headers that the protocol reads besides its own. */
const HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type']);
const OWN_HEADERS = 'mcp-';

export const MCP_ROUTES: readonly Route[] = [
  questionRoute('/mcp', async ({ mcp, headers, body, signal, read, daemon }) => {
    const own = Object.entries(headers).filter(([name]) => HEADERS.has(name) || name.startsWith(OWN_HEADERS));
    const request = { headers: Object.fromEntries(own), body, version: daemon?.version ?? '' };
    const { status, text } = await mcp.answer(request, read, signal);
    return text === '' ? { ...EMPTY, status } : { ...jsonText(text), status };
  }),
];
