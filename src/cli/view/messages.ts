/** Messages of a record for the terminal, one block each: the role on the left, the text beside it. */
import type { Message, Part } from '../../messages/message.ts';
import type { Section } from '../../messages/read-record.ts';
import type { Style } from '../terminal.ts';
import { formatBytes, plural } from './format.ts';
import { clean, cut, pad, wrap } from './screen-text.ts';

export interface Frame {
  readonly indent: string;
  readonly width: number;
  readonly style: Style;
  /** Lines of each message. */
  readonly lines: number;
}

const ROLE_WIDTH = 9;
const NARROWEST_TEXT = 20;
const LONGEST_NAME = 60;

export function drawMessage(message: Message, frame: Frame): readonly string[] {
  const { indent, style, lines } = frame;
  const width = Math.max(NARROWEST_TEXT, frame.width - indent.length - ROLE_WIDTH - 2);
  const role = pad(cut(message.role ?? roleOfParts(message), ROLE_WIDTH), ROLE_WIDTH);
  const blank = ' '.repeat(ROLE_WIDTH);
  const drawn: string[] = [];
  let whole = true;
  for (const part of message.parts) {
    if (drawn.length >= lines) whole = false;
    if (!whole) break;
    const told = wrap(textOfPart(part), width, lines - drawn.length);
    drawn.push(...told.lines.map((line) => paint(part, line, style)));
    whole = told.whole;
  }
  if (drawn.length === 0) drawn.push(style.dim('(empty)'));
  if (!whole) drawn[drawn.length - 1] += style.dim(' …');
  return drawn.map((line, at) => `${indent}${at === 0 ? style.cyan(role) : blank}  ${line}`.trimEnd());
}

const roleOfParts = ({ parts }: Message): string => (parts[0]?.type === 'query' ? 'query' : 'document');

function paint({ type }: Part, line: string, style: Style): string {
  return type === 'text' || type === 'query' || type === 'document' ? line : style.dim(line);
}

function textOfPart({ type, text, name, id, mediaType, bytes }: Part): string {
  const named = (word: string): string =>
    [word, name === null ? null : cut(name, LONGEST_NAME)].filter(Boolean).join(' ');
  switch (type) {
    case 'reasoning':
      return `(reasoning) ${text}`;
    case 'tool_call':
      return `${named('calls')} ${text}`;
    case 'tool_result':
      return `${name === null ? 'result' : `result of ${cut(name, LONGEST_NAME)}`}: ${text}`;
    case 'media': {
      const facts = [mediaType, name, bytes === null ? null : formatBytes(bytes), text === '' ? id : text];
      return `[${facts
        .filter((fact) => fact !== null && fact !== '')
        .map((fact) => clean(fact ?? ''))
        .join(', ')}]`;
    }
    case 'document':
      return id === null ? text : `${cut(id, LONGEST_NAME)}: ${text}`;
    default:
      return text;
  }
}

/**
 * The messages of one record in a few lines: of the input the last ones, which are new. `hint` names the command that
 * shows the rest.
 */
export function drawExcerpt(sections: readonly Section[], frame: Frame, most: number, hint: string): readonly string[] {
  const messages = sections.flatMap((section) => section.messages);
  const output = sections.filter(({ source }) => OUTPUTS.has(source)).flatMap((section) => section.messages);
  const input = messages.filter((message) => !output.includes(message));
  const shownInput = input.slice(-Math.max(1, most - output.length));
  const shown = [...shownInput, ...output.slice(0, most)];
  const hidden = messages.length - shown.length;
  const isCut = shown.some(({ parts }) =>
    parts.some(({ text }) => !wrap(text, frame.width - frame.indent.length, frame.lines).whole),
  );
  const rest = hidden > 0 ? `… ${plural(hidden, 'more message')}: ${hint}` : isCut ? `… the rest: ${hint}` : null;
  return [
    ...shown.flatMap((message) => drawMessage(message, frame)),
    ...(rest === null ? [] : [`${frame.indent}${frame.style.dim(rest)}`]),
  ];
}

const OUTPUTS: ReadonlySet<string> = new Set(['output_content', 'tool_result', 'retrieval_documents']);

/** For `--json`: the names of the columns of the view `messages`. */
export function contentData(sections: readonly Section[]): readonly object[] {
  return sections.map(({ source, isComplete, messages }) => ({
    source,
    is_complete: isComplete,
    messages: messages.map(messageData),
  }));
}

export function messageData({ role, name, parts, finishReason }: Message): object {
  return {
    role,
    name,
    finish_reason: finishReason,
    parts: parts.map(({ mediaType, ...part }) => ({ ...part, media_type: mediaType })),
  };
}
