/** TraceQL: what is accepted and what becomes of it, what is refused and where, and any other text. */
import fc from 'fast-check';
import t from 'tap';
import { FilterError } from '../../../../src/extensions/console/filter/filter.ts';
import { Parameters } from '../../../../src/extensions/console/filter/parameters.ts';
import { compileQuery } from '../../../../src/extensions/console/tempo/compile.ts';
import { legacyQuery } from '../../../../src/extensions/console/tempo/legacy-query.ts';
import { parseQuery } from '../../../../src/extensions/console/tempo/traceql.ts';

interface Compiled {
  readonly row: readonly string[];
  readonly sums: readonly string[];
  readonly values: readonly unknown[];
}

function compiled(text: string, seesContent = true): Compiled {
  const parameters = new Parameters();
  const { row, sums } = compileQuery(parseQuery(text).expression, { seesContent, views: 'views', parameters });
  return { row, sums, values: parameters.values };
}

function refusal(text: string, seesContent = true): FilterError | null {
  try {
    compiled(text, seesContent);
    return null;
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
}

const ACCEPTED: readonly (readonly [query: string, row: string, values: readonly unknown[]])[] = [
  ['', '', []],
  ['{}', '', []],
  [' { } ', '', []],
  ['{true}', '', []],
  ['{ name = "chat" }', '(s.name = $1::text)', ['chat']],
  ['{span:name=`a"b\\`}', '(s.name = $1::text)', ['a"b\\']],
  ['{ name != "a\\"b\\\\" }', '(NOT (s.name = $1::text))', ['a"b\\']],
  ['{ status = error }', '(s.status = $1::text)', ['error']],
  ['{ kind = server }', '(s.kind = $1::text)', ['server']],
  ['{ duration > 1.5s }', '(s.duration_ns > $1::numeric)', ['1500000000']],
  ['{ duration<=1h30m }', '(s.duration_ns <= $1::numeric)', ['5400000000000']],
  ['{ resource.service.name = "web" }', '(s.service_name = $1::text)', ['web']],
  ['{ .service.name = "web" }', '(s.service_name = $1::text)', ['web']],
  ['{ resource.deployment.environment = " Production" }', '(s.environment = $1::text)', ['production']],
  ['{ span.gen_ai.request.model = "m" }', '(s.request_model = $1::text)', ['m']],
  ['{ .gen_ai.usage.input_tokens >= 3 }', '(s.input_tokens >= $1::numeric)', ['3']],
  ['{ span.sluice.cost_usd > 0.05 }', '(s.total_cost > $1::numeric)', ['0.05']],
  ['{ name =~ "a.*|b[a-z0-9_-]+\\\\." }', '(s.name ~ $1::text)', ['^(?:a.*|b[a-z0-9_-]+\\.)$']],
  ['{ name !~ "(a|b)?" }', '(NOT (s.name ~ $1::text))', ['^(?:(a|b)?)$']],
  ['{ span.x = nil }', '((s.attributes ->> $1::text) IS NULL)', ['x']],
  ['{ span."a key".b != nil }', '((s.attributes ->> $1::text) IS NOT NULL)', ['a key.b']],
  ['{ name = "a" && status = ok }', '(s.name = $1::text)|(s.status = $2::text)', ['a', 'ok']],
  ['{ name = "a" || !(name = "b") }', '((s.name = $1::text) OR (((s.name = $2::text)) IS NOT TRUE))', ['a', 'b']],
  ['{ name="a"} | select(span.x, resource.y, status)', '(s.name = $1::text)', ['a']],
  ['{ false }', 'false', []],
];

const REFUSED: readonly (readonly [query: string, at: number, message: RegExp])[] = [
  ['name = "a"', 0, /one \{ \}/u],
  ['{ name = "a" ', 13, /\} is missing/u],
  ['{ name = "a', 9, /quote is not closed/u],
  ['{ name = "a\\x" }', 11, /escape/u],
  ['{ name "a" }', 7, /comparison is missing/u],
  ['{ name = }', 9, /value is missing/u],
  ['{ nome = "a" }', 2, /no field/u],
  ['{ name = chat }', 9, /no value/u],
  ['{ status = fine }', 11, /cannot be used/u],
  ['{ status > error }', 2, /cannot be compared/u],
  ['{ duration > "a" }', 13, /cannot be used/u],
  ['{ duration > 5 }', 13, /cannot be used/u],
  ['{ span.x > 5s }', 11, /duration cannot/u],
  ['{ span.x > "a" }', 11, /no number/u],
  ['{ duration =~ "a" }', 2, /needs a text/u],
  ['{ name =~ 5 }', 10, /pattern in quotes/u],
  ['{ name =~ "a{2}" }', 12, /cannot be used in a pattern/u],
  ['{ name =~ "a\\\\d" }', 12, /punctuation/u],
  ['{ name =~ "*" }', 11, /repeats nothing/u],
  ['{ name =~ "a**" }', 13, /repeats/u],
  ['{ name =~ "(a" }', 11, /\) is missing/u],
  ['{ name =~ "a)" }', 12, /\( is missing/u],
  ['{ name =~ "[z-a]" }', 12, /range/u],
  ['{ name =~ "[[:alpha:]]" }', 12, /class/u],
  ['{ name =~ "a(?:b)" }', 13, /repeats nothing/u],
  ['{ name > nil }', 9, /nil takes/u],
  ['{ } && { }', 4, /one \{ \}/u],
  ['{ } >> { }', 4, /one \{ \}/u],
  ['{ } | count() > 1', 6, /only select/u],
  ['{ } | rate()', 6, /only select/u],
  ['{ } | select()', 13, /name of an attribute/u],
  ['{ } | select(span.a', 19, /missing/u],
  ['{ 1 = 1 }', 2, /name of an attribute/u],
  ['{ name = "a" + "b" }', 13, /cannot be used here/u],
  ['{ name = "\0" }', 10, /U\+0000/u],
  [`{ ${'('.repeat(60)}`, 52, /nested/u],
  [`{ ${Array.from({ length: 21 }, () => 'name="a"').join('||')} }`, 202, /at most 20/u],
  ['x'.repeat(5000), 0, /bytes/u],
];

