// The forms of the target of a request: origin form, absolute form, and others, which no server serves.
import t from 'tap';
import { type RequestTarget, targetOf } from '../../src/net/request-target.ts';

const CASES: readonly (readonly [url: string, target: RequestTarget | null])[] = [
  ['/', { authority: null, path: '/', query: '' }],
  ['/a?b?c', { authority: null, path: '/a', query: 'b?c' }],
  ['//x/a', { authority: null, path: '//x/a', query: '' }],
  ['http://x', { authority: 'x', path: '/', query: '' }],
  ['http://x?a', { authority: 'x', path: '/', query: 'a' }],
  ['HTTPS://[::1]:4318/v1/traces?a=http://y/z', { authority: '[::1]:4318', path: '/v1/traces', query: 'a=http://y/z' }],
  ['http://x//y', { authority: 'x', path: '//y', query: '' }],
  ...['', '*', 'x:1', 'http:', 'http://', 'http:///a', 'http://?a', 'http://u@x/a', 'http:/a', 'ftp://x/a', ' /'].map(
    (url) => [url, null] as const,
  ),
];

t.test('a target has an authority in absolute form, a path and a query', async (t) => {
  for (const [url, target] of CASES) t.same(targetOf(url), target, url);
});
