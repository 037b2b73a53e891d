/** Haystack: usage only inside the output documents of its components. */
import type { Dialect } from './dialect.ts';

const HAYSTACK: Dialect = {
  id: 'haystack',
  markers: ['haystack.component.*', 'haystack.pipeline.*'],
  fields: {
    operation: ['haystack.component.type'],
    input_tokens: [{ attribute: 'haystack.component.output', paths: ['replies[*].meta.usage.prompt_tokens'] }],
    output_tokens: [{ attribute: 'haystack.component.output', paths: ['replies[*].meta.usage.completion_tokens'] }],
    tool_name: ['haystack.tool.name'],
    tool_arguments: ['haystack.agent.step.tool.input'],
    tool_result: ['haystack.agent.step.tool.output'],
    tool_description: ['haystack.tool.description'],
    input_content: ['haystack.pipeline.input_data', 'haystack.component.input'],
    output_content: ['haystack.pipeline.output_data', 'haystack.component.output'],
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
  content: [
    {
      kind: 'mixed',
      on: ['span'],
      attributes: [
        'haystack.pipeline.input_data',
        'haystack.pipeline.output_data',
        'haystack.component.input',
        'haystack.component.output',
        'haystack.agent.input',
        'haystack.agent.output',
        'haystack.agent.step.llm.input',
        'haystack.agent.step.llm.output',
        'haystack.agent.step.tool.input',
        'haystack.agent.step.tool.output',
        'haystack.agent.tools',
      ],
    },
  ],
  sources: ['deepset-ai/haystack: haystack/tracing'],
};

export const HAYSTACK_FAMILY: readonly Dialect[] = [HAYSTACK];
