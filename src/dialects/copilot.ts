/** GitHub Copilot in the editor, on the command line and as an SDK. */
import type { Dialect } from './dialect.ts';

export const COPILOT: Dialect = {
  id: 'copilot',
  markers: ['copilot_chat.*', 'github.copilot.*'],
  services: ['copilot-chat', 'github-copilot'],
  logsRepeatSpans: true,
  fields: {
    cost_total: [{ attribute: 'github.copilot.cost', excluded: true }],
    conversation_id: ['copilot_chat.chat_session_id'],
    system_instructions: ['copilot_chat.prompt_instructions'],
    time_to_first_token: [{ attribute: 'copilot_chat.time_to_first_token', unit: 'ms' }],
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    'copilot_chat.user_request',
    'copilot_chat.prompt_context',
    'copilot_chat.reasoning_content',
    'copilot_chat.markdown_content',
    'github.copilot.tool.parameters.{k}',
  ],
  sources: ['microsoft/vscode-copilot-chat: docs/monitoring'],
};
