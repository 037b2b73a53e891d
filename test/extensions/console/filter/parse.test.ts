/** The grammar of the filter language: what is read, and where a faulty text is refused. */
import fc from 'fast-check';
import t from 'tap';
import { compileFilter } from '../../../../src/extensions/console/filter/compile.ts';
import { FIELD_NAMES } from '../../../../src/extensions/console/filter/fields.ts';
import { FilterError } from '../../../../src/extensions/console/filter/filter.ts';
import { Parameters } from '../../../../src/extensions/console/filter/parameters.ts';
import { parseFilter } from '../../../../src/extensions/console/filter/parse.ts';
import { cases } from '../../../support/long.ts';

/** A filter in one line: `-field[key] operator value|value*`. */
const written = (text: string): string =>
  parseFilter(text)
    .terms.map(({ field, key, operator, values, negated }) => {
      const list = values.map(({ text, isPrefix }) => `${text}${isPrefix ? '*' : ''}`).join('|');
      return `${negated ? '-' : ''}${field.name}${key === '' ? '' : `[${key}]`} ${operator} ${list}`.trim();
    })
    .join('; ');

function refusalOf(text: string): FilterError {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error(`not refused: ${text}`);
}

t.test('filters are read into terms', async (t) => {
  const table: readonly (readonly [string, string])[] = [
    ['', ''],
    ['  \t\n ', ''],
    ['model:gpt-5*', 'model = gpt-5*'],
    ['model:gpt-5* cost:>0.05 duration:>2s', 'model = gpt-5*; cost > 0.05; duration > 2s'],
    ['-service:worker', '-service = worker'],
    ['model:a,b,c*', 'model = a|b|c*'],
    ['error', 'error ='],
    ['-error', '-error ='],
    ['error:timeout', 'error = timeout'],
    ['unpriced root', 'unpriced =; root ='],
    ['"timed out"', 'text = timed out'],
    ['-"timed out"', '-text = timed out'],
    ['text:refund', 'text = refund'],
    ['name:"chat gpt"*', 'name = chat gpt*'],
    ['name:"a \\"b\\" \\\\ \\n"', 'name = a "b" \\ \\n'],
    ['name:"a,b",c', 'name = a,b|c'],
    ['name:"*"', 'name = *'],
    ['tool:*', 'tool = *'],
    ['name:~chat', 'name ~ chat'],
    ['tokens:>=3k', 'tokens >= 3k'],
    ['ttft:<150ms latency:<=1.5s', 'ttft < 150ms; latency <= 1.5s'],
    ['duration:1m30s', 'duration = 1m30s'],
    ['attr.http.route:/chat', 'attr.[http.route] = /chat'],
    ['attr.n:>-5', 'attr.[n] > -5'],
    ['resource.host.name:web*', 'resource.[host.name] = web*'],
    ['trace:4bf92f span:00f067aa0ba902b7', 'trace = 4bf92f; span = 00f067aa0ba902b7'],
    ['trace.cost:>1 trace.duration:>1m trace.spans:>10', 'trace.cost > 1; trace.duration > 1m; trace.spans > 10'],
    ['user:https://example.com/u?id=1', 'user = https://example.com/u?id=1'],
    ['user:日本', 'user = 日本'],
    ['env:Prod kind:SERVER status:Error', 'env = prod; kind = server; status = error'],
    ['category:Model_* severity:~err,"Warn"', 'category = model_*; severity ~ ERR|WARN'],
    ['name:=x', 'name = x'],
  ];
  for (const [text, expected] of table) t.equal(written(text), expected, text);
});

t.test('filters that are refused, with the place and a hint', async (t) => {
  const table: readonly (readonly [string, number, string | null])[] = [
    ['modell:x', 0, 'model'],
    ['model:x servce:y', 8, 'service'],
    ['eror', 0, 'error'],
    ['timeout', 0, '"timeout" in quotes searches for the text'],
    ['model', 5, 'model:value'],
    ['model:', 6, null],
    ['model:a,', 8, null],
    ['-', 1, 'field:value'],
    [':x', 0, null],
    ['model:a*b', 7, 'quotes make it an ordinary character'],
    ['name:"open', 5, '"'],
    ['name:"a"b', 8, null],
    ['"a""b"', 3, null],
    ['cost:cheap', 5, 'a number such as 0.05, 1200 or 3k'],
    ['cost:~1', 0, '= > >= < <='],
    ['model:>a', 0, '= ~'],
    ['duration:2', 9, 'a duration such as 2s or 150ms'],
    ['trace:xyz', 6, 'up to 32 hexadecimal digits'],
    ['span:00f0', 5, '16 hexadecimal digits'],
    ['root:true', 4, 'root'],
    ['attr.:x', 0, null],
    ['attr.n:>x', 8, 'a number such as 0.05'],
    ['name:~a*', 7, 'a text'],
    ['text:""', 5, 'a text'],
    ['name:a\0', 6, null],
  ];
  for (const [text, at, hint] of table) {
    const refusal = refusalOf(text);
    t.equal(refusal.at, at, `${text}: ${refusal.message}`);
    t.equal(refusal.hint, hint, text);
  }
});

