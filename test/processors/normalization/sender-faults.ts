/**
 * Wrong values that senders themselves report. Each is checked in the captured body; none can be corrected from it.
 */
import type { ComparedField, Finding } from './captures.ts';

export interface SenderFault {
  readonly sender: string;
  readonly scenarios?: readonly string[];
  readonly fields: readonly ComparedField[];
  readonly reason: string;
}

export const SENDER_FAULTS: readonly SenderFault[] = [
  {
    sender: 'livekit',
    fields: ['provider'],
    reason: 'names the host of the provider, which was another one here',
  },
  {
    sender: 'livekit',
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered',
  },
  {
    sender: 'openllmetry-ollama',
    scenarios: ['tool'],
    fields: ['output_content'],
    reason: 'leaves out the call of the tool that the model asks for',
  },
  {
    sender: 'ag2',
    fields: ['request_model'],
    reason: 'gives the model that answered as the requested one',
  },
  {
    sender: 'genkit-go-openai',
    scenarios: ['tool'],
    fields: ['finish_reasons'],
    reason: 'gives `stop` for an answer that asks for a tool',
  },
  {
    sender: 'google-adk-go',
    scenarios: ['stream', 'stream-cached'],
    fields: ['output_content'],
    reason: 'ends the span of a stream at its first event',
  },
  {
    sender: 'openinference-autogen',
    fields: ['request_model'],
    reason: 'gives the dated name that AutoGen knows for the requested model',
  },
  {
    sender: 'openinference-autogen',
    scenarios: ['stream'],
    fields: ['input_tokens', 'output_tokens', 'total_tokens'],
    reason: 'sends zeros for a stream whose usage it did not ask for',
  },
  {
    sender: 'litellm-proxy-openai',
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered',
  },
  {
    sender: 'openllmetry-langchain-js',
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered',
  },
  {
    sender: 'openllmetry-langchain-js',
    scenarios: ['tool'],
    fields: ['output_content'],
    reason: 'leaves out the call of the tool that the model asks for',
  },
  {
    sender: 'openllmetry-langchain-js',
    scenarios: ['tool'],
    fields: ['tool_name'],
    reason: 'gives the class of the tool as its name',
  },
  {
    sender: 'openinference-langchain-js',
    scenarios: ['responses'],
    fields: ['output_content'],
    reason: 'leaves the text out of messages of the Responses API',
  },
  {
    sender: 'claude-code',
    fields: ['response_id'],
    reason: 'gives the id of the request, not that of the answer',
  },
  {
    sender: 'claude-code-detailed',
    fields: ['response_id'],
    reason: 'gives the id of the request, not that of the answer',
  },
  {
    sender: 'claude-code-detailed',
    fields: ['input_content'],
    reason: 'sends only what is new since the call before',
  },
  {
    sender: 'azure-ai-inference-py',
    fields: ['provider'],
    reason: 'names the platform whose client it is',
  },
  {
    sender: 'openinference-claude-agent-js',
    fields: ['tool_name'],
    reason: 'puts the name of the MCP server before that of the tool',
  },
  {
    sender: 'openinference-openai-agents-js',
    scenarios: ['responses', 'responses-stream'],
    fields: ['request_model'],
    reason: 'gives the model that answered as the requested one',
  },
  {
    sender: 'otel-genai-langchain-py',
    fields: ['retrieval_documents'],
    reason: 'names the documents by their ids only',
  },
  {
    sender: 'otel-genai-openai-agents-py',
    scenarios: ['tool'],
    fields: ['finish_reasons'],
    reason: 'gives `tool_calls` for an answer that the model completed',
  },
  {
    sender: 'spring-ai-anthropic',
    scenarios: ['stream-cached'],
    fields: ['input_tokens', 'total_tokens'],
    reason: 'leaves cached tokens out of streams and sends no count of them',
  },
  {
    sender: 'langsmith-openai-js',
    scenarios: ['error'],
    fields: ['is_error'],
    reason: 'says that a refused call went well, beside the exception it records',
  },
  { sender: 'litellm-anthropic', fields: ['response_id'], reason: 'makes an id of its own' },
  {
    sender: 'litellm-openai',
    scenarios: ['responses'],
    fields: ['response_id'],
    reason: 'makes an id of its own for the Responses API',
  },
  {
    sender: 'litellm-openai',
    scenarios: ['stream', 'stream-cached'],
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered a stream',
  },
  {
    sender: 'litellm-openai',
    scenarios: ['tool'],
    fields: ['output_content'],
    reason: 'leaves the tool call out of the output',
  },
  {
    sender: 'logfire-openai-agents',
    scenarios: ['stream'],
    fields: ['input_tokens', 'output_tokens', 'total_tokens'],
    reason: 'sends zeros for a stream whose usage it did not ask for',
  },
  {
    sender: 'mlflow-anthropic',
    scenarios: ['stream'],
    fields: ['output_content'],
    reason: 'prints the stream object instead of what it held',
  },
  {
    sender: 'openinference-haystack',
    scenarios: ['retrieval'],
    fields: ['retrieval_query'],
    reason: 'gives the vector that was searched with, not the words',
  },
  {
    sender: 'openinference-openai-agents',
    scenarios: ['responses', 'responses-stream'],
    fields: ['request_model'],
    reason: 'gives the model that answered as the requested one',
  },
  {
    sender: 'litellm-anthropic',
    scenarios: ['stream-cached'],
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered a stream',
  },
  {
    sender: 'litellm-anthropic',
    scenarios: ['tool'],
    fields: ['output_content'],
    reason: 'leaves the tool call out of the output',
  },
  {
    sender: 'logfire-openai',
    scenarios: ['stream', 'stream-cached', 'responses-stream'],
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered a stream',
  },
  {
    sender: 'logfire-openai-agents',
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered',
  },
  {
    sender: 'mastra',
    scenarios: ['tool'],
    fields: ['output_content'],
    reason: 'leaves the tool call out of the output',
  },
  {
    sender: 'openllmetry-anthropic-py',
    scenarios: ['stream', 'stream-cached'],
    fields: ['output_tokens', 'total_tokens'],
    reason: 'adds the output tokens of two stream events',
  },
  {
    sender: 'openllmetry-04-anthropic-py',
    scenarios: ['stream'],
    fields: ['output_tokens', 'total_tokens'],
    reason: 'adds the output tokens of two stream events',
  },
  {
    sender: 'llama-index',
    scenarios: ['retrieval', 'rag'],
    fields: ['input_content'],
    reason: 'is the embedding of the documents, which quotes no prompt',
  },
  {
    sender: 'openllmetry-04-langchain-py',
    scenarios: ['retrieval', 'rag'],
    fields: ['input_content'],
    reason: 'is the embedding of the documents, which quotes no prompt',
  },
  { sender: 'openllmetry-bedrock-py', fields: ['request_model'], reason: 'cuts the vendor off the model' },
  {
    sender: 'openllmetry-bedrock-py',
    scenarios: ['invoke', 'invoke-stream'],
    fields: ['input_tokens', 'total_tokens'],
    reason: 'leaves cached tokens out and sends no count of them',
  },
  {
    sender: 'openllmetry-langchain-py',
    scenarios: ['stream', 'stream-cached'],
    fields: ['response_model'],
    reason: 'gives the requested model as the one that answered a stream',
  },
  {
    sender: 'openllmetry-langchain-py',
    scenarios: ['retrieval', 'rag'],
    fields: ['input_content'],
    reason: 'is the embedding of the documents, which quotes no prompt',
  },
  {
    sender: 'otel-bedrock-py',
    scenarios: ['invoke'],
    fields: ['input_tokens', 'total_tokens'],
    reason: 'leaves cached tokens out and sends no count of them',
  },
  { sender: 'semantic-kernel', fields: ['tool_name'], reason: 'puts the name of the plugin before that of the tool' },
];

/** Why a finding is a fault of the sender; null when it is a defect of Sluice. */
export function faultOf({ sender, scenario, field }: Finding): string | null {
  const fault = SENDER_FAULTS.find(
    (one) =>
      one.sender === sender &&
      one.fields.includes(field) &&
      (one.scenarios === undefined || one.scenarios.includes(scenario)),
  );
  return fault?.reason ?? null;
}
