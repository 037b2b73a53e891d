/** Words are found by bytes exactly as by strings: case-insensitive, and no similar text matches. */
import t from 'tap';
import { PROVIDERS } from '../../../src/dialects/providers.ts';
import { Intake } from '../../../src/pdata/index-body.ts';
import { ValueMemo } from '../../../src/processors/normalization/value-memo.ts';
import { Words } from '../../../src/processors/normalization/words.ts';
import { Normalized } from './normalized.ts';

const WORDS = PROVIDERS.flatMap(({ spellings }) => spellings);

t.test('bytes find what strings find', async (t) => {
  const { tables } = new Intake();
  const words = new Words();
  for (const word of WORDS) words.add(word);
  const ofBytes = (text: string): number => {
    const reference = tables.scratch(text);
    return reference === null ? -1 : words.ofText(tables.memory, reference.offset, reference.length);
  };
  for (const word of WORDS) {
    const tries = [word, word.toUpperCase(), `${word}x`, word.slice(1), word.slice(0, -1), word.replace(/.$/, '~')];
    for (const each of tries) if (each !== '') t.equal(ofBytes(each), words.ofString(each), each);
  }
  t.equal(ofBytes('x'.repeat(500)), 0);
});

t.test('a value is cached by its bytes and its kind', async (t) => {
  const normalized = new Normalized();
  const memo = new ValueMemo<string>();
  const row = (value: string | readonly string[]): number => {
    const body = { key: 'k', value: typeof value === 'string' ? { stringValue: value } : list(value) };
    const span = {
      traceId: '1'.repeat(32),
      spanId: '1'.repeat(16),
      name: 'n',
      startTimeUnixNano: '1',
      attributes: [body],
    };
    const request = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
    return normalized.batch('traces', 'json', Buffer.from(JSON.stringify(request))).records.goto(0).attributesFirst;
  };
  const { memory } = normalized.intake.tables;
  memo.add(memory, row('stop'), 'one word');
  memo.add(memory, row(['stop']), 'a list');
  t.equal(memo.get(memory, row('stop')), 'one word');
  t.equal(memo.get(memory, row(['stop'])), 'a list');
  t.equal(memo.get(memory, row('stops')), undefined);
  t.equal(
    memo.get(memory, row(JSON.stringify(list(['stop'])).slice(14, -1))),
    undefined,
    'the bytes of the list as text',
  );
});

function list(texts: readonly string[]): { readonly arrayValue: { readonly values: readonly unknown[] } } {
  return { arrayValue: { values: texts.map((stringValue) => ({ stringValue })) } };
}
