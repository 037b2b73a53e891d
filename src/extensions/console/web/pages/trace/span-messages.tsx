/** The messages of one span. Content that was cut can be loaded. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ContentField, ContentPiece, Text } from '../../../api/shapes/content.ts';
import type { SpanDetail } from '../../../api/shapes/spans.ts';
import { type ContentRow, readRecord } from '../../../../../messages/read-record.ts';
import { get } from '../../data/api.ts';
import { useChanges } from '../../data/change.ts';
import { Button } from '../../parts/basics.tsx';
import { Messages } from '../../parts/messages.tsx';
import { Problem } from '../../parts/states.tsx';
import { seesContent } from '../../state/session.ts';
import { exactly } from '../../text/figures.ts';
import { visible } from '../../text/visible.ts';

type Content = Readonly<Partial<Record<ContentField, Text>>>;

interface SpanMessagesProps {
  readonly detail: SpanDetail;
  readonly path: string;
  readonly start: string;
}

export function SpanMessages({ detail, path, start }: SpanMessagesProps): JSX.Element {
  const [whole, setWhole] = useState<{ of: SpanDetail; content: Content } | null>(null);
  const { problem, change } = useChanges();
  const content = whole?.of === detail ? whole.content : detail.content;
  if (content === undefined || !seesContent.value) {
    return (
      <p class="muted">
        Prompts, answers and tool payloads are not shown to you. Ask an admin for the right to content.
      </p>
    );
  }
  if (Object.keys(content).length === 0) {
    return (
      <p class="muted">
        No content. Either the sender sent none, or it is not captured in {visible(detail.environment)}.
      </p>
    );
  }
  const cut = Object.entries(content).filter(([, text]) => text.cut) as [ContentField, Text][];
  const loadAll = async (): Promise<void> => {
    const loaded = await Promise.all(
      cut.map(async ([field, text]) => [field, await restOf(path, start, field, text)] as const),
    );
    setWhole({ of: detail, content: { ...content, ...Object.fromEntries(loaded) } });
  };
  return (
    <>
      {cut.length === 0 ? null : (
        <p class="notice">
          The content is long:{' '}
          {cut.map(([field, { text, length }]) => `${field} ${exactly(text.length)} of ${exactly(length)}`).join(', ')}{' '}
          <Button kind="quiet" onClick={() => void change(loadAll)}>
            load all
          </Button>
        </p>
      )}
      <Problem text={problem} />
      <ContentMessages content={content} record={detail} />
    </>
  );
}

async function restOf(path: string, start: string, field: ContentField, text: Text): Promise<Text> {
  let all = '';
  for (let offset: number | null = 0; offset !== null; ) {
    const piece: ContentPiece = await get<ContentPiece>(`${path}/content/${field}`, { start, offset });
    all += piece.text;
    offset = piece.next;
  }
  return { text: all, length: text.length, cut: false };
}

interface ContentMessagesProps {
  readonly content: Content;
  readonly record: { readonly tool_name: string | null; readonly tool_call_id: string | null };
}

function ContentMessages({ content, record }: ContentMessagesProps): JSX.Element {
  const sections = readRecord(rowOf(content, record));
  return (
    <>
      {sections.map(({ source, messages, isComplete }) => (
        <section key={source} class="section">
          <h3>{TITLES[source] ?? source}</h3>
          <Messages messages={messages} />
          {isComplete ? null : <p class="muted">More parts are not read.</p>}
        </section>
      ))}
    </>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  system_instructions: 'System',
  input_content: 'Input',
  retrieval_query: 'Query',
  tool_arguments: 'Arguments',
  tool_result: 'Result',
  retrieval_documents: 'Documents',
  output_content: 'Output',
};

export function rowOf(content: Content, record: ContentMessagesProps['record']): ContentRow {
  const texts = Object.fromEntries(Object.entries(content).map(([field, { text }]) => [field, text]));
  return { ...texts, tool_name: record.tool_name, tool_call_id: record.tool_call_id };
}
