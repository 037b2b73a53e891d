/** Which columns of archived rows a command reads. */
import { CONTENT_COLUMNS } from '../../pdata/content-columns.ts';

/** `figures`: without the content and the structured columns, which are most of a file. */
export type ColumnChoice = 'all' | 'figures';

const LEFT_OUT: ReadonlySet<string> = new Set([
  ...CONTENT_COLUMNS,
  ...['events', 'links', 'body', 'status_message', 'resource', 'scope_name', 'scope_version', 'scope_attributes'],
  ...['trace_state', 'finish_reasons', 'exemplars', 'metadata', 'buckets', 'quantiles', 'description'],
]);

export const isRead = (choice: ColumnChoice, name: string): boolean => choice === 'all' || !LEFT_OUT.has(name);
