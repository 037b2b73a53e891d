/**
 * Signature Version 4 against known values: the suite that AWS publishes (`aws-sig-v4-test-suite`), and the examples of
 * the S3 documentation. The values were also computed with botocore.
 */
import t from 'tap';
import { amzDate, authorization, encodePath, encodeQuery } from '../../src/object-store/aws-signature.ts';

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const SUITE_KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const S3_KEYS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const SUITE_SCOPE = { region: 'us-east-1', service: 'service', at: new Date('2015-08-30T12:36:00Z') };
const S3_SCOPE = { region: 'us-east-1', service: 's3', at: new Date('2013-05-24T00:00:00Z') };

const signatureOf = (text: string): string => text.slice(text.indexOf('Signature=') + 'Signature='.length);

interface Vector {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly payloadHash?: string;
  readonly signature: string;
}

const SUITE: readonly Vector[] = [
  { name: 'get-vanilla', signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31' },
  {
    name: 'post-vanilla',
    method: 'POST',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'get-vanilla-query-order-key-case',
    query: [
      ['Param2', 'value2'],
      ['Param1', 'value1'],
    ],
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'get-vanilla-query-unreserved',
    query: [
      [
        '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
        '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
      ],
    ],
    signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  },
  { name: 'get-utf8', path: '/ሴ', signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85' },
  {
    name: 'get-header-value-trim',
    headers: { 'my-header1': 'value1', 'my-header2': '"a b c"' },
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
];

t.test('signatures are those of the suite of AWS', async (t) => {
  for (const { name, method = 'GET', path = '/', query = [], headers = {}, signature } of SUITE) {
    const all = { host: 'example.amazonaws.com', 'x-amz-date': amzDate(SUITE_SCOPE.at), ...headers };
    const request = { method, path: encodePath(path), query, headers: all, payloadHash: EMPTY };
    t.equal(signatureOf(authorization(request, SUITE_KEYS, SUITE_SCOPE)), signature, name);
  }
});

const S3_EXAMPLES: readonly Vector[] = [
  {
    name: 'GET of a range',
    path: '/test.txt',
    headers: { range: 'bytes=0-9' },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'PUT, with a name that needs an escape',
    method: 'PUT',
    path: '/test$file.text',
    headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    payloadHash: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    name: 'a query without a value',
    query: [['lifecycle', '']],
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    name: 'a list',
    query: [
      ['prefix', 'J'],
      ['max-keys', '2'],
    ],
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
];

t.test('the examples of the S3 documentation', async (t) => {
  for (const {
    name,
    method = 'GET',
    path = '/',
    query = [],
    headers = {},
    payloadHash = EMPTY,
    signature,
  } of S3_EXAMPLES) {
    const all = {
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-content-sha256': payloadHash,
      'x-amz-date': amzDate(S3_SCOPE.at),
      ...headers,
    };
    const request = { method, path: encodePath(path), query, headers: all, payloadHash };
    t.equal(signatureOf(authorization(request, S3_KEYS, S3_SCOPE)), signature, name);
  }
});

t.test('the whole value names the credential, the scope and the signed headers', async (t) => {
  const headers = { 'x-amz-date': amzDate(SUITE_SCOPE.at), host: 'example.amazonaws.com' };
  const request = { method: 'GET', path: '/', query: [], headers, payloadHash: EMPTY };
  t.equal(
    authorization(request, SUITE_KEYS, SUITE_SCOPE),
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ' +
      'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  );
});

t.test('paths and queries are encoded as the signature wants them', async (t) => {
  t.equal(encodePath("a b/c!'()*+=@~é"), 'a%20b/c%21%27%28%29%2A%2B%3D%40~%C3%A9');
  t.equal(
    encodeQuery([
      ['b', '/'],
      ['a', '2'],
      ['a', '10'],
      ['B', ''],
    ]),
    'B=&a=10&a=2&b=%2F',
  );
});
