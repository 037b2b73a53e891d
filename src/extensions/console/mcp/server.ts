/**
 * A server of the Model Context Protocol with the tools of the console. Only the thread of the console and `sluice mcp`
 * load this module: the SDK takes a quarter of a second to load.
 */
import { Server } from '@modelcontextprotocol/server';
import type { Argument, Tool, ToolScene } from './tool.ts';
import { callTool, INSTRUCTIONS, toolsOf } from './tools.ts';

export interface ServerParts {
  readonly scene: ToolScene;
  readonly version: string;
  failed(error: unknown): void;
}

export function makeServer({ scene, version, failed }: ServerParts): Server {
  const info = { name: 'sluice', title: 'Sluice', version };
  const server = new Server(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler('tools/list', () => ({ tools: toolsOf(scene).map(describe) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    try {
      const { text, isError } = await callTool(scene, params.name, params.arguments ?? {});
      return { content: [{ type: 'text', text }], isError };
    } catch (error) {
      failed(error);
      return { content: [{ type: 'text', text: 'internal: the tool failed; the log has the reason' }], isError: true };
    }
  });
  return server;
}

function describe({ name, title, description, properties, required }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(Object.entries(properties).map(([key, argument]) => [key, schemaOf(argument)])),
      required: [...required],
      additionalProperties: false,
    },
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

const schemaOf = ({ enum: words, ...rest }: Argument) => (words === undefined ? rest : { ...rest, enum: [...words] });
