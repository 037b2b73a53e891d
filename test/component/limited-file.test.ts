// Files of the operator: a regular file within the limit is read; anything else is refused, and never waited for.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { readLimitedFile } from '../../src/component/limited-file.ts';
import { aPipe } from '../support/named-pipe.ts';

const MAX_BYTES = 200_000;

t.test('a file of the largest size is read, and a larger one is not', async (t) => {
  const path = join(t.testdir(), 'file');
  const bytes = Buffer.alloc(MAX_BYTES, 'abc');
  writeFileSync(path, bytes);
  t.strictSame(readLimitedFile(path, { maxBytes: MAX_BYTES }), bytes);
  t.throws(() => readLimitedFile(path, { maxBytes: MAX_BYTES - 1 }), { message: 'it is larger than 199999 bytes' });
});

t.test('a file whose size the system does not state is read', async (t) => {
  t.match(readLimitedFile('/proc/self/limits', { maxBytes: MAX_BYTES }).toString(), /Max open files/u);
});

t.test('a folder, a device and a pipe without a writer are refused', async (t) => {
  const folder = t.testdir();
  t.throws(() => readLimitedFile(folder, { maxBytes: MAX_BYTES }), { message: 'it is a folder', code: 'EISDIR' });
  for (const path of ['/dev/zero', aPipe(folder)])
    t.throws(() => readLimitedFile(path, { maxBytes: MAX_BYTES }), { message: 'it is not a file' });
});

t.test('where pipes are allowed, they are read to the limit', async (t) => {
  const limits = { maxBytes: MAX_BYTES, pipes: true };
  t.throws(() => readLimitedFile('/dev/zero', limits), { message: 'it is larger than 200000 bytes' });
  const path = aPipe(t.testdir());
  const writer = promisify(execFile)('sh', ['-c', 'printf "a token" > "$0"', path]);
  t.equal(readLimitedFile(path, limits).toString(), 'a token');
  await writer;
});
