/** Invisible characters are shown as their code, except where they are part of the writing. */
import t from 'tap';
import { visibleLine, visibleText } from '../../src/pdata/untrusted-text.ts';

const SEEN = {
  'a family': '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  'a person of a colour with a computer': '\u{1f468}\u{1f3fd}\u200d\u{1f4bb} done',
  'a heart on fire': '\u2764\ufe0f\u200d\u{1f525}',
  'a flag': '\u{1f3f3}\ufe0f\u200d\u{1f308}',
  Persian: '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
  Hindi: '\u0915\u094d\u200d\u0937',
};
const HIDDEN = {
  'between Latin letters': ['zero\u200bwidth\u200dname', 'zero‹U+200B›width‹U+200D›name'],
  'before an emoji': ['\u200d\u{1f469}', '‹U+200D›\u{1f469}'],
  'after an emoji': ['\u{1f469}\u200d', '\u{1f469}‹U+200D›'],
  'twice between pictures': ['\u{1f469}\u200d\u200d\u{1f469}', '\u{1f469}‹U+200D›‹U+200D›\u{1f469}'],
  'twice between letters': ['\u0645\u200c\u200c\u062e', '\u0645‹U+200C›‹U+200C›\u062e'],
  'before a Latin letter': ['\u0645\u200ca', '\u0645‹U+200C›a'],
  'a direction between Arabic letters': ['\u0645\u202e\u062e', '\u0645‹U+202E›\u062e'],
  'a tag after an emoji': ['\u{1f3f4}\u{e0067}', '\u{1f3f4}‹U+E0067›'],
  'a half of a pair': ['a\ud800b', 'a‹U+D800›b'],
  'an escape': ['\u001b[31m', '‹U+001B›[31m'],
} as const;

for (const [what, text] of Object.entries(SEEN)) {
  t.equal(visibleLine(text), text, what);
  t.equal(visibleText(text), text, `${what}, in a text`);
}
for (const [what, [text, shown]] of Object.entries(HIDDEN)) {
  t.equal(visibleLine(text), shown, what);
  t.equal(visibleText(text), shown, `${what}, in a text`);
}
t.equal(visibleLine('a\tb\r\nc'), 'a b c');
t.equal(visibleText('a\tb\r\nc'), 'a\tb\nc');
