// What a live stream holds for a listener that does not read.
import t from 'tap';
import { LivePolls } from '../../../../src/extensions/console/api/live-polls.ts';
import type { RequestReader } from '../../../../src/extensions/console/server/route.ts';

t.setTimeout(300_000);

const POLLS = 4;
const TRACES_OF_A_POLL = 500;
const MOST_HELD = 1000;

const idOf = (number: number): Buffer => Buffer.from(number.toString(16).padStart(32, '0'), 'hex');

/** A database in which each poll finds new traces, the latest first. Resolves `asked` after some polls. */
function changing() {
  let polls = 0;
  let done = (): void => undefined;
  const asked = new Promise<void>((resolve) => (done = resolve));
  const query: RequestReader['query'] = async (text) => {
    if (!text.includes('trace_id')) return [{ ms: Date.now() }];
    if (polls === POLLS) return [];
    polls += 1;
    // The changes of the last poll are known to the listener when the next one begins.
    if (polls === POLLS) setImmediate(done);
    const first = polls * TRACES_OF_A_POLL;
    return Array.from({ length: TRACES_OF_A_POLL }, (_, at) => {
      const number = first + TRACES_OF_A_POLL - 1 - at;
      return { trace_id: idOf(number), at: number, reports: 1 };
    });
  };
  return { reader: { query } as RequestReader, asked };
}

t.test('a listener that does not read holds the newest traces, and knows how many it lost', async (t) => {
  const { reader, asked } = changing();
  const leaving = new AbortController();
  const stream = new LivePolls().listen({ project: 'shop', reader, signal: leaving.signal, since: null });
  t.same((await stream.next()).value.traces, []);
  await asked;
  const { value } = await stream.next();
  t.equal(value?.traces.length, MOST_HELD);
  t.equal(value?.left, POLLS * TRACES_OF_A_POLL - MOST_HELD);
  const newest = idOf((POLLS + 1) * TRACES_OF_A_POLL - 1);
  t.ok(
    value?.traces.some((id: Buffer) => id.equals(newest)),
    'the newest one is among them',
  );
  leaving.abort();
  t.equal((await stream.next()).done, true);
});
