/** The tool `get_conversation`: its messages, oldest turn first, each once. */
import { parseExact } from '../../../pdata/exact-json.ts';
import type { Turns } from '../api/shapes/conversations.ts';
import type { StepRow } from '../api/shapes/steps.ts';
import { costOf, joined, missingLines, plural, timeOf, tokensOf } from './figures.ts';
import { messageKey, messageText, sectionsOf } from './messages.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { fitLines, projectPath, type Tool } from './tool.ts';
import { block, explainMark, line, newMark } from './untrusted.ts';

const LONGEST_ID = 512;
const LONGEST_MESSAGE = 1200;
const TURNS_BYTES = 17 * 1024;
const LONGEST_TURN = 6000;

export const getConversation: Tool = {
  name: 'get_conversation',
  title: 'Get a conversation',
  description:
    'The newest turns of a conversation, oldest first: what the user asked, answers and tool calls, each message once, with the ids of traces and spans. The cursor continues with earlier turns.',
  properties: {
    project: PROJECT_ARGUMENT,
    conversation: { type: 'string', maxLength: LONGEST_ID, description: 'The conversation id.' },
    cursor: { type: 'string', description: 'Continues with earlier turns.' },
  },
  required: ['conversation'],
  async run(values, { api }) {
    const project = await projectOf(values, api);
    const segments = ['conversations', values.text('conversation'), 'turns'];
    const { conversation, items, next, ...part } = parseExact(
      await api.get(projectPath(project, segments, { cursor: values.text('cursor') })),
    ) as Turns;
    const mark = newMark();
    const head = joined(
      `conversation ${line(conversation.conversation_id, LONGEST_ID)}`,
      plural(conversation.trace_count, 'trace'),
      plural(conversation.call_count, 'model call'),
      plural(conversation.error_count, 'error'),
      `${timeOf(conversation.first_time_unix_nano)} to ${timeOf(conversation.last_time_unix_nano)}`,
      conversation.user_id === null ? null : `user ${line(conversation.user_id)}`,
      tokensOf(conversation),
      `cost ${costOf(conversation.total_cost)}`,
    );
    const known = new Set<string>();
    const turns = items.toReversed().map(({ trace, steps, more_steps: more }) => {
      const title =
        trace === null
          ? 'log records'
          : `turn ${trace.trace_id} ${timeOf(trace.start_time_unix_nano)} ${line(trace.name)}`;
      const lines = steps.flatMap((step) => stepLines(step, known, mark));
      const left = (count: number): string => `  … ${count} more; get_span shows each step`;
      const fitting = fitLines(lines, LONGEST_TURN, left);
      return [title, ...fitting, ...(more ? ['  … more steps: get_trace'] : [])].join('\n');
    });
    const { shown, left } = newest(turns);
    return [
      head,
      explainMark(mark),
      ...missingLines(part, 'archived days were not searched'),
      ...(left > 0 ? [`(${plural(left, 'earlier turn')} of this page left out; get_trace shows each)`] : []),
      ...shown,
      next === null ? 'No earlier turns.' : `Earlier turns: cursor ${next}`,
    ].join('\n');
  },
};

/** The messages of a step that no step before it had. */
function stepLines(step: StepRow, known: Set<string>, mark: string): readonly string[] {
  const what = step.tool_name ?? step.model ?? step.category;
  const title = joined(
    `  ${step.category} ${step.span_id ?? 'record'} ${line(what)}`,
    step.error && `ERROR ${step.error_type === null ? '' : line(step.error_type)}`.trim(),
    tokensOf(step),
    step.total_cost === null ? null : costOf(step.total_cost),
  );
  if (step.content === undefined) return [title];
  const messages = sectionsOf(step.content, step).flatMap((section) => section.messages);
  const fresh = messages.filter((message) => {
    const key = messageKey(message);
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
  return [
    title,
    ...fresh.map((message) =>
      block(mark, line(message.role ?? 'text', 20), messageText(message, LONGEST_MESSAGE), LONGEST_MESSAGE),
    ),
  ];
}

/** The last turns that fit. */
function newest(turns: readonly string[]): { readonly shown: readonly string[]; readonly left: number } {
  const shown: string[] = [];
  let room = TURNS_BYTES;
  for (const turn of turns.toReversed()) {
    room -= Buffer.byteLength(turn);
    if (room < 0) break;
    shown.unshift(turn);
  }
  return { shown, left: turns.length - shown.length };
}
