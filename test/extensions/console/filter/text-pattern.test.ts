/** Texts are found within JSON of any writer. */
import t from 'tap';
import { recordFilter } from '../../../../src/cli/tap-filter.ts';
import { patternOf } from '../../../../src/extensions/console/filter/text-pattern.ts';

const unit = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
const ascii = (json: string): string => json.replace(/[^\x20-\x7e]/gu, unit);

const WRITERS: Readonly<Record<string, (text: string) => string>> = {
  'no JSON': (text) => text,
  'JSON.stringify': (text) => JSON.stringify(text),
  'json.dumps of Python': (text) => ascii(JSON.stringify(text)),
  'encoding/json of Go': (text) => JSON.stringify(text).replace(/[<>&]/gu, unit),
  'json_encode of PHP': (text) => ascii(JSON.stringify(text)).replaceAll('/', '\\/'),
  'System.Text.Json': (text) =>
    ascii(
      JSON.stringify(text)
        .slice(1, -1)
        .replaceAll('\\"', '\\u0022')
        .replace(/[<>&'+`]/gu, unit),
    ).replace(/\\u[0-9a-f]{4}/gu, (found) => `\\u${found.slice(2).toUpperCase()}`),
  'JSON in a string of JSON': (text) => ascii(JSON.stringify(ascii(JSON.stringify({ text })))),
};

const TEXTS = [
  'refund',
  'Öffnungszeiten für Zürich',
  'say "hello" & <b>don\'t</b>',
  'C:\\temp\\new',
  'two\nlines\tand/or',
  '東京タワー',
  'Привет, мир',
  'thumbs 👍 up',
  'a.b*c(d)[e]{f}|^$?+\\',
];

t.test('a text is found whatever wrote it, and whatever the case of letters', async (t) => {
  for (const [writer, write] of Object.entries(WRITERS)) {
    for (const text of TEXTS) {
      const record = { signal: 'span', input_content: `before ${write(text)} after` };
      for (const wanted of [text, text.toLowerCase(), text.toUpperCase()]) {
        if (wanted.length !== text.length) continue;
        const filter = `text:"${wanted.replace(/["\\]/gu, '\\$&')}"`;
        t.ok(recordFilter(filter)(record), `${writer}: ${JSON.stringify(wanted)}`);
      }
      t.notOk(recordFilter('text:"Zürich!"')(record));
    }
  }
});

t.test('a text that no writer escapes has one spelling, and a very long one too', async (t) => {
  t.equal(patternOf('What is 100% of [x]? {a_b}'), null);
  t.equal(patternOf('é'.repeat(1025)), null);
});

t.test('a text of a hostile sender is searched in linear time', async (t) => {
  const long = 1_000_000;
  const records = ['\\'.repeat(long), '\\"'.repeat(long / 2), '"'.repeat(long), 'a\\\\'.repeat(long / 3)];
  for (const text of ['ü', '"', '\\', '\\\\\\x', '\\"x', '""x', 'a\\"\\"x', 'a"\\üx', '\nx', 'a\n\nx']) {
    const meets = recordFilter(`text:"${text.replace(/["\\]/gu, '\\$&')}"`);
    for (const input_content of records) meets({ signal: 'span', input_content });
    t.pass(JSON.stringify(text));
  }
});
