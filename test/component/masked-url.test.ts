/** Passwords, tokens and keys of URLs are masked, and nothing else. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
import t from 'tap';
import { maskUrls } from '../../src/component/masked-url.ts';

const mask = (text: string): string => maskUrls(text, () => '***');

t.test('logins and parameters', async (t) => {
  t.equal(mask('postgres://app:pass@db/x'), 'postgres://app:***@db/x');
  t.equal(mask('postgres://app:p@ss@db/x'), 'postgres://app:***@db/x');
  t.equal(mask('s3://AKIA:ab/cd+e@bucket/x'), 's3://AKIA:***@bucket/x');
  t.equal(mask('redis://:pass@host'), 'redis://:***@host');
  t.equal(mask('https://token@host/x'), 'https://***@host/x');
  t.equal(mask('http//user:pass@host'), 'http//user:***@host');
  t.equal(mask('"http://a:b@c" "http://d:e@f"'), '"http://a:***@c" "http://d:***@f"');
  t.equal(mask('https://host/v1?api_key=abc&x=1&token=def#g'), 'https://host/v1?api_key=***&x=1&token=***#g');
  t.equal(mask('s3://b/x?aws_secret_access_key=abc'), 's3://b/x?aws_secret_access_key=***');
});

t.test('other texts', async (t) => {
  for (const text of [
    'http://127.0.0.1:4318/v1/traces',
    'http://host:4318/@scope/name',
    'http://user:${env:PASSWORD}@host',
    'https://host/?monkey=1&keyboard=2',
    '// mail bob@example.com',
  ])
    t.equal(mask(text), text);
});

t.test('a long text of slashes and colons takes no time in proportion to its square', async (t) => {
  const text = '//x:'.repeat(250_000);
  t.equal(mask(text), text);
  t.equal(mask(`${text}@`), `//x:***@`);
});

t.test('only the token before an `@` without a password', async (t) => {
  t.equal(mask('https://token@host/@scope,https://other@host'), 'https://***@host/@scope,https://***@host');
});
