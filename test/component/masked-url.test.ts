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

t.test('tokens in the path', async (t) => {
  const token = 'ZaVnC4dhaV1Tokn2xYQ9bbbb==';
  t.equal(mask(`https://c.example.com/otlp/${token}/v1/traces`), 'https://c.example.com/otlp/***/v1/traces');
  t.equal(mask(`url: https://c.example.com/${token}, x`), 'url: https://c.example.com/***, x');
  t.equal(mask(`"https://h/a/${token}?b=${token}"`), `"https://h/a/***?b=${token}"`);
  t.equal(mask(`https://h/${'0a'.repeat(16)}#x`), 'https://h/***#x');
});

t.test('other texts', async (t) => {
  for (const text of [
    'https://host/api/public/otel/v1/traces/long-words-of-more-than-20-letters',
    'https://host/p/123e4567-e89b-12d3-a456-426614174000/v1/traces',
    'file:///srv/ZaVnC4dhaV1Tokn2xYQ9bbbb',
    '/var/lib/0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a/x',
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
  t.equal(mask('https://token@host/a//b:c'), 'https://***@host/a//b:c');
});
