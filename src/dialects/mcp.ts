/** The Model Context Protocol: tool calls as seen by its clients and servers. */
import type { Dialect } from './dialect.ts';

export const MCP: Dialect = {
  id: 'mcp',
  scopes: ['mcp-python-sdk', 'fastmcp'],
  hints: ['mcp.method.name'],
  fields: {
    operation: ['mcp.method.name'],
    conversation_id: [{ attribute: 'mcp.session.id', last: true }],
    error_type: [{ attribute: 'rpc.response.status_code', general: 'shared' }],
  },
  operations: {
    'mcp.method.name': {
      'tools/call': 'execute_tool',
      'prompts/get': 'prompt',
      'resources/read': 'other',
      initialize: 'other',
      'tools/list': 'other',
      'sampling/createMessage': 'chat',
    },
  },
  sources: ['open-telemetry/semantic-conventions-genai: model/mcp', 'modelcontextprotocol/python-sdk'],
};

export const FASTMCP: Dialect = {
  id: 'fastmcp',
  fields: {
    tool_name: [{ attribute: 'fastmcp.component.key', when: ['execute_tool'] }],
  },
  sources: ['jlowin/fastmcp: src/fastmcp/telemetry.py'],
};