t.test('accepted queries are compiled to conditions', async (t) => {
  for (const [query, row, values] of ACCEPTED) {
    const found = compiled(query);
    t.same([found.row.join('|'), found.values], [row, values], query);
  }
  const { row, sums } = compiled('{ rootName = "a" && traceDuration > 1s && name = "b" && rootServiceName != "c" }');
  t.same([row.length, sums.length], [1, 3], 'conditions on the trace are looked at once a trace');
  t.match(compiled('{ span.http.status_code >= 400 }'), { values: ['http.status_code', '400'] });
  t.match(
    compiled('{ .http.route = "/chat" }').row.join(),
    /\|\| coalesce\(s\.attributes/u,
    'the span goes before its resource',
  );
});

t.test('what is refused, and where', async (t) => {
  for (const [query, at, message] of REFUSED) {
    const found = refusal(query);
    t.equal(found?.at, at, `${query.slice(0, 60)}: ${found?.message}`);
    t.match(found?.message, message);
  }
});

t.test('content needs the right to it', async (t) => {
  for (const query of [
    '{ span.x = "a" }',
    '{ .x =~ "a.*" }',
    '{ statusMessage = "a" }',
    '{ span.x = nil }',
    '{ !(span.x != "a") }',
  ])
    t.match(refusal(query, false), { message: /content/u }, query);
  t.equal(refusal('{ resource.x = "a" && span.gen_ai.request.model = "m" && name = "n" }', false), null);
});

t.test('searches from before TraceQL are translated', async (t) => {
  const query = (text: string): string => legacyQuery(new URLSearchParams(text));
  t.equal(query('tags=constructor%3D1'), '{ ."constructor" = "1" }');
  t.equal(query(''), '');
  t.equal(query('minDuration=1s&maxDuration=5s'), '{ duration >= 1s && duration <= 5s }');
  const tags = encodeURIComponent('service.name="web site" name=chat http.code=5 status.code=error x="a\\"b"');
  t.same(compiled(query(`tags=${tags}`)).values, ['web site', 'chat', 'http.code', '5', '5', 'error', 'x', 'a"b']);
});

t.test('any text is accepted or refused with a place', async () => {
  const words = fc.constantFrom(
    ...[
      '{',
      '}',
      '(',
      ')',
      '!',
      '&&',
      '||',
      '|',
      '=',
      '!=',
      '=~',
      '>=',
      '<',
      ' ',
      '"',
      '`',
      '\\',
      ',',
      'select',
      'nil',
    ],
    ...[
      'name',
      'status',
      'error',
      'duration',
      '5s',
      '1',
      '.a',
      'span.b',
      'resource.c',
      '"x"',
      '"a.*"',
      'true',
      '\0',
      '€',
    ],
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(words, { maxLength: 20 }).map((list) => list.join('')),
  );
  fc.assert(
    fc.property(texts, fc.boolean(), (text, seesContent) => {
      const found = refusal(text, seesContent);
      if (found === null) {
        const { row, sums } = compiled(text, seesContent);
        // No text of the query is in the statement.
        return [...row, ...sums].every((sql) => !/["`\\]|x|€/u.test(sql.replaceAll(/\bx\.|\bx\b|EXISTS/gu, '')));
      }
      return Number.isInteger(found.at) && found.at >= 0 && found.at <= text.length;
    }),
    { numRuns: 2000 },
  );
});
