/** Microsoft's stacks: Semantic Kernel, Agent Framework, Microsoft.Extensions.AI, the Azure AI clients, AutoGen. */
import type { Dialect } from './dialect.ts';

export const SEMANTIC_KERNEL: Dialect = {
  id: 'semantic-kernel',
  scopes: ['semantic_kernel.*', 'Microsoft.SemanticKernel*'],
  markers: ['sk.available_functions'],
  sources: ['microsoft/semantic-kernel: python/semantic_kernel/utils/telemetry'],
};

export const AGENT_FRAMEWORK: Dialect = {
  id: 'agent-framework',
  scopes: ['agent_framework'],
  markers: ['agent_framework.*', 'gen_ai.provider.name=microsoft.agent_framework'],
  fields: {
    tool_name: ['agent_framework.function.name'],
  },
  spanNames: {
    'workflow.*': 'workflow',
    'executor.process*': 'workflow',
    'edge_group.process*': 'workflow',
    'message.send*': 'workflow',
  },
  cachedTokens: [{ providers: ['anthropic', 'aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  content: ['message.content'],
  sources: ['microsoft/agent-framework: python/packages/core/agent_framework/observability.py'],
};

export const MS_EXTENSIONS_AI: Dialect = {
  id: 'ms-extensions-ai',
  scopes: ['Experimental.Microsoft.Extensions.AI'],
  fields: {
    audio_input_tokens: ['gen_ai.usage.input_audio_tokens'],
    audio_output_tokens: ['gen_ai.usage.output_audio_tokens'],
  },
  cachedTokens: [{ cached: 'inside' }],
  sources: ['dotnet/extensions: src/Libraries/Microsoft.Extensions.AI'],
};

export const AZURE_AI: Dialect = {
  id: 'azure-ai',
  scopes: ['azure.core.tracing*'],
  markers: ['az.namespace=Microsoft.CognitiveServices', 'gen_ai.system=az.ai.inference', 'gen_ai.system=az.ai.agents'],
  hints: ['gen_ai.thread.run.id'],
  fields: {
    provider: [{ attribute: 'az.namespace', general: 'shared', last: true }],
    response_id: [{ attribute: 'gen_ai.thread.run.id', last: true }],
    conversation_id: ['gen_ai.thread.id'],
    retrieval_query: ['gen_ai.retriever.query'],
    retrieval_documents: ['gen_ai.retriever.results'],
  },
  content: [
    'gen_ai.event.content',
    'gen_ai.generated_message',
    'gen_ai.agent.state',
    'gen_ai.task.description',
    'gen_ai.task.constraints',
  ],
  sources: ['Azure/azure-sdk-for-python: sdk/ai'],
};

export const AUTOGEN: Dialect = {
  id: 'autogen',
  scopes: ['autogen-core', 'autogen *'],
  markers: ['gen_ai.system=autogen'],
  // The messages between its agents, on the spans of the runtime.
  content: [{ only: ['autogen'], attributes: ['message'] }],
  sources: ['microsoft/autogen: python/packages/autogen-core'],
};
