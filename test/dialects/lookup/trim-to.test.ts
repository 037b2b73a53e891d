/** The text before or after a mark. */
import t from 'tap';
import { trimTo } from '../../../src/dialects/lookup/trim-to.ts';

t.test('the first occurrence counts, and only `before` must occur', async (t) => {
  t.equal(trimTo('openai/gpt/5', { before: '/' }), 'openai');
  t.equal(trimTo('openai/gpt/5', { after: '/' }), 'gpt/5');
  t.equal(trimTo('gpt-5', { before: '/' }), '');
  t.equal(trimTo('gpt-5', { after: '/' }), 'gpt-5');
  t.equal(trimTo('gpt-5', { before: null, after: null }), 'gpt-5');
  t.equal(trimTo('gpt-5', {}), 'gpt-5');
});
