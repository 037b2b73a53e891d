/**
 * A fake S3 server in memory, for the faults that a real one does not show on demand. It checks the signature of every
 * request with code of its own. The contract test of object stores also runs against real servers.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * `slow_down`: 503, nothing done. `lost`: done, and the connection breaks before the answer. `hang`: nothing done, no
 * answer. `silent`: done, no answer. `cut`: the answer ends within its body. `denied`: 403. `expired`: the token of the
 * session has ended. `page`: 200 with a page of a proxy, nothing done.
 */
export type S3Fault = 'slow_down' | 'lost' | 'hang' | 'silent' | 'cut' | 'denied' | 'expired' | 'page';

export interface S3Request {
  readonly method: string;
  /** Without the bucket; empty for the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

interface Stored {
  readonly body: Buffer;
  readonly modified: Date;
  readonly meta: Readonly<Record<string, string>>;
}

export interface FakeS3 {
  readonly url: string;
  readonly bucket: string;
  /** For `openStore`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly objects: Map<string, Stored>;
  readonly requests: S3Request[];
  /** The faults of the next requests. */
  readonly faults: (S3Fault | null)[];
  /** Keys of one page of a list. */
  pageSize: number;
  /** Whether a page of a list says how to get the next one. */
  continues: boolean;
  isGone: boolean;
  close(): Promise<void>;
}

const KEY_ID = 'AKIDFAKE';
const SECRET = 'fake/secret+key';
const REGION = 'eu-test-1';
const BUCKET = 'lake-bucket';

export async function startS3(t: { teardown(task: () => Promise<void>): unknown }): Promise<FakeS3> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => answer(fake, incoming, response, Buffer.concat(chunks)));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeS3 = {
    url,
    bucket: BUCKET,
    environment: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: KEY_ID,
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    objects: new Map(),
    requests: [],
    faults: [],
    pageSize: 3,
    continues: true,
    isGone: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  t.teardown(() => fake.close());
  return fake;
}

