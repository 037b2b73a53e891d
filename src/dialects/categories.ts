/**
 * The operations, their categories, and the categories whose usage is a roll-up.
 */
import type { Category } from '../pdata/columns.ts';

/** Every operation under its canonical name, with its category. */
export const CATEGORY_OF = {
  chat: 'model_call',
  text_completion: 'model_call',
  generate_content: 'model_call',
  embeddings: 'embedding',
  execute_tool: 'tool_step',
  invoke_agent: 'agent',
  create_agent: 'agent',
  retrieval: 'retrieval',
  rerank: 'rerank',
  guardrail: 'guardrail',
  evaluation: 'evaluation',
  workflow: 'workflow',
  memory: 'memory',
  prompt: 'prompt',
  handoff: 'handoff',
  plan: 'plan',
  session: 'session',
  image_generation: 'media',
  transcription: 'media',
  speech: 'media',
  translate: 'media',
  audio: 'media',
  fetch_response: null,
  event: null,
  other: null,
  unknown: null,
} as const satisfies Readonly<Record<string, Category | null>>;
export type Operation = keyof typeof CATEGORY_OF;
export const OPERATIONS = Object.keys(CATEGORY_OF) as Operation[];

/** Steps that contain others: their usage repeats that of their descendants. */
export const ROLLUP_CATEGORIES: readonly Category[] = ['agent', 'workflow', 'plan', 'session', 'handoff', 'prompt'];

/** The span kinds that several senders took over from OpenInference, with their own additions. */
export const SPAN_KINDS: Readonly<Record<string, Operation>> = {
  LLM: 'chat',
  EMBEDDING: 'embeddings',
  CHAIN: 'workflow',
  TASK: 'workflow',
  RETRIEVER: 'retrieval',
  RERANKER: 'rerank',
  VECTOR_DB: 'retrieval',
  TOOL: 'execute_tool',
  AGENT: 'invoke_agent',
  MEMORY: 'memory',
  ENTRY: 'workflow',
  STEP: 'workflow',
  GUARDRAIL: 'guardrail',
  EVALUATOR: 'evaluation',
  CONVERSATION: 'session',
  UNKNOWN: 'unknown',
};
