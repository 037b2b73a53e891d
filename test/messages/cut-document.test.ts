/** Messages of content that ends too early are shown as far as they are there. */
import t from 'tap';
import { parseCutDocument } from '../../src/messages/cut-document.ts';
import { readMessages } from '../../src/messages/read-messages.ts';

const CONTENT = JSON.stringify([
  { role: 'system', parts: [{ type: 'text', content: 'Be "brief".' }] },
  { role: 'user', parts: [{ type: 'text', content: 'a\\b \u00e9\u0001 \u{1f469}' }], n: [1, true, null, { a: {} }] },
]);

t.test('the beginning of content is read at each length', async (t) => {
  const whole = readMessages(CONTENT, 'user');
  t.equal(whole.isComplete, true);
  for (let length = 1; length < CONTENT.length; length += 1) {
    const document = parseCutDocument(CONTENT.slice(0, length)) as readonly object[] | undefined;
    const isStart = (document?.length ?? 0) > 0;
    if (length > CONTENT.indexOf('brief')) t.ok(isStart, CONTENT.slice(0, length));
    const { messages, isComplete } = readMessages(CONTENT.slice(0, length), 'user');
    t.ok(messages.length > 0);
    t.equal(isComplete, document === undefined || messages[0]?.parts[0]?.text === CONTENT.slice(0, length));
  }
});

t.test('a text that was cut ends in an ellipsis', async (t) => {
  const { messages } = readMessages(CONTENT.slice(0, CONTENT.indexOf('brief') + 3), 'user');
  t.match(messages, [{ role: 'system', parts: [{ type: 'text', text: 'Be "bri…' }] }]);
  t.equal(messages.length, 1);
  const second = readMessages(CONTENT.slice(0, CONTENT.indexOf('u0001') + 3), 'user').messages;
  t.match(
    second.map(({ role }) => role),
    ['system', 'user'],
  );
  t.equal(second[1]?.parts[0]?.text, 'a\\b \u00e9…');
});

t.test('a text that is no JSON stays a text', async (t) => {
  for (const text of [
    '[INFO] started',
    '{hello',
    '{hello} world',
    '[a',
    '[',
    '{',
    '[1] and [2',
    '[text](address)',
    '{{name}}, hello',
  ]) {
    const { messages, isComplete } = readMessages(text, 'user');
    t.match(messages, [{ role: 'user', parts: [{ type: 'text', text }] }], text);
    t.equal(isComplete, true);
  }
});
