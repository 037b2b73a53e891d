/** Messages of a record as text for a model. */
import type { Message, Part } from '../../../messages/message.ts';
import { type Section, readRecord } from '../../../messages/read-record.ts';
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import type { ContentField, Text } from '../api/shapes/content.ts';
import { cutText } from './untrusted.ts';

type Content = Readonly<Partial<Record<ContentField, Text>>>;

/** The content of a span or step, read into messages. A column that was cut is read as text. */
export function sectionsOf(
  content: Content,
  tool: { readonly tool_name: string | null; readonly tool_call_id: string | null },
): readonly Section[] {
  const texts = CONTENT_COLUMNS.flatMap((name) => {
    const text = content[name]?.text;
    return text === undefined ? [] : [[name, text] as const];
  });
  return readRecord({ ...tool, ...Object.fromEntries(texts) });
}

/** Each part as a text; longer ones are cut and say so. */
export function messageText({ parts }: Message, longest: number): string {
  return parts
    .map((part) => {
      const { text, rest } = cutText(part.text, longest);
      return `${introduce(part)}${text}${rest > 0 ? ` […${rest} more characters]` : ''}`;
    })
    .join('\n');
}

function introduce({ type, name, id, mediaType, bytes }: Part): string {
  const named = name === null ? '' : ` ${name}`;
  switch (type) {
    case 'tool_call':
      return `(calls tool${named}) `;
    case 'tool_result':
      return `(result of tool${named}) `;
    case 'reasoning':
      return '(reasoning) ';
    case 'media':
      return `(media ${mediaType ?? ''}${bytes === null ? '' : ` ${bytes} bytes`}${named}) `;
    case 'document':
      return `(document${id === null ? '' : ` ${id}`}) `;
    default:
      return '';
  }
}

/** What makes two messages the same: a conversation repeats its history in every call. */
export const messageKey = ({ role, parts }: Message): string =>
  JSON.stringify([role, parts.filter(({ type }) => type !== 'reasoning').map(({ type, text }) => [type, text.trim()])]);
