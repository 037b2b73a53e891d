// Untrusted text on a terminal: safe, and with the requested width.
import fc from 'fast-check';
import t from 'tap';
import { asJson, clean, cut, pad, padLeft, widthOf } from '../../../src/cli/view/screen-text.ts';
import { codePoint } from '../../support/code-points.ts';

t.test('escape sequences, control characters and changes of direction are removed', async (t) => {
  t.equal(clean('\u001b[31mred\u001b[0m'), '\ufffd[31mred\ufffd[0m');
  t.equal(clean('\u001b]0;title\u0007'), '\ufffd]0;title\ufffd');
  t.equal(clean('\u009b2Jclear'), '\ufffd2Jclear');
  t.equal(clean('two\r\nlines\tand a tab'), 'two lines and a tab');
  t.equal(clean('user\u202egpj.exe\u2066\u200e'), 'usergpj.exe');
  t.equal(clean('a\u2028b\u2029c'), 'a b c');
  t.equal(clean('\ud800lone'), '\ufffdlone');
});

t.test('width counts columns: wide letters two, marks none, colours none', async (t) => {
  t.equal(widthOf('abc'), 3);
  t.equal(widthOf('日本語'), 6);
  t.equal(widthOf('🎿'), 2);
  t.equal(widthOf('e\u0301'), 1);
  t.equal(widthOf('\u001b[31mred\u001b[0m'), 3);
  t.equal(pad('日本', 6), '日本  ');
  t.equal(padLeft('é', 3), '  é');
  t.equal(pad('longer', 3), 'longer');
});

t.test('a text that is too long ends in an ellipsis, never in half a letter', async (t) => {
  t.equal(cut('abcdef', 6), 'abcdef');
  t.equal(cut('abcdefg', 6), 'abcde…');
  t.equal(cut('日本語', 5), '日本…');
  t.equal(cut('日本語', 4), '日…');
  t.equal(cut('🎿🎿', 3), '🎿…');
  t.equal(cut('anything', 0), '');
  t.equal(cut(`z${'\u0301'.repeat(500)}`, 5).length, 3, 'of many marks on one letter two are kept');
});

t.test('for every text the result fits and has no control characters', async () => {
  const text = fc.string({
    unit: fc.oneof(fc.string({ unit: codePoint, maxLength: 3 }), fc.constantFrom('\u001b[1m', '\n', '界', '\u202e')),
  });
  fc.assert(
    fc.property(text, fc.nat(30), (given, width) => {
      const result = cut(given, width);
      return widthOf(result) <= width && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(result);
    }),
  );
});

t.test('JSON keeps every value and has no control characters', async (t) => {
  t.equal(asJson(['\u009b2J\u202e']), '[\n  "\\u009b2J\\u202e"\n]');
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (given) => {
      const text = asJson({ given });
      return JSON.parse(text).given === given && !/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u.test(text.replace(/\p{Cn}/gu, ''));
    }),
  );
});
