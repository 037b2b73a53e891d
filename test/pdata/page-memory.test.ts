// Memory of large arrays, which returns to the system.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { arrayMemory, releaseArray } from '../../src/pdata/page-memory.ts';

const MIB = 1024 * 1024;

function residentBytes(): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

t.test('memory has the requested size and is zeroed, large or small', async (t) => {
  for (const bytes of [0, 64, 8 * MIB]) {
    const array = new Uint8Array(arrayMemory(bytes));
    t.equal(array.length, bytes);
    t.ok(array.every((byte) => byte === 0));
  }
});

t.test('pages that were not written are not resident; released ones return before a collection', async (t) => {
  const before = residentBytes();
  const words = new Uint32Array(arrayMemory(256 * MIB));
  t.ok(residentBytes() - before < 16 * MIB);
  words.fill(1, 0, (64 * MIB) / 4);
  const full = residentBytes();
  t.ok(full - before > 60 * MIB);
  releaseArray(words);
  t.equal(words.length, 0);
  t.ok(full - residentBytes() > 60 * MIB, `${full - residentBytes()} bytes were returned`);
});

t.test('small memory stays usable after its release, until it is collected', async (t) => {
  const words = new Uint32Array(arrayMemory(64));
  releaseArray(words);
  t.equal(words.length, 16);
});
