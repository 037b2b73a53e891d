/** LoongSuite (Alibaba) and Splunk's fork of the OpenTelemetry utilities, which share a span kind attribute. */
import { SPAN_KINDS } from './categories.ts';
import type { Dialect } from './dialect.ts';

export const LOONGSUITE: Dialect = {
  id: 'loongsuite',
  hints: ['gen_ai.span.kind', 'gen_ai.react.round'],
  fields: {
    operation: ['gen_ai.span.kind'],
    request_model: ['gen_ai.model_name', 'gen_ai.request.model_name'],
    agent_name: ['gen_ai.agent.system'],
    retrieval_documents: ['gen_ai.rerank.output_documents'],
    finish_reason: ['gen_ai.react.finish_reason'],
    time_to_first_token: [{ attribute: 'gen_ai.response.time_to_first_token', unit: 'ns' }],
  },
  operations: { 'gen_ai.span.kind': SPAN_KINDS },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    'gen_ai.memory.input.messages',
    'gen_ai.memory.output.messages',
    'gen_ai.memory.metadata',
    'gen_ai.rerank.input_documents',
    'gen_ai.rerank.scoring_prompt',
    'gen_ai.speech.input_text',
    'gen_ai.transcription.text',
    'gen_ai.prompts',
    'gen_ai.request.tool_calls',
    'gen_ai.request.parameters',
    'gen_ai.input.multimodal_metadata',
    'gen_ai.output.multimodal_metadata',
    'gen_ai.input.messages_ref',
    'gen_ai.output.messages_ref',
    'gen_ai.system_instructions_ref',
    'gen_ai.tool.definitions_ref',
    'gen_ai.request.tool_definitions',
    { events: ['gen_ai.client.agent.invoke.operation.details', 'gen_ai.memory.operation.details'] },
  ],
  sources: ['alibaba/loongsuite-python-agent: util'],
};

export const SPLUNK: Dialect = {
  id: 'splunk',
  hints: ['gen_ai.framework', 'gen_ai.step.*'],
  cachedTokens: [{ cached: 'inside' }],
  content: [
    {
      events: [
        'gen_ai.client.agent.operation.details',
        'gen_ai.client.workflow.operation.details',
        'gen_ai.client.step.operation.details',
        'gen_ai.client.embedding.operation.details',
        'gen_ai.evaluation.results',
      ],
    },
  ],
  sources: ['signalfx/splunk-otel-python-contrib: util'],
};
