/** The check before a document is parsed: it accepts what the parser accepts, up to a depth. */
import fc from 'fast-check';
import t from 'tap';
import { parseDocument } from '../../../src/dialects/lookup/documents.ts';
import { isJson } from '../../../src/dialects/lookup/json-check.ts';
import { cases } from '../../support/long.ts';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

t.test('a text is JSON exactly when the parser accepts it', async (t) => {
  const piece = fc.constantFrom(
    ...'{}[]",:0123.-+eE\\u \n\t\rntf',
    'true',
    'null',
    'false',
    '"a"',
    '\\u0041',
    '\\n',
    '1e5',
    '\u0001',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
        fc.json(),
      ),
      (text) => {
        if (isJson(text) !== parses(text)) t.fail(JSON.stringify(text));
      },
    ),
    { numRuns: cases(50_000) },
  );
  const cut = fc.tuple(fc.json(), fc.nat()).map(([text, end]) => text.slice(0, end % (text.length + 1)));
  fc.assert(
    fc.property(cut, (text) => isJson(text) === parses(text)),
    { numRuns: cases(5000) },
  );
  t.pass();
});

t.test('a document that is nested thousands of levels deep is refused', async (t) => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  t.ok(parseDocument(nested(100)));
  t.equal(parseDocument(nested(10_000)), undefined);
  t.equal(parseDocument(`{"input":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`), undefined);
});
