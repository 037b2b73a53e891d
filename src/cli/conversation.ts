/** `sluice conversation ID`: the model calls of a conversation in order of time, each with what is new in it. */
import type { Message } from '../messages/message.ts';
import { UserError } from '../errors.ts';
import { loadConversation } from './lake/archived-conversation.ts';
import type { Command } from './command.ts';
import { explainMissing } from './content-capture.ts';
import { LAKE_SEARCH_OPTIONS, withLake } from './lake/lake.ts';
import { flagOption, limitOf, limitOption, onlyWord } from './options.ts';
import { type Reader, READER_OPTIONS, sinceOf, withReader } from './reader.ts';
import type { Terminal } from './terminal.ts';
import {
  findConversation,
  type Key,
  listCalls,
  readTurns,
  type StoredCall,
  type Turn,
} from './view/conversation-record.ts';
import { formatCost, formatCount, formatTook, plural, shortId } from './view/format.ts';
import { drawMessage, messageData } from './view/messages.ts';
import { asJson, cut } from './view/screen-text.ts';
import { MS_NS } from '../pdata/time-units.ts';

const DEFAULT_CALLS = 200;
const MOST_CALLS = 10_000;
const MESSAGE_LINES = 60;

export const command: Command = {
  description:
    'Model calls repeat the whole conversation; of each only the messages are shown that the calls before it did not\nhave. The id may be shortened to a unique prefix.',
  options: {
    ...READER_OPTIONS,
    ...LAKE_SEARCH_OPTIONS,
    all: flagOption('Show the messages that earlier calls have too'),
    limit: limitOption('The last N model calls', DEFAULT_CALLS),
  },
  examples: [
    ['sluice conversation c-17', 'the thread, across all its traces'],
    ['sluice conversation c-17 --json', 'the same for programs'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const id = onlyWord(call, 'ID');
    const limit = limitOf(values, MOST_CALLS);
    const project = values.text('project') ?? null;
    const since = sinceOf(values, Date.now());
    const show = async (reader: Reader): Promise<void> => {
      const key = await findConversation(reader, id, project);
      const calls = await listCalls(reader, key);
      if (calls.length === 0)
        throw new UserError(`the conversation ${id} has no model calls`, 'See `sluice traces --conversation ID`.');
      const thread = { key, calls, limit, all: values.flag('all') };
      if (values.flag('json')) terminal.print(await threadJson(reader, thread));
      else await printThread(reader, thread, terminal);
    };
    return withReader(call, (reader) =>
      withLake(call, reader, { columns: 'all' }, async (lake) => {
        if (lake !== null) await loadConversation(lake, { id, project, since });
        return show(lake?.reader ?? reader);
      }),
    );
  },
};

interface Thread {
  readonly key: Key;
  readonly calls: readonly StoredCall[];
  /** The last calls are shown. */
  readonly limit: number;
  readonly all: boolean;
}

const turnsOf = (reader: Reader, { key, calls, limit, all }: Thread): AsyncGenerator<Turn> =>
  readTurns(reader, key, calls.slice(-limit), all);

async function threadJson(reader: Reader, thread: Thread): Promise<string> {
  const calls: object[] = [];
  for await (const { call, messages, repeated } of turnsOf(reader, thread))
    calls.push({ ...call, repeated_message_count: repeated, messages: messages.map(messageData) });
  const { project, conversationId: conversation_id } = thread.key;
  return asJson({ project, conversation_id, call_count: thread.calls.length, calls });
}

async function printThread(reader: Reader, thread: Thread, terminal: Terminal): Promise<void> {
  const { style, width } = terminal;
  const { key, calls, limit } = thread;
  const skipped = Math.max(0, calls.length - limit);
  terminal.print(`${style.bold(cut(key.conversationId, width))}  ${style.dim(key.project)}`);
  if (skipped > 0)
    terminal.print(style.yellow(`… ${plural(skipped, 'earlier call')}; see them with --limit ${calls.length}`));
  let trace: string | null | undefined;
  for await (const turn of turnsOf(reader, thread)) {
    if (turn.call.trace_id !== trace) terminal.print(`\n${style.dim(describeTrace(turn))}`);
    trace = turn.call.trace_id;
    const drawn = turn.messages.flatMap((message: Message) =>
      drawMessage(message, { indent: '  ', width, style, lines: MESSAGE_LINES }),
    );
    const missing = turn.hasContent
      ? []
      : [`  ${style.dim(`(${await explainMissing(reader, key.project, turn.call.environment)})`)}`];
    if (!turn.isRepeat) terminal.print([style.dim(`  ${describeCall(turn, width)}`), ...drawn, ...missing].join('\n'));
  }
}

function describeTrace({ call }: Turn): string {
  const at = call.start_time_unix_nano;
  const when = at === null ? [] : [new Date(Number(BigInt(at) / MS_NS)).toISOString()];
  const what = call.trace_id === null ? 'log records' : `trace ${shortId(call.trace_id)}`;
  return [what, call.environment, ...when].join(', ');
}

function describeCall({ call, repeated }: Turn, width: number): string {
  const used = call.input_tokens !== null || call.output_tokens !== null;
  const facts = [
    `── ${call.model ?? call.name}`,
    ...(call.duration_ns === null ? [] : [formatTook(call.duration_ns)]),
    ...(used ? [`${formatCount(call.input_tokens)} → ${formatCount(call.output_tokens)}`] : []),
    ...(call.total_cost === null ? [] : [formatCost(call.total_cost)]),
    ...(repeated > 0 ? [`${plural(repeated, 'message')} as before`] : []),
    ...(call.is_error === true ? ['failed'] : []),
    call.signal === 'log' ? 'log record' : `span ${call.span_id}`,
  ];
  return cut(facts.join(' · '), width - 2);
}
