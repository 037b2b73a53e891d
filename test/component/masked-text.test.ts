/** Texts of clients in log lines: words stay, and what may be a secret is masked. */
import t from 'tap';
import { maskedError, maskSecrets } from '../../src/component/masked-text.ts';
import { createApiKey } from '../../src/pdata/api-key.ts';

const KEPT = [
  '',
  'production',
  'eu-west-2 / staging_3',
  'text/plain; charset=utf-8',
  'application/x-www-form-urlencoded',
  'application/vnd.google.protobuf',
  'gzip, deflate, br',
  'продакшн',
  '本番',
  'more than one',
  'value too long for type character varying(64)',
];

const MASKED: readonly (readonly [string, string])[] = [
  ['sk-proj-Ab12Cd34Ef56Gh78', '[masked]'],
  [createApiKey().text, '[masked]'],
  ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'Bearer [masked]'],
  ['basic dXNlcjpwYXNz', 'basic [masked]'],
  ['multipart/form-data; boundary=----7MA4YWxkTrZu0gW', 'multipart/form-data; boundary=[masked]'],
  ['AKIAIOSFODNN7EXAMPLE', '[masked]'],
  ['550e8400-e29b-41d4-a716-446655440000', '[masked]'],
  ['4111 1111 1111 11111', '4111 1111 1111 [masked]'],
  ['https://ada:7sEcreT@example.com/', '[masked]'],
  [
    'Unexpected token \'h\', "hvs.CAESIJ1a2b3c4d5e x" is not valid JSON',
    'Unexpected token \'h\', "[masked] x" is not valid JSON',
  ],
];

t.test('words and short numbers stay', async (t) => {
  for (const text of KEPT) t.equal(maskSecrets(text), text);
});

t.test('other tokens are masked as a whole', async (t) => {
  for (const [text, masked] of MASKED) t.equal(maskSecrets(text), masked);
});

t.test('the key of the request is masked also when it consists of words', async (t) => {
  const key = 'Correct-Horse-Battery';
  t.equal(maskSecrets('correct-horse-battery', key), '[masked]');
  t.equal(maskSecrets(`a ${key} and ${key}s`, key), 'a [masked] and [masked]s');
  t.equal(maskSecrets('a production', 'a'), 'a production', 'a short text is no key');
});

t.test('an error keeps its type and its place in the code', async (t) => {
  let error: unknown;
  try {
    JSON.parse('sk-proj-Ab12Cd34Ef56Gh78');
  } catch (thrown) {
    error = thrown;
  }
  const masked = maskedError(error);
  t.match(masked, { type: 'SyntaxError', message: /^Unexpected token/u, stack: /^ {4}at .*masked-text/mu });
  t.notMatch(JSON.stringify(masked), /Ab12/u);
  t.same(maskedError('hvs.CAESIJ1a2b3c4d5e'), { message: '[masked]' });
});
