/**
 * The columns of spans and log records that hold what people, models or tools wrote, in the order in which it is
 * exchanged. They are stored only where content is captured, and shown only to callers with the right to content.
 */
export const CONTENT_COLUMNS = [
  'system_instructions',
  'input_content',
  'retrieval_query',
  'tool_arguments',
  'tool_result',
  'retrieval_documents',
  'output_content',
] as const;

export type ContentColumn = (typeof CONTENT_COLUMNS)[number];