t.test('the limits of terms and bytes', async (t) => {
  t.equal(parseFilter('error '.repeat(20)).terms.length, 20);
  t.equal(refusalOf('error '.repeat(21)).at, 120);
  const longest = `name:${'é'.repeat(2045)}x`;
  t.equal(parseFilter(longest).terms.length, 1);
  t.match(refusalOf(`${longest}y`).message, /4096 bytes/u);
});

const names = fc.constantFrom(...FIELD_NAMES, 'attr.http.route', 'resource.host.name', 'modell', '');
const pieces = fc.constantFrom(
  '"',
  '\\',
  '*',
  ',',
  ':',
  '-',
  '~',
  '>',
  '>=',
  '<',
  '=',
  ' ',
  '\0',
  '0.05',
  '2s',
  'SECRET',
);
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.oneof(names, pieces, fc.string({ maxLength: 3 })), { maxLength: 12 }).map((parts) => parts.join('')),
  fc
    .array(
      fc.tuple(
        fc.oneof(names, fc.constantFrom('text', 'error')),
        fc.oneof(pieces, fc.constant('')),
        fc.constantFrom('SECRET', '"SECRET"*', '5', '2s', 'SECRET,SECRET*', '4bf9', '"&"', '&,SECRET'),
      ),
    )
    .map((terms) => terms.map(([name, piece, value]) => `${name}:${piece}${value}`).join(' ')),
);

t.test('any text is read or refused with a place inside it', async (t) => {
  fc.assert(
    fc.property(texts, (text) => {
      try {
        parseFilter(text);
      } catch (error) {
        if (!(error instanceof FilterError)) throw error;
        if (!(error.at >= 0 && error.at <= text.length)) throw new Error(`at ${error.at} of ${JSON.stringify(text)}`);
      }
    }),
    { numRuns: cases(3000) },
  );
  t.pass();
});

/** The condition of each term, without the numbers of parameters. */
function shapesOf(text: string, seesContent = true): readonly string[] {
  const shapes: string[] = [];
  for (const target of ['span', 'log', 'usage'] as const) {
    for (const term of parseFilter(text).terms) {
      try {
        const options = { target, seesContent, views: 'public', parameters: new Parameters() };
        const { trace, row, sums } = compileFilter({ terms: [term] }, options);
        shapes.push(...[...trace, ...row, ...sums].map((sql) => sql.replaceAll(/\$\d+/gu, '?')));
      } catch (error) {
        if (!(error instanceof FilterError)) throw error;
      }
    }
  }
  return shapes;
}

/** Alternatives of one term are joined by OR; each must be a known shape. */
function knownShapes(): ReadonlySet<string> {
  // The last one has several spellings in JSON, so it is searched by an expression.
  const values = ['x', 'x*', '5', '2s', '4bf9', '00f067aa0ba902b7', '&'];
  const operators = ['', '~', '>', '>=', '<', '<='];
  const fields = FIELD_NAMES.flatMap((name) => (name.endsWith('.') ? [`${name}k`] : [name]));
  const texts = fields.flatMap((name) => [
    name,
    ...operators.flatMap((operator) => values.map((value) => `${name}:${operator}${value}`)),
  ]);
  return new Set(
    texts.flatMap((text) => {
      try {
        return [...shapesOf(text), ...shapesOf(text, false)];
      } catch {
        return [];
      }
    }),
  );
}

t.test('every filter becomes SQL of a known shape, without its values', async (t) => {
  const known = knownShapes();
  const isKnown = (shape: string): boolean => {
    const [, positive = shape] = /^\((.*) IS NOT TRUE\)$/su.exec(shape) ?? [];
    if (known.has(positive)) return true;
    // A list of alternatives: remove one known alternative after the other.
    let rest = positive.replace(/^\(|\)$/gu, '');
    while (rest !== '') {
      const next = [...known].find((each) => rest.startsWith(each.slice(1, -1)));
      if (next === undefined) return false;
      rest = rest.slice(next.length - 2).replace(/^ OR /u, '');
    }
    return true;
  };
  t.ok(known.size > 150, `${known.size} shapes`);
  fc.assert(
    fc.property(texts, fc.boolean(), (text, seesContent) => {
      let shapes: readonly string[] = [];
      try {
        shapes = shapesOf(text, seesContent);
      } catch (error) {
        if (!(error instanceof FilterError)) throw error;
      }
      for (const shape of shapes) {
        if (shape.includes('SECRET')) throw new Error(`a value in ${shape}`);
        if (!isKnown(shape)) throw new Error(`unknown: ${shape} of ${text}`);
      }
    }),
    { numRuns: cases(3000) },
  );
});

t.test('without the right to content, content cannot be compared', async (t) => {
  const compile = (text: string, seesContent: boolean) =>
    compileFilter(parseFilter(text), { target: 'span', seesContent, views: 'public', parameters: new Parameters() });
  for (const text of ['"x"', 'text:x', 'attr.k:x', '-attr.k:>5']) {
    t.throws(() => compile(`root ${text}`, false), { message: /content, which you may not see/u }, text);
    t.ok(compile(text, true).isHeavy);
  }
  t.notMatch(compile('error:x', false).row.join(), 'status_message');
  t.match(compile('error:x', true).row.join(), 'status_message');
});