class Failure extends Error {
  readonly status: number;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

function answer(fake: FakeS3, incoming: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const url = new URL(incoming.url ?? '', fake.url);
  const [bucket, ...names] = decodeURIComponent(url.pathname).slice(1).split('/');
  const { method = '', headers } = incoming;
  const request: S3Request = { method, key: names.join('/'), query: url.searchParams, headers };
  fake.requests.push(request);
  const fault = fake.faults.shift() ?? null;
  if (fault === 'hang') return;
  if (fault === 'page') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
  response.on('error', () => undefined);
  try {
    if (fault === 'slow_down') throw new Failure(503, 'SlowDown');
    if (fault === 'denied') throw new Failure(403, 'AccessDenied');
    if (fault === 'expired') throw new Failure(400, 'ExpiredToken');
    if (!String(headers.authorization).includes(`/${REGION}/s3/`))
      throw new Failure(400, 'AuthorizationHeaderMalformed');
    if (!isSigned(incoming, body)) throw new Failure(403, 'SignatureDoesNotMatch');
    if (fake.isGone || bucket !== fake.bucket) throw new Failure(404, 'NoSuchBucket');
    const { status, sent, extra } = perform(fake, request, body);
    if (fault === 'silent') return;
    if (fault === 'lost') return void response.socket?.resetAndDestroy();
    response.writeHead(status, { 'content-length': sent.length, ...extra });
    if (fault !== 'cut') return void response.end(method === 'HEAD' ? undefined : sent);
    response.write(sent.subarray(0, Math.ceil(sent.length / 2)), () => response.socket?.destroy());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (fault === 'lost') return void response.socket?.resetAndDestroy();
    const told = `<Code>${error.message}</Code><Message>the fake says so</Message><Region>${REGION}</Region>`;
    const xml = `<?xml version="1.0"?><Error>${told}</Error>`;
    response.writeHead(error.status, { 'content-type': 'application/xml' }).end(method === 'HEAD' ? undefined : xml);
  }
}

interface Performed {
  readonly status: number;
  readonly sent: Buffer;
  readonly extra: Readonly<Record<string, string | number>>;
}

function perform(fake: FakeS3, request: S3Request, body: Buffer): Performed {
  const { method, key, query, headers } = request;
  const md5 = headers['content-md5'];
  if (method === 'POST' && md5 !== createHash('md5').update(body).digest('base64')) {
    throw new Failure(400, 'BadDigest');
  }
  if (method === 'PUT') return put(fake, request, body);
  if (method === 'POST' && query.has('delete')) return remove(fake, body.toString());
  if (key === '') return list(fake, query);
  const stored = fake.objects.get(key);
  if (stored === undefined) throw new Failure(404, 'NoSuchKey');
  const extra = { 'last-modified': stored.modified.toUTCString(), ...stored.meta };
  const [, first, last] = /^bytes=(\d+)-(\d+)$/u.exec(headers.range ?? '') ?? [];
  if (method === 'HEAD')
    return { status: 200, sent: Buffer.alloc(0), extra: { ...extra, 'content-length': stored.body.length } };
  if (first === undefined) return { status: 200, sent: stored.body, extra };
  if (Number(first) >= stored.body.length) throw new Failure(416, 'InvalidRange');
  return { status: 206, sent: stored.body.subarray(Number(first), Number(last) + 1), extra };
}

function put(fake: FakeS3, { key, headers }: S3Request, body: Buffer): Performed {
  if (headers['if-none-match'] === '*' && fake.objects.has(key)) throw new Failure(412, 'PreconditionFailed');
  const meta = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'));
  fake.objects.set(key, { body, modified: new Date(), meta: Object.fromEntries(meta) as Record<string, string> });
  return { status: 200, sent: Buffer.alloc(0), extra: { etag: `"${createHash('md5').update(body).digest('hex')}"` } };
}

function remove(fake: FakeS3, xml: string): Performed {
  for (const [, key = ''] of xml.matchAll(/<Key>(.*?)<\/Key>/gu)) fake.objects.delete(key);
  return { status: 200, sent: Buffer.from('<DeleteResult></DeleteResult>'), extra: {} };
}

function list(fake: FakeS3, query: URLSearchParams): Performed {
  const after = Buffer.from(query.get('continuation-token') ?? '', 'base64').toString();
  const keys = [...fake.objects.keys()]
    .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const page = keys.slice(0, fake.pageSize);
  const contents = page.map((key) => {
    const { body, modified } = fake.objects.get(key) as Stored;
    const escaped = key.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `<Contents><Key>${escaped}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${body.length}</Size></Contents>`;
  });
  const isCut = keys.length > page.length;
  const token =
    isCut && fake.continues
      ? `<NextContinuationToken>${Buffer.from(page.at(-1) ?? '').toString('base64')}</NextContinuationToken>`
      : '';
  const xml = `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${contents.join('')}${token}</ListBucketResult>`;
  return { status: 200, sent: Buffer.from(xml), extra: { 'content-type': 'application/xml' } };
}

/** Signature Version 4 as its documentation describes it, from the request as it arrived. */
function isSigned({ method, url = '', headers }: IncomingMessage, body: Buffer): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/u;
  const [, id, day = '', region = '', names = '', signature] = pattern.exec(headers.authorization ?? '') ?? [];
  const signed = names.split(';');
  const needed = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const hash = String(headers['x-amz-content-sha256']);
  const isBody = hash === createHash('sha256').update(body).digest('hex');
  if (id !== KEY_ID || region !== REGION || !isBody || !needed.every((name) => signed.includes(name))) return false;
  const [path = '', query = ''] = url.split('?');
  const lines = signed.map((name) => `${name}:${String(headers[name])}\n`).join('');
  const canonical = `${method}\n${path}\n${query.split('&').sort().join('&')}\n${lines}\n${names}\n${hash}`;
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), region), 's3'), 'aws4_request');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = `AWS4-HMAC-SHA256\n${String(headers['x-amz-date'])}\n${day}/${region}/s3/aws4_request\n${digest}`;
  return hmac(key, text).toString('hex') === signature;
}
