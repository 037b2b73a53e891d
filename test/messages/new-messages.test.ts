/** A model call is compared with those before it. */
import t from 'tap';
import { type Message, part } from '../../src/messages/message.ts';
import { CallHistory } from '../../src/messages/new-messages.ts';
import type { Section } from '../../src/messages/read-record.ts';

const aMessage = (role: string, ...parts: Message['parts']): Message => ({
  role,
  name: null,
  parts,
  finishReason: null,
});
const say = (role: string, text: string): Message => aMessage(role, part('text', text));

const aCall = (input: readonly Message[], answer: readonly Message[]): readonly Section[] => [
  { source: 'input_content', messages: input, isComplete: true },
  { source: 'output_content', messages: answer, isComplete: true },
];

t.test('the history of a conversation is counted as repeated', async (t) => {
  const calls = new CallHistory();
  const first = [say('user', 'one')];
  t.match(calls.add(aCall(first, [say('assistant', 'two')])), { repeated: 0, isRepeat: false });
  const second = [...first, say('assistant', 'two'), say('user', 'three')];
  t.match(calls.add(aCall(second, [say('assistant', 'four')])), { repeated: 2, isRepeat: false });
});

t.test('reasoning is left out of a history, and the result of a tool may come from the user', async (t) => {
  const calls = new CallHistory();
  const question = say('user', 'one');
  calls.add(aCall([question], [aMessage('assistant', part('reasoning', 'why'), part('text', 'two'))]));
  const result = [part('tool_result', '{"a":1}')];
  t.match(calls.add(aCall([question, say('assistant', 'two'), aMessage('tool', ...result)], [])), { repeated: 2 });
  const sameArguments = aMessage('user', part('tool_result', '{ "a": 1 }'));
  t.match(calls.add(aCall([question, say('assistant', 'two'), sameArguments], [])), { repeated: 3, isRepeat: true });
});

t.test('a call with fewer messages than an earlier one is no repetition of it', async (t) => {
  const calls = new CallHistory();
  const input = [say('user', 'one'), say('user', 'two')];
  calls.add(aCall(input, [say('assistant', 'three')]));
  t.match(calls.add(aCall(input, [])), { repeated: 2, isRepeat: false });
  t.match(calls.add(aCall(input, [say('assistant', 'three')])), { isRepeat: true });
});

t.test('a call is compared with the eight before it', async (t) => {
  const calls = new CallHistory();
  const first = aCall([say('user', 'one')], []);
  calls.add(first);
  for (const text of '1234567') calls.add(aCall([say('user', text)], []));
  t.match(calls.add(first), { isRepeat: true });
  for (const text of 'abcdefgh') calls.add(aCall([say('user', text)], []));
  t.match(calls.add(first), { isRepeat: false });
});
