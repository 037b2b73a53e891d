/** The answers of an object store that are read as text. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { send, textOf } from '../../src/object-store/http-call.ts';

const MIB = 2 ** 20;
const LARGEST = 16 * MIB;

t.test('a larger answer than the limit is not read', async (t) => {
  const server = createServer(({ url = '' }, response) => response.end(Buffer.alloc(Number(url.slice(1)), 'a')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const read = async (bytes: number): Promise<string> => {
    const url = new URL(`http://127.0.0.1:${port}/${bytes}`);
    return textOf(await send({ method: 'GET', url, headers: {}, idleMs: 60_000 }));
  };
  t.equal((await read(LARGEST)).length, LARGEST);
  await t.rejects(read(LARGEST + 1), { message: `an answer has more than ${LARGEST} bytes` });
});
