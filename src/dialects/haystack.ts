/** Haystack: usage only inside the output documents of its components. */
import type { Dialect, Source } from './dialect.ts';

const TYPE = 'haystack.component.type';
const INPUT = 'haystack.component.input';
const OUTPUT = 'haystack.component.output';
/** The id of the call to which a tool result belongs. */
const TOOL_CALL = 'tool_messages[*].content[*].tool_call_result.origin';

/** The metadata of an answer: in each reply, in a list beside the replies, and for embeddings in one object. */
const usage = (paths: readonly string[]): readonly Source[] => [
  {
    attribute: OUTPUT,
    when: ['chat', 'embeddings'],
    paths: ['replies[*].meta', 'meta[*]', 'meta'].flatMap((place) => paths.map((path) => `${place}.${path}`)),
  },
];

export const HAYSTACK: Dialect = {
  id: 'haystack',
  markers: ['haystack.component.*', 'haystack.pipeline.*'],
  fields: {
    operation: ['haystack.component.type'],
    // Only the class name shows it: `OpenAIChatGenerator`, `AzureOpenAITextEmbedder`.
    provider: [
      { attribute: TYPE, before: 'ChatGenerator', when: ['chat'] },
      { attribute: TYPE, before: 'Generator', when: ['chat'] },
      { attribute: TYPE, before: 'TextEmbedder', when: ['embeddings'] },
      { attribute: TYPE, before: 'DocumentEmbedder', when: ['embeddings'] },
    ],
    response_model: usage(['model']),
    input_tokens: usage(['usage.prompt_tokens', 'usage.input_tokens']),
    output_tokens: usage(['usage.completion_tokens', 'usage.output_tokens']),
    total_tokens: usage(['usage.total_tokens']),
    cache_read_tokens: usage(['usage.prompt_tokens_details.cached_tokens', 'usage.cache_read_input_tokens']),
    cache_write_tokens: usage(['usage.cache_creation_input_tokens']),
    reasoning_tokens: usage(['usage.completion_tokens_details.reasoning_tokens']),
    audio_input_tokens: usage(['usage.prompt_tokens_details.audio_tokens']),
    audio_output_tokens: usage(['usage.completion_tokens_details.audio_tokens']),
    service_tier: usage(['service_tier']),
    finish_reason: usage(['finish_reason']),
    agent_name: [{ attribute: 'haystack.component.name', when: ['invoke_agent'] }],
    tool_name: ['haystack.tool.name', { attribute: OUTPUT, when: ['execute_tool'], paths: [`${TOOL_CALL}.tool_name`] }],
    tool_call_id: [{ attribute: OUTPUT, when: ['execute_tool'], paths: [`${TOOL_CALL}.id`] }],
    tool_arguments: ['haystack.agent.step.tool.input', { attribute: INPUT, when: ['execute_tool'] }],
    tool_result: ['haystack.agent.step.tool.output', { attribute: OUTPUT, when: ['execute_tool'] }],
    retrieval_query: [{ attribute: INPUT, when: ['retrieval'], paths: ['query', 'text'] }],
    retrieval_documents: [{ attribute: OUTPUT, when: ['retrieval', 'rerank'] }],
    input_content: ['haystack.pipeline.input_data', INPUT, 'haystack.agent.input'],
    output_content: ['haystack.pipeline.output_data', OUTPUT, 'haystack.agent.output'],
  },
  operations: {
    'haystack.component.type': {
      '*Generator': 'chat',
      '*Embedder': 'embeddings',
      '*Retriever': 'retrieval',
      '*Ranker': 'rerank',
      ToolInvoker: 'execute_tool',
      Agent: 'invoke_agent',
    },
  },
  spanNames: {
    'haystack.pipeline.run': 'workflow',
    'haystack.agent.run': 'invoke_agent',
    'haystack.agent.step': 'workflow',
    'haystack.agent.step.llm': 'workflow',
    'haystack.agent.step.tool': 'execute_tool',
    'haystack.chat_generator.run': 'chat',
  },
  content: ['haystack.agent.step.llm.input', 'haystack.agent.step.llm.output', 'haystack.agent.tools'],
  cachedTokens: [{ providers: ['anthropic', 'aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  sources: ['deepset-ai/haystack: haystack/tracing', 'recorded from haystack-ai 2.20'],
};
