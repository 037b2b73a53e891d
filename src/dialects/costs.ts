/**
 * Costs in order of precedence, for records that state one under several names. The names of the record's own dialect
 * come first.
 */
export const COST_ORDER: readonly string[] = [
  'operation.cost',
  'gen_ai.usage.cost',
  'gen_ai.usage.total_cost',
  'gen_ai.usage.input_cost',
  'gen_ai.usage.output_cost',
  'llm.cost.total',
  'llm.cost.prompt',
  'llm.cost.completion',
  'litellm.cost.total',
  'litellm.cost.input',
  'litellm.cost.output',
  'gen_ai.cost.total_cost',
  'gen_ai.cost.input_cost',
  'gen_ai.cost.output_cost',
  'langfuse.observation.cost_details',
  'mlflow.llm.cost',
  'gen_ai.cost.total',
  'gen_ai.cost.input',
  'gen_ai.cost.output',
  'gen_ai.cost.total_tokens',
  'gen_ai.cost.input_tokens',
  'gen_ai.cost.output_tokens',
  'ai.total_cost',
  'langwatch.metrics',
  'langwatch.span.cost',
  'gen_ai.token.cost.total',
  'gen_ai.token.cost.input',
  'gen_ai.token.cost.output',
  'cost_usd',
  'cost_usd_micros',
  // Sums over other records.
  'coding_agent.session.cost_usd',
  'mlflow.trace.cost',
];
