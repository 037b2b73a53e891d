/** All content of one span or log record, in the order in which it was exchanged. */
import { CONTENT_COLUMNS, type ContentColumn } from '../pdata/content-columns.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  jsonText,
  objectAt,
  parseDocument,
  stringAt,
  valueAt,
} from '../pdata/exact-json.ts';
import { unflatten } from './flattened.ts';
import { MAX_PARTS, part, type Part, type Reading, roleOfEvent } from './message.ts';
import { resultText } from './parts.ts';
import { messageOf, readMessages } from './read-messages.ts';

/** The columns that are read; a row of a view or of a file has all of them. */
export interface ContentRow extends Readonly<Partial<Record<ContentColumn, string | null>>> {
  readonly tool_name?: string | null;
  readonly tool_call_id?: string | null;
  readonly event_name?: string | null;
}

export interface Section extends Reading {
  readonly source: ContentColumn;
}

/** One section for each column that has content. */
export function readRecord(row: ContentRow): readonly Section[] {
  return CONTENT_COLUMNS.flatMap((source) => {
    const content = row[source];
    return content === null || content === undefined ? [] : [{ source, ...readSafely(source, content, row) }];
  });
}

/** A value that is nested deeper than the stack is one text. */
function readSafely(source: ContentColumn, content: string, row: ContentRow): Reading {
  try {
    return readColumn(source, content, row);
  } catch {
    return whole(null, [part('text', content)]);
  }
}

function readColumn(source: ContentColumn, content: string, row: ContentRow): Reading {
  const tool = { id: row.tool_call_id ?? null, name: row.tool_name ?? null };
  switch (source) {
    case 'system_instructions':
      return readMessages(content, 'system');
    case 'input_content':
      return readMessages(content, roleOfEvent(row.event_name, 'user'));
    case 'output_content':
      return readMessages(content, 'assistant');
    case 'tool_arguments':
      return whole('assistant', [part('tool_call', content, tool)]);
    case 'tool_result':
      return whole('tool', [part('tool_result', toolText(content), tool)]);
    case 'retrieval_query':
      return whole(null, [part('query', queryText(content))]);
    case 'retrieval_documents':
      return readDocuments(content);
  }
}

const whole = (role: string | null, parts: readonly Part[]): Reading => ({
  messages: [messageOf(role, parts)],
  isComplete: true,
});

/** The text of a result, out of the message or the list of parts that it was sent in. */
function toolText(content: string): string {
  const document = parseDocument(content);
  if (document === undefined) return content;
  let inner: Json = document;
  for (let step = 0; isObject(inner) && step < 4; step++) {
    const next: Json | undefined = toolContent(inner);
    if (next === undefined) break;
    inner = next;
  }
  return inner === document && !isList(document) ? content : resultText(inner);
}

/** Messages of LangChain and the values that its callback handlers wrap. */
function toolContent(value: JsonObject): Json | undefined {
  if (value['lc'] !== undefined) return objectAt(value, 'kwargs');
  if (value['type'] === 'tool') return valueAt(value, 'data', 'content');
  const rest = Object.keys(value).filter((key) => key !== 'kwargs');
  return rest.length === 1 ? valueAt(value, 'output', 'outputs') : undefined;
}

function queryText(content: string): string {
  const document = parseDocument(content);
  if (!isObject(document)) return content;
  return (
    stringAt(objectAt(document, 'query_bundle', 'query') ?? document, 'query', 'query_str', 'question', 'input') ??
    content
  );
}

function readDocuments(content: string): Reading {
  const document = parseDocument(content);
  const wrapped = isObject(document)
    ? (unflatten(document) ?? valueAt(document, 'documents', 'source_nodes', 'nodes'))
    : document;
  if (!isList(wrapped)) return whole(null, [part('document', content)]);
  return {
    messages: [messageOf(null, wrapped.slice(0, MAX_PARTS).map(documentOf))],
    isComplete: wrapped.length <= MAX_PARTS,
  };
}

function documentOf(value: Json): Part {
  if (!isObject(value)) return part('document', typeof value === 'string' ? value : jsonText(value));
  const inner = objectAt(value, 'document', 'node', 'kwargs') ?? value;
  const text = stringAt(inner, 'page_content', 'pageContent', 'content', 'text');
  const id = stringAt(inner, 'id', 'id_', 'node_id', 'document_id');
  return part('document', text ?? jsonText(value), { id });
}
